"""Jobs for the pool's tests: what a document can do to the process that reads it."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time

from selectolax.lexbor import LexborHTMLParser

from models.reading import Link, Reading


def length(data: bytes) -> int:
    return len(data)


def reading(title: str) -> Reading:
    return Reading(title=title, links=(Link("https://shop.example/", "home"),), facts=({"a": [1, None]},))


def spin() -> None:
    while True:
        pass


def sleep(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def hog(size: int) -> int:
    return len(bytearray(size))


def swell(size: int) -> int:
    return len(b"x" * size)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail() -> None:
    raise ValueError("not\na page")


def pid() -> int:
    return os.getpid()


def environment() -> dict[str, str]:
    return dict(os.environ)


def limits() -> dict[str, int]:
    names = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE")
    return {name: resource.getrlimit(getattr(resource, name))[0] for name in names}


def parse(html: str) -> int:
    return len(LexborHTMLParser(html).css("a"))


def lie(answer: bytes) -> Reading:
    """What a child may say that is no longer ours."""
    sys.modules["__main__"].to_bytes = lambda _func, _value: answer  # type: ignore[attr-defined]
    return Reading()


def undeclared() -> int:
    return "text"  # type: ignore[return-value]


def flood() -> bytes:
    return b"x" * (40 * 1024 * 1024)
