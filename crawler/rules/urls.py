"""URLs: one canonical form, shared by robots, dedup, signature and wire; what belongs to a site.

`ada-url` (WHATWG) is the only parser. It reads hosts as browsers do: `0x7f.1` and full-width digits become
an address here, where they are refused, not in the resolver. What does not survive is refused by name and
never repaired: a repaired URL is one that nobody published.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256

import ada_url
from publicsuffixlist import PublicSuffixList

from models.profile import Scope

MAX_URL = 2048
_SUFFIXES = PublicSuffixList(accept_unknown=False)
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_NO_WEBSITE = re.compile(r"(?:mailto|tel|sms|javascript|data|about|blob|file):", re.IGNORECASE)
# RFC 6761, 6762, 7686, 8375, 9476, what ICANN has reserved or will never delegate (internal, home, corp, mail), and
# the names that home routers use: never a public website. `example` stays: documentation and tests live there.
_SPECIAL = (
    "local", "internal", "localhost", "test", "invalid", "onion", "arpa", "alt", "home", "corp", "mail", "lan",
    "localdomain", "intranet", "private",
)  # fmt: skip


class Reason(StrEnum):
    """Why a URL, or an address that somebody typed, is refused."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"  # the WHATWG parser does not accept it
    SPACE = "space"  # in the middle: two addresses, or a sentence
    SCHEME = "scheme"  # E03, W02: neither https nor http
    USERINFO = "userinfo"
    PORT = "port"  # 443 only
    IP_ADDRESS = "ip_address"  # in any notation
    HOST = "host"  # not letters, digits and hyphens, or an impossible length
    SINGLE_LABEL = "single_label"
    SPECIAL_NAME = "special_name"  # .local, .onion, ...
    PUBLIC_SUFFIX = "public_suffix"  # co.uk, github.io: many owners
    PLATFORM = "platform"  # facebook.com, github.com: many people's pages under one name
    OFFSITE = "offsite"  # E20, C12
    QUERY = "query"  # E20


