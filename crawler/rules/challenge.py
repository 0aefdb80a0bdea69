"""A bot challenge or a login, recognised and reported, never got past (E26, C13).

Checked before 429, 503 and 403 are read as such, and on 200 and 202 too: what guards a site answers with
any of these. Headers decide alone. A body decides only where it stands instead of the page: Turnstile and
reCAPTCHA scripts sit on ordinary contact forms, and `challenge-platform` is injected into ordinary pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from models.web import Response

_LOOKED_AT = 64 * 1024
_SMALL = 4 * 1024
_SUSPECT = frozenset({202, 401, 403, 405, 429, 503})


@dataclass(frozen=True, slots=True)
class Blocked:
    """What stands in the way, for the report; `by` names the mark that was seen."""

    kind: Literal["challenge", "login"]
    by: str


def _value(*wanted: str) -> Callable[[str, int | None], bool]:
    return lambda value, _status: any(value.strip().lower().startswith(word) for word in wanted)


def _with_status(*statuses: int) -> Callable[[str, int | None], bool]:
    return lambda _value, status: status in statuses


# Documented by their vendors: Cloudflare, AWS WAF, Vercel. Seen in public reports: SiteGround, and DataDome,
# whose headers alone stand on passed pages too.
_HEADERS: dict[str, Callable[[str, int | None], bool]] = {
    "cf-mitigated": _value("challenge"),
    "x-amzn-waf-action": _value("challenge", "captcha"),
    "x-vercel-mitigated": _value("challenge", "deny"),
    "sg-captcha": _value("challenge"),
    "x-datadome": _with_status(401, 403),
    "x-dd-b": _with_status(401, 403),
    "server": lambda value, status: value.strip().lower() == "datadome" and status in (401, 403),
}
_BODIES: tuple[tuple[str, re.Pattern[bytes]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("cloudflare", rb"_cf_chl_opt|<title>\s*Just a moment"),
        ("datadome", rb"captcha-delivery\.com"),
        ("perimeterx", rb"(?s)window\._pxAppId.*px-captcha|captcha\.px-cdn\.net"),
        ("imperva", rb"_Incapsula_Resource"),
        ("akamai", rb"(?s)bm-verify|errors\.edgesuite\.net.*Reference\s*(?:#|&#35;)"),
        ("aws", rb"awswaf\.com|/ait/captcha\.js"),
        ("vercel", rb"Vercel Security Checkpoint"),
        ("sucuri", rb"sucuri_cloudproxy_js"),
        ("anubis", rb"/\.within\.website/x/cmd/anubis"),
        ("kasada", rb"kpsdk"),
        ("siteground", rb"http-equiv=.?refresh[^>]{0,80}/\.well-known/sgcaptcha/"),
    )
)
_LOGIN_PATH = re.compile(
    r"/(?:wp-login\.php|log-?in|sign-?in|log-?on|sso|oauth2?|auth|anmelden|connexion|accedi|iniciar-sesion)(?:/|\?|\.|$)",
    re.IGNORECASE,
)
_PASSWORD_FIELD = re.compile(rb"<input\b[^>]{0,200}\btype\s*=\s*[\"']?password", re.IGNORECASE)


def detect(response: Response) -> Blocked | None:
    """The challenge or login that an answer is, or None."""
    for name, value in response.headers:
        matches = _HEADERS.get(name.lower())
        if matches is not None and matches(value, response.status):
            return Blocked("challenge", f"{name.lower()}: {value.strip()[:80]}")
    by = _body_mark(response)
    if by is not None:
        return Blocked("challenge", by)
    if response.status == 401:
        return Blocked("login", "status 401")
    location = response.header("location")
    if location and response.status in (301, 302, 303, 307, 308) and is_login_url(location):
        return Blocked("login", "redirect to a login form")
    if response.status == 403 and _PASSWORD_FIELD.search(response.body[:_LOOKED_AT]):
        return Blocked("login", "a password form in place of the page")
    return None


def is_login_url(url: str) -> bool:
    """Whether a redirect leads to a login form, by its path."""
    return _LOGIN_PATH.search(url[:2048].partition("?")[0]) is not None


def _body_mark(response: Response) -> str | None:
    if response.status not in _SUSPECT and len(response.body) >= _SMALL:
        return None
    head = response.body[:_LOOKED_AT]
    return next((name for name, pattern in _BODIES if pattern.search(head)), None)
