"""What a hostile origin says, case by case, and what must come of it (faults F56-F84).

Each case is served at `/<fault>/<name>` by `handler`, which a separate origin process runs, so that the
memory that is measured is the fetcher's alone.
"""

from __future__ import annotations

import gzip
import os
import zlib
from typing import Any

from models.web import Outcome
from tests.fetch.hostile_framing import FRAMING
from tests.fetch.plays import (
    CAP,
    HEAD,
    HTML,
    MB,
    OK,
    PAGE,
    TYPE,
    Case,
    bomb,
    chunked,
    forever,
    hang,
    headers,
    lazy,
    redirect,
    send,
    whole,
)
from tests.support.origin import Answer, Asked, Raw

GZIP = "Content-Encoding: gzip"
SMALL = gzip.compress(b"hello " * 1000)
EMPTY_MEMBER = gzip.compress(b"")
ROBOTS: dict[str, Any] = {"media_types": frozenset({"text/plain"})}
PROOF: dict[str, Any] = {"truncate": True, "max_bytes": 1024, "media_types": None}
HEAD_ONLY: dict[str, Any] = {"method": "HEAD", "media_types": None}

P, T = Outcome.PROTOCOL, Outcome.TIMEOUT


CASES: list[Case] = [
    # Faults F56, F57, a redirect is an answer; the fetcher never follows one
    *(
        Case("F56", name, redirect(target), Outcome.REDIRECTED)
        for name, target in {
            "metadata": b"http://169.254.169.254/latest/meta-data/",
            "mapped": b"https://[::ffff:127.0.0.1]/",
            "file": b"file:///etc/passwd",
            "gopher": b"gopher://127.0.0.1:6379/_FLUSHALL",
            "http": b"http://shop.example/",
            "other_host": b"https://evil.example/",
            "userinfo": b"https://shop.example@evil.example/",
            "backslash": b"https:\\\\127.0.0.1\\",
        }.items()
    ),
    Case("F57", "loop", redirect(b"/F57/loop", 301), Outcome.REDIRECTED),
    Case("F57", "empty_location", redirect(b""), Outcome.REDIRECTED),
    Case("F57", "no_location", whole(b"", status="302 Found"), Outcome.HTTP_OTHER),
    Case("F57", "not_utf8", redirect(b"/\xe9\xff"), Outcome.REDIRECTED),
    Case("F57", "64kB_location", redirect(b"/" + b"a" * 65536), P),
    Case("F57", "two_locations", headers(b"Location: /a", b"Location: /b"), Outcome.OK),
    # Faults F59, slowness
    Case("F59", "head_drip", forever(b"HTTP/1.1 200 OK\r\nX: ", b"a", 0.05), T),
    Case("F59", "head_lines_drip", forever(OK, b"X: a\r\n", 0.05), (T, P)),
    Case("F59", "status_drip", forever(b"HTTP/1.1 200 ", b"O", 0.05), T),
    Case("F59", "body_drip", forever(HEAD + b"Content-Length: 9999\r\n\r\n", b"a", 0.05), T),
    Case("F59", "body_drip_no_length", forever(HEAD + b"\r\n", b"a", 0.05), T),
    Case("F59", "chunk_drip", forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", 0.05), T),
    Case("F59", "gzip_drip", forever(HEAD + f"{GZIP}\r\n\r\n".encode() + SMALL[:20], b"\0", 0.05), (T, P)),
    Case("F59", "error_body_drip", forever(b"HTTP/1.1 404 No\r\n" + HTML.encode() + b"\r\n", b"a", 0.05), T),
    # Faults F60, sizes
    Case("F60", "endless", forever(HEAD + b"\r\n", b"x" * 65536), Outcome.TOO_LARGE, sent_at_most=12 * MB),
    Case(
        "F60",
        "endless_chunked",
        forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
        Outcome.TOO_LARGE,
        sent_at_most=12 * MB,
    ),
    Case("F60", "exactly_the_cap", whole(b"x" * CAP, TYPE), Outcome.OK, body=CAP),
    Case("F60", "one_over", whole(b"x" * (CAP + 1), TYPE), Outcome.TOO_LARGE),
    Case("F60", "exactly_the_cap_chunked", chunked([b"x" * 50_000] * 40), Outcome.OK, body=CAP),
    Case("F60", "one_over_chunked", chunked([b"x" * 50_000] * 40 + [b"x"]), Outcome.TOO_LARGE),
    Case(
        "F60",
        "exactly_the_cap_gzip",
        lazy("cap", lambda: gzip.compress(b"x" * CAP), GZIP),
        Outcome.OK,
        body=CAP,
    ),
    Case("F60", "one_over_gzip", lazy("over", lambda: gzip.compress(b"x" * (CAP + 1)), GZIP), Outcome.TOO_LARGE),
    Case(
        "F60",
        "announces_1TB",
        forever(HEAD + b"Content-Length: 1000000000000\r\n\r\n", b"x" * 65536),
        Outcome.TOO_LARGE,
    ),
    Case("F60", "announces_more_than_it_sends", send(HEAD + b"Content-Length: 1000\r\n\r\nshort"), P),
    Case(
        "F60",
        "sends_more_than_it_announces",
        send(HEAD + b"Content-Length: 5\r\n\r\nshortHTTP/1.1 200 OK\r\n"),
        Outcome.OK,
        body=5,
    ),
    Case(
        "F60",
        "endless_error",
        forever(b"HTTP/1.1 500 No\r\n" + HTML.encode() + b"\r\n", b"x" * 65536),
        Outcome.HTTP_5XX,
        sent_at_most=12 * MB,
    ),
    # Faults F61, compression
    Case("F61", "gzip_bomb_1GB", lazy("gz", lambda: bomb(SMALL[:10]), GZIP), Outcome.TOO_LARGE),
    Case(
        "F61",
        "deflate_bomb_1GB",
        lazy("df", lambda: bomb(b"\x78\x9c"), "Content-Encoding: deflate"),
        Outcome.TOO_LARGE,
    ),
    Case(
        "F61",
        "raw_deflate_bomb_1GB",
        lazy("rd", lambda: bomb(b""), "Content-Encoding: deflate"),
        Outcome.TOO_LARGE,
    ),
    Case(
        "F61",
        "gzip_bomb_in_a_proof",
        lazy("gz", lambda: bomb(SMALL[:10]), GZIP),
        Outcome.OK,
        PROOF,
        body=1024,
    ),
    Case(
        "F61",
        "bomb_in_an_error",
        forever(b"HTTP/1.1 403 No\r\n" + f"{TYPE}\r\n{GZIP}\r\n\r\n".encode() + gzip.compress(bytes(8 * MB)), b""),
        (Outcome.HTTP_4XX, T),
    ),
    Case("F61", "100000_empty_members", lazy("em", lambda: EMPTY_MEMBER * 100_000, GZIP), P),
    Case("F61", "members", whole(SMALL * 3, TYPE, GZIP), Outcome.OK, body=18_000),
    Case(
        "F61",
        "nested",
        whole(gzip.compress(SMALL), TYPE, "Content-Encoding: gzip, gzip"),
        Outcome.REFUSED_ENCODING,
    ),
    Case("F61", "nested_in_two_lines", whole(gzip.compress(SMALL), TYPE, GZIP, GZIP), Outcome.REFUSED_ENCODING),
    Case(
        "F61",
        "deflate_zlib",
        whole(zlib.compress(PAGE * 9), TYPE, "Content-Encoding: deflate"),
        Outcome.OK,
        body=9 * len(PAGE),
    ),
    Case(
        "F61",
        "deflate_raw",
        whole(zlib.compress(PAGE * 9, wbits=-15), TYPE, "Content-Encoding: deflate"),
        Outcome.OK,
        body=9 * len(PAGE),
    ),
    Case("F61", "x_gzip", whole(SMALL, TYPE, "Content-Encoding: X-GZIP"), Outcome.OK, body=6000),
    Case("F61", "identity", whole(PAGE, TYPE, "Content-Encoding: identity"), Outcome.OK, body=len(PAGE)),
    Case("F61", "truncated", whole(SMALL[:-9], TYPE, GZIP), P),
    Case("F61", "broken_checksum", whole(SMALL[:-8] + b"\0" * 8, TYPE, GZIP), P),
    Case("F61", "not_gzip_at_all", whole(PAGE, TYPE, GZIP), P),
    Case("F61", "garbage_after_the_member", whole(SMALL + b"\0\0garbage", TYPE, GZIP), Outcome.OK, body=6000),
    Case(
        "F61",
        "br_unasked",
        whole(b"\x0b\x02\x80hello\x03", TYPE, "Content-Encoding: br"),
        Outcome.REFUSED_ENCODING,
    ),
    Case(
        "F61",
        "zstd_unasked",
        whole(b"\x28\xb5\x2f\xfd", TYPE, "Content-Encoding: zstd"),
        Outcome.REFUSED_ENCODING,
    ),
    Case("F61", "unknown", whole(b"??", TYPE, "Content-Encoding: aes128gcm"), Outcome.REFUSED_ENCODING),
    Case("F61", "empty_gzip_body", whole(b"", TYPE, GZIP), Outcome.OK, body=0),
    *FRAMING,
    # Faults F67, robots.txt as a stranger serves it (what it means is the rules')
    Case("F67", "html_robots", whole(PAGE, TYPE), Outcome.REFUSED_TYPE, ROBOTS),
    Case(
        "F67",
        "10MB_robots",
        forever(OK + b"Content-Type: text/plain\r\n\r\n", b"Disallow: /\n" * 5000),
        Outcome.OK,
        ROBOTS | {"truncate": True},
        body=CAP,
    ),
    # Faults F70, sitemaps
    Case(
        "F70",
        "1GB_sitemap",
        forever(
            OK + b"Content-Type: application/xml\r\n\r\n",
            b"<url><loc>https://shop.example/</loc></url>" * 1000,
        ),
        Outcome.OK,
        {"truncate": True, "media_types": frozenset({"application/xml"})},
        body=CAP,
    ),
    # Faults F71, rate limits
    *(
        Case("F71", name, whole(PAGE, TYPE, f"Retry-After: {value}", status=status), Outcome.RATE_LIMITED)
        for name, status, value in [
            ("1e9", "429 Slow", "1e9"),
            ("negative", "503 No", "-5"),
            ("year_2099", "429 Slow", "Fri, 31 Dec 2099 23:59:59 GMT"),
            ("garbage", "503 No", "?" * 4000),
        ]
    ),
    # Faults F76, injection through headers
    Case("F76", "quotes_in_a_header", headers(b"X: '; drop table pages; --"), Outcome.OK, body=2),
    # Faults F80, types; decided before the body
    *(
        Case("F80", name, forever(OK + line + b"\r\n", b"x" * 65536), Outcome.REFUSED_TYPE, sent_at_most=8 * MB)
        for name, line in {
            "pdf": b"Content-Type: application/pdf\r\n",
            "no_type": b"",
            "empty_type": b"Content-Type: \r\n",
            "no_slash": b"Content-Type: html\r\n",
            "two_types": b"Content-Type: text/html\r\nContent-Type: text/plain\r\n",
            "list": b"Content-Type: text/html, application/pdf\r\n",
            "plain": b"Content-Type: text/plain\r\n",
            "prefix": b"Content-Type: text/htmlx\r\n",
            "octets": b"Content-Type: application/octet-stream\r\n",
        }.items()
    ),
    Case(
        "F80",
        "upper_case_type",
        whole(PAGE, "CONTENT-TYPE: TEXT/HTML; Charset=X"),
        Outcome.OK,
        body=len(PAGE),
    ),
    # Faults F82, blocks are answers
    Case(
        "F82",
        "403_challenge",
        whole(PAGE, TYPE, "cf-mitigated: challenge", status="403 No"),
        Outcome.HTTP_4XX,
        body=len(PAGE),
    ),
    Case(
        "F82",
        "401",
        whole(PAGE, TYPE, "WWW-Authenticate: Basic realm=x", status="401 No"),
        Outcome.HTTP_4XX,
        body=len(PAGE),
    ),
    # Faults F83, proof reads
    Case(
        "F83",
        "token_file_one_over",
        whole(b"x" * 1025, "Content-Type: text/plain"),
        Outcome.OK,
        PROOF,
        body=1024,
    ),
    Case(
        "F83",
        "token_file_exactly",
        whole(b"x" * 1024, "Content-Type: text/plain"),
        Outcome.OK,
        PROOF,
        body=1024,
    ),
    Case(
        "F83",
        "token_file_endless",
        forever(OK + b"\r\n", b"x" * 65536),
        Outcome.OK,
        PROOF,
        body=1024,
        sent_at_most=8 * MB,
    ),
    Case(
        "F83",
        "homepage_one_over",
        whole(b"x" * (512 * 1024 + 1), TYPE),
        Outcome.OK,
        {"truncate": True, "max_bytes": 512 * 1024},
        body=512 * 1024,
    ),
    # Faults F84, HEAD
    Case("F84", "404", whole(b"", status="404 No"), Outcome.HTTP_4XX, HEAD_ONLY),
    Case("F84", "500", whole(b"", status="500 No"), Outcome.HTTP_5XX, HEAD_ONLY),
    Case("F84", "405", whole(b"", status="405 GET only"), Outcome.HTTP_4XX, HEAD_ONLY),
    Case("F84", "redirect", redirect(b"https://www.shop.example/"), Outcome.REDIRECTED, HEAD_ONLY),
    Case(
        "F84",
        "body_all_the_same",
        forever(HEAD + b"\r\n", b"x" * 65536),
        Outcome.OK,
        HEAD_ONLY,
        body=0,
        sent_at_most=8 * MB,
    ),
    Case("F84", "hang", hang(), T, HEAD_ONLY),
]

_BY_PATH = {case.path: case for case in CASES}


def handler(asked: Asked) -> Answer | Raw:
    """The origin's part."""
    if asked.target == "/calm":
        return 200, {"Content-Type": "text/html"}, PAGE
    if asked.target == "/pid":
        return 200, {"Content-Type": "text/html"}, str(os.getpid()).encode()
    says = _BY_PATH[asked.target].says
    return says if isinstance(says, tuple) else Raw(says)
