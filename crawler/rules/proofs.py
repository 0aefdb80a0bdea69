"""What proves a site (E08-E10, C03-C05): the matching of a token, and nothing around it.

All functions take the tokens that count now, and give the one that was found. Comparisons take the same time
whatever is compared, and a token within a longer text never proves.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence

from crawler.rules.urls import Reason, UrlRefused, host_of, is_public_suffix, path_of, site_key
from models.profile import FileProof, PageProof, Profile

PLATFORMS = frozenset(
    [
        "blogspot.com", "discord.com", "facebook.com", "github.com", "google.com", "instagram.com",
        "linkedin.com", "medium.com", "pinterest.com", "quora.com", "reddit.com", "squarespace.com",
        "stackoverflow.com", "substack.com", "tiktok.com", "tripadvisor.com", "tumblr.com", "twitter.com",
        "wikipedia.org", "wix.com", "wordpress.com", "x.com", "yelp.com", "youtube.com",
    ]
)  # fmt: skip
"""Sites whose text anybody may write: a line of text on them proves nobody's ownership (E10), and a proof on one of
their pages covers that page's path alone (C04). A tenant's own host (`shop.wordpress.com`) is not one of them."""

_SPACE = " \t\r\n\f\v"


def file_proves(body: bytes, tokens: Sequence[str], rule: FileProof) -> str | None:
    """The token that a file holds on a line of its own, bare or as the template (`key={token}`) writes it.

    `body` is what was read of it (E09: the first 1,024 bytes); a token that is cut off there is absent. A BOM and
    ASCII white space around a line are tolerated; a substring never proves.
    """
    text = body.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
    lines = [line.strip(b" \t\f\v") for line in text.split(b"\n")]
    return _found(lines, tokens, (rule.value, "{token}"))


def meta_proves(contents: Iterable[str], tokens: Sequence[str]) -> str | None:
    """The token that a meta of the right name in the head holds, and nothing else beside it (E10, C04)."""
    return _found([content.strip(_SPACE).encode() for content in contents], tokens, ("{token}",))


def text_proves(lines: Iterable[str], tokens: Sequence[str], rule: PageProof) -> str | None:
    """The token that a whole visible line shows (E10); the weaker grade, since visitors may write lines, too."""
    if not rule.text:
        return None
    return _found([line.strip(_SPACE).encode() for line in lines], tokens, (rule.text,))


def header_proves(values: Iterable[str], tokens: Sequence[str]) -> str | None:
    """The token that is the whole value of the response header, which may occur several times (C04)."""
    return _found([value.strip(" \t").encode() for value in values], tokens, ("{token}",))


def record_proves(values: Iterable[bytes], tokens: Sequence[str], template: str) -> str | None:
    """The token that a TXT record shows (E08, C03).

    The key is read without case, the token with it; ASCII spaces around, and one pair of quotes that a console
    took literally, are tolerated.
    """
    key = template.partition("=")[0].encode().lower()
    cleaned = []
    for value in values:
        name, mark, rest = _unquoted(value.strip(b" ")).partition(b"=")
        cleaned.append(name.lower() + mark + rest if name.lower() == key else value)
    return _found(cleaned, tokens, (template,))


def _unquoted(value: bytes) -> bytes:
    if len(value) >= 2 and value[:1] == value[-1:] == b'"':
        return value[1:-1].strip(b" ")
    return value


def _found(candidates: Sequence[bytes], tokens: Sequence[str], templates: Sequence[str]) -> str | None:
    for each in tokens:
        wanted = [template.format(token=each).encode() for template in templates]
        if any(hmac.compare_digest(candidate, one) for candidate in candidates for one in wanted):
            return each
    return None


def is_platform(host: str) -> bool:
    """Whether a host is many people's: a big platform's own, or a public suffix (E10, C04)."""
    return site_key(host) in PLATFORMS or is_public_suffix(site_key(host))


def refuse_platform(host: str, profile: Profile) -> None:
    """E05: where a proof is of a whole site, an address on a site of many people can lead nowhere."""
    if not profile.gate.platforms and is_platform(host):
        raise UrlRefused(Reason.PLATFORM, host)


def covered_path(url: str) -> str:
    """The path that a proof on this page is good for alone, or empty text for the whole site (C04)."""
    path = path_of(url).partition("?")[0]
    if path.startswith("/~"):
        return "/" + path[1:].split("/", 1)[0]
    return path if is_platform(host_of(url)) else ""
