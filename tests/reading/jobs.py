"""Jobs for the pool's tests: what a document can do to the process that reads it."""

from __future__ import annotations

import os
import resource
import signal
import socket
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


def answer_with_code() -> object:
    class Code:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    return Code()


def answer_with_socket_class() -> object:
    return socket.SocketKind.SOCK_STREAM


def flood() -> bytes:
    return b"x" * (40 * 1024 * 1024)
