"""Hostile heads, framing, interim answers, versions and broken connections (faults F62-F66)."""

from __future__ import annotations

import itertools

from models.web import Outcome
from tests.fetch.plays import (
    HEAD,
    HTML,
    MB,
    OK,
    PAGE,
    Case,
    forever,
    hang,
    headers,
    reset,
    send,
    status_line,
    stream,
)

P, T = Outcome.PROTOCOL, Outcome.TIMEOUT

FRAMING: list[Case] = [
    # Faults F62, headers
    Case("F62", "10MB_line", stream(OK + b"X: ", itertools.repeat(b"a" * 65536, 160)), P),
    Case(
        "F62",
        "million_headers",
        stream(OK, (b"".join(b"X%d: a\r\n" % n for n in range(k, k + 9999)) for k in range(0, MB, 9999))),
        P,
    ),
    Case("F62", "100000_cookies", stream(OK, itertools.repeat(b"Set-Cookie: a=b\r\n" * 1000, 100)), P),
    Case("F62", "nul", headers(b"X: a\0b"), P),
    Case("F62", "nul_in_name", headers(b"X\0Y: a"), P),
    Case("F62", "obs_fold", headers(b"X: a\r\n b"), (P, Outcome.OK)),
    Case("F62", "bare_cr", headers(b"X: a\rY: b"), P),
    Case("F62", "no_colon", headers(b"nothing here"), P),
    Case("F62", "space_before_colon", headers(b"X : a"), (P, Outcome.OK)),
    Case("F62", "empty_name", headers(b": a"), P),
    Case("F62", "latin1_value", headers(b"X: caf\xe9"), Outcome.OK, body=2),
    Case("F62", "200_headers", headers(*(b"X%d: a" % n for n in range(200))), P),
    # Faults F63, framing
    Case("F63", "chunk_garbage", send(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello"), P),
    Case(
        "F63",
        "chunk_2_to_64",
        send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nhello"),
        P,
    ),
    Case(
        "F63",
        "chunk_huge",
        forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n", b"x" * 65536),
        Outcome.TOO_LARGE,
    ),
    Case("F63", "chunk_negative", send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"), P),
    Case("F63", "chunk_without_end", send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), P),
    Case(
        "F63",
        "length_and_chunked",
        send(HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        P,
    ),
    Case("F63", "two_lengths", send(HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello"), P),
    Case("F63", "negative_length", send(HEAD + b"Content-Length: -1\r\n\r\nhello"), P),
    Case("F63", "length_plus", send(HEAD + b"Content-Length: +5\r\n\r\nhello"), P),
    Case("F63", "length_underscore", send(HEAD + b"Content-Length: 1_0\r\n\r\nhello"), P),
    Case("F63", "length_2_to_65", send(HEAD + b"Content-Length: 36893488147419103232\r\n\r\nhello"), P),
    Case(
        "F63",
        "one_byte_chunks",
        send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *([b"1\r\na\r\n" * 10_000] * 40), b"0\r\n\r\n"),
        Outcome.OK,
        {"timeout": 5.0},
        body=400_000,
    ),
    Case(
        "F63",
        "one_byte_chunks_to_the_cap",
        forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 10_000),
        Outcome.TOO_LARGE,
        {"timeout": 5.0},
    ),
    Case(
        "F63",
        "endless_chunk_extension",
        forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536),
        (P, Outcome.TOO_LARGE),
    ),
    Case(
        "F63",
        "trailer_bomb",
        forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"X: y\r\n" * 1000),
        (P, Outcome.TOO_LARGE),
    ),
    Case(
        "F63",
        "unknown_transfer_encoding",
        send(HEAD + b"Transfer-Encoding: rot13\r\n\r\nhello"),
        (P, Outcome.OK),
    ),
    # Faults F64, interim answers
    Case("F64", "endless_103", forever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100), P),
    Case(
        "F64",
        "100000_times_100",
        stream(b"", itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, 100)),
        P,
    ),
    Case("F64", "slow_103", forever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.02), P),
    Case(
        "F64",
        "three_103_then_a_page",
        send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3 + HEAD + b"Content-Length: 2\r\n\r\nhi"),
        Outcome.OK,
        body=2,
    ),
    Case(
        "F64",
        "upgrade",
        send(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello"),
        P,
    ),
    # Faults F65, versions and status lines
    Case(
        "F65",
        "http_1_0",
        send(b"HTTP/1.0 200 OK\r\n" + HTML.encode() + b"\r\n" + PAGE),
        Outcome.OK,
        body=len(PAGE),
    ),
    Case("F65", "until_close", send(HEAD + b"\r\n" + PAGE), Outcome.OK, body=len(PAGE)),
    Case("F65", "http_0_9", send(PAGE), P),
    Case("F65", "no_reason", status_line(b"HTTP/1.1 200"), Outcome.OK, body=len(PAGE)),
    Case("F65", "status_999", status_line(b"HTTP/1.1 999 Request denied"), Outcome.HTTP_OTHER),
    Case("F65", "status_600", status_line(b"HTTP/1.1 600 x"), Outcome.HTTP_OTHER),
    Case("F65", "status_2000", status_line(b"HTTP/1.1 2000 OK"), P),
    Case("F65", "status_0", status_line(b"HTTP/1.1 000 OK"), (P, Outcome.HTTP_OTHER)),
    Case("F65", "status_20", status_line(b"HTTP/1.1 20 OK"), P),
    Case("F65", "status_negative", status_line(b"HTTP/1.1 -200 OK"), P),
    Case("F65", "http_9_9", status_line(b"HTTP/9.9 200 OK"), P),
    Case("F65", "gopher", send(b"iWelcome\tfake\t(NULL)\t0\r\n"), P),
    Case("F65", "nothing", send(b""), Outcome.CONNECT),
    Case("F65", "206_unasked", status_line(b"HTTP/1.1 206 Partial"), Outcome.HTTP_OTHER),
    Case("F65", "204", send(b"HTTP/1.1 204 No Content\r\n\r\n"), Outcome.HTTP_OTHER),
    Case("F65", "304_unasked", send(b"HTTP/1.1 304 Not Modified\r\n\r\n"), Outcome.HTTP_OTHER),
    # Faults F66, broken connections
    Case("F66", "reset_before_the_answer", reset(), Outcome.CONNECT),
    Case("F66", "reset_in_the_head", reset(b"HTTP/1.1 200 OK\r\nX:"), P),
    Case("F66", "reset_in_the_body", reset(HEAD + b"Content-Length: 99\r\n\r\nhalf"), P),
    Case("F66", "silent", hang(), T),
    Case("F66", "end_in_the_head", send(b"HTTP/1.1 200 OK\r\nX:"), P),
]