class UrlRefused(ValueError):
    """A URL that is not asked for; `reason` says why."""

    def __init__(self, reason: Reason, url: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {url[:200]!r}")


def canonical(url: str, base: str | None = None) -> str:
    """The one form of a URL (WHATWG, then RFC 3986 6.2.2.2); raises `UrlRefused`.

    http is read as https (E03). Fragment, default port and an empty query go; `%xx` in upper case, unreserved
    characters decoded. Slashes, index pages and the order of parameters stay: they may name another page.
    """
    href = _parsed(url, base)
    if "%" in href:
        href = _parsed(_normalised_escapes(href), None)
    if len(href) > MAX_URL:
        raise UrlRefused(Reason.TOO_LONG, href)
    return href


def _parsed(url: str, base: str | None) -> str:
    if len(url) > 4 * MAX_URL:
        raise UrlRefused(Reason.TOO_LONG, url)
    try:
        parts = ada_url.URL(url, base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise UrlRefused(Reason.UNREADABLE, url) from None
    href = parts.href
    scheme, _, rest = href.partition("://")
    if scheme not in ("https", "http"):
        raise UrlRefused(Reason.SCHEME, url)
    authority, slash, rest = rest.partition("/")
    if "@" in authority:
        raise UrlRefused(Reason.USERINFO, url)
    if ":" in authority and not authority.startswith("["):
        raise UrlRefused(Reason.PORT, url)
    if parts.host_type != 0:
        raise UrlRefused(Reason.IP_ADDRESS, url)
    rest = rest.partition("#")[0]
    if rest.endswith("?") and rest.index("?") == len(rest) - 1:
        rest = rest[:-1]
    return f"https://{checked_host(authority)}{slash}{rest}"


def _normalised_escapes(href: str) -> str:
    """RFC 3986 6.2.2: triplets in upper case, unreserved ones decoded.

    Beside a stray `%` nothing is decoded: `%%34%31` would become `%41`, and that again `A`.
    """
    decode = _STRAY_PERCENT.search(href) is None

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if decode and character in _UNRESERVED else match[0].upper()

    return _TRIPLET.sub(one, href)


@lru_cache(maxsize=4096)
def checked_host(host: str) -> str:
    """A host name in A-labels without its trailing dot (RFC 1123 2.1, RFC 1035 2.3.4), or `UrlRefused`."""
    name = host.removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefused(Reason.HOST, host)
    if labels[-1].isdigit():
        raise UrlRefused(Reason.IP_ADDRESS, host)
    if len(labels) < 2:
        raise UrlRefused(Reason.SINGLE_LABEL, host)
    if "xn--" in name and any(part.startswith("xn--") for part in display_host(name).split(".")):
        raise UrlRefused(Reason.HOST, host)  # Punycode that names nothing
    return name


def host_of(url: str) -> str:
    """The host of a canonical URL."""
    return url.split("/", 3)[2]


def path_of(url: str) -> str:
    """Path and query of a canonical URL, as robots.txt rules see it."""
    return "/" + url.split("/", 3)[3]


def url_id(url: str) -> str:
    """The name of a canonical URL where its text must not stand: SHA-256 in hex."""
    return sha256(url.encode()).hexdigest()


@lru_cache(maxsize=4096)
def site_key(host: str) -> str:
    """The site of a host (E06): one leading `www.` goes, but only if more than a public suffix is left."""
    rest = host.removeprefix("www.")
    if rest == host or "." not in rest or is_public_suffix(rest):
        return host
    return rest


def same_site(url: str, site: str) -> bool:
    """Whether a canonical URL belongs to a site (E20, C12)."""
    return site_key(host_of(url)) == site


@lru_cache(maxsize=4096)
def is_public_suffix(host: str) -> bool:
    """Whether a name belongs to many owners: ICANN's suffixes and the private ones, such as github.io."""
    return bool(_SUFFIXES.publicsuffix(host) == host)


def admitted(url: str, authority: str, scope: Scope, base: str | None = None) -> str:
    """The URL as the job may ask for it, or `UrlRefused` (E20, C12).

    Canonical, of the site, without tracking parameters, and with `www.` folded to the job's authority: one
    robots.txt holds for one authority (RFC 9309 2.3), so a job keeps to one. This is also the dedup key.
    """
    url = canonical(url, base)
    host = host_of(url)
    if host != authority and site_key(host) != site_key(authority):
        raise UrlRefused(Reason.OFFSITE, url)
    path, mark, query = path_of(url).partition("?")
    if mark and scope.query == "drop":
        raise UrlRefused(Reason.QUERY, url)
    kept = [part for part in query.split("&") if not _is_tracking(part, scope.tracking)]
    url = f"https://{authority}{path}" + (f"?{'&'.join(kept)}" if any(kept) else "")
    if len(url) > scope.max_url:
        raise UrlRefused(Reason.TOO_LONG, url)
    return url


def _is_tracking(part: str, tracking: tuple[str, ...]) -> bool:
    name = part.partition("=")[0].lower()
    return any(name.startswith(t[:-1]) if t.endswith("*") else name == t for t in tracking)


def host_from_address(address: str, *, allow_public_suffix: bool = False) -> str:
    """The host that somebody means who types an address into a form (E07); raises `UrlRefused`.

    `allow_public_suffix` is for an attestation by staff only (E11).
    """
    text = address.strip()
    if not text:
        raise UrlRefused(Reason.EMPTY)
    if _NO_WEBSITE.match(text):
        raise UrlRefused(Reason.SCHEME, address)
    if "://" not in text and not re.match(r"https?:", text, re.IGNORECASE):
        text = "https://" + text.lstrip("/\\")
    try:
        host = host_of(canonical(text))
    except UrlRefused as error:
        raise UrlRefused(_meant(error.reason, text), address) from None
    if any(host == name or host.endswith("." + name) for name in _SPECIAL):
        raise UrlRefused(Reason.SPECIAL_NAME, address)
    if is_public_suffix(host) and not allow_public_suffix:
        raise UrlRefused(Reason.PUBLIC_SUFFIX, address)
    return host


def _meant(reason: Reason, text: str) -> Reason:
    """What is wrong with an address that the parser cannot read, where that can be told."""
    if reason is not Reason.UNREADABLE:
        return reason
    authority = re.split(r"[/\\?#]", text.partition("://")[2].lstrip("/\\"), maxsplit=1)[0]
    if re.search(r"\s", authority):
        return Reason.SPACE
    host, _, port = authority.rpartition(":")
    if authority.count(":") > 1 and re.fullmatch(r"[0-9A-Fa-f:.%\[\]]+", authority):
        return Reason.IP_ADDRESS
    if host and port.isdigit():
        return Reason.PORT
    last = (host or authority).rstrip(".").rpartition(".")[2]
    return Reason.IP_ADDRESS if re.fullmatch(r"\d+|0x[0-9a-f]*", last, re.IGNORECASE) else reason


def display_host(host: str) -> str:
    """The host as its owner writes it; show it beside the A-labels, for two may look alike."""
    return str(ada_url.idna_to_unicode(host))
