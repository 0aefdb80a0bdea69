"""One HTTP request to a stranger and what came of it, as values.

Every request that leaves Licet, whatever its kind, is a `Request`; every one of them ends in exactly one
`Response` whose `outcome` is a member of the closed list below (A04).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Why a request is made. Nothing else is ever asked for (A01)."""

    ADDRESS_CHECK = "address_check"  # E07: one HEAD
    TOKEN_FILE = "token_file"  # noqa: S105 - E09, C05: a kind of request, no secret
    HOMEPAGE_PROOF = "homepage_proof"  # E10, C04
    ROBOTS = "robots"  # E14, W03, C07
    SITEMAP = "sitemap"  # E18
    PAGE = "page"
    LLMS_TXT = "llms_txt"  # W08
    DNS_PROOF = "dns_proof"  # E08, C03: asks resolvers, nothing of the site


class Outcome(StrEnum):
    """How a URL that a job has taken up, or a request, ended. Closed: docs/outcomes.md explains each."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"  # 304 to a conditional GET (W09)
    REDIRECTED = "redirected"  # within the site; the target is a request of its own
    REDIRECTED_OFFSITE = "redirected_offsite"  # not followed (E20)
    REDIRECT_LIMIT = "redirect_limit"  # loop, or more hops than the policy allows
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    HTTP_OTHER = "http_other"  # a status that is no answer to a GET (206, 300, 999, ...)
    RATE_LIMITED = "rate_limited"  # 429, or 503 (E19, W06, C10)
    REFUSED_TYPE = "refused_type"  # Content-Type decided before the body was read (E04)
    REFUSED_ENCODING = "refused_encoding"  # a Content-Encoding that was not asked for
    TOO_LARGE = "too_large"  # abandoned past the cap, decoded or on the wire (E20)
    TIMEOUT = "timeout"  # E17
    DNS = "dns"
    TLS = "tls"
    CONNECT = "connect"  # refused, reset before an answer, unreachable
    PROTOCOL = "protocol"  # not HTTP, broken framing, header bomb, interim flood
    REFUSED_ADDRESS = "refused_address"  # A02; a customer is told "unreachable"
    BLOCKED_CHALLENGE = "blocked_challenge"  # E26, C13
    BLOCKED_LOGIN = "blocked_login"  # C13
    ROBOTS_DENIED = "robots_denied"  # no request was sent
    NOINDEX = "noindex"  # C09
    PARSE_LIMIT = "parse_limit"  # the child process hit its memory or time limit
    DUPLICATE = "duplicate"  # the same text as a page already kept
    THIN = "thin"  # a soft 404 or a page without text: takes no place among the kept
    INTERRUPTED = "interrupted"  # an intent without a result, found at a takeover
    SUSPENDED = "suspended"  # taken up, then the site was suspended
    OVER_BUDGET = "over_budget"  # taken up, but the job's budget was spent


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, complete: the fetcher adds nothing but `Host`, and decides nothing.

    `url` is canonical (`crawler.rules.urls`), https, and goes on the wire as it stands. `headers` are all
    headers that are sent. `timeout` is seconds for the whole request (E17). `max_bytes` caps the decoded
    body; a body that passes it is abandoned. With `truncate`, reading stops there instead and what came is
    kept (proof reads: E09, E10). `media_types` are the types whose body is read (E04); None reads any.
    """

    kind: Kind
    url: str
    headers: tuple[tuple[str, str], ...]
    timeout: float
    max_bytes: int
    method: str = "GET"
    truncate: bool = False
    media_types: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """TXT records to ask the configured resolvers for (E08, C03). It is no request to the site.

    `timeout` is seconds for each query to each resolver.
    """

    names: tuple[str, ...]
    timeout: float
    kind: Kind = Kind.DNS_PROOF
    method: str = "DNS"
    url: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one resolver said to one query: the DNS message as it came, or why there is none."""

    resolver: str
    name: str
    message: bytes = b""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What came of a `Request`.

    `outcome` is the fetcher's view: OK for any complete 2xx answer whose type was accepted, REDIRECTED for
    301, 302, 303, 307, 308 (the rules decide whether it leaves the site), and so on. `headers` keep order,
    case and repeats. `body` is decoded. `started_at` and `ended_at` are wall-clock seconds, for records;
    `elapsed` is monotonic seconds, for the pace. `detail` is for staff, never for customers.
    """

    outcome: Outcome
    started_at: float
    ended_at: float
    elapsed: float
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wire_bytes: int = 0
    detail: str = ""
    replies: tuple[Reply, ...] = ()
    """Of a `Lookup`: what the resolvers said."""

    def header(self, name: str) -> str | None:
        """The first value of a header, its name compared without case (RFC 9110 5.1)."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header that may be repeated, such as X-Robots-Tag."""
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)
