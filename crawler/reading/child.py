"""The process in which strangers' bytes are parsed: little memory, little time, and no secret of ours.

A 40 kB page can take 1.3 GB and a 500 kB page 22 s of CPU (measured, selectolax 1.0.2), so nothing of the
kind is parsed in a worker. The kernel keeps the limits: RLIMIT_AS for memory, RLIMIT_CPU for time, anew for
each job. Run by `crawler.reading.pool` only, with one end of a socket pair as its file descriptor.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from crawler.reading.answers import to_bytes

SIZE = struct.Struct("!Q")  # before each message
READY, DONE, FAILED, LIMIT = b"R", b"D", b"F", b"L"  # first byte of a child's message
STAYS, LEAVES = b"+", b"-"  # second byte: whether the child takes another job

_PR_SET_PDEATHSIG = 1  # prctl(2)


def main(arguments: list[str]) -> None:
    """Serve jobs until the parent closes its end."""
    fd, memory, cpu = (int(text) for text in arguments[:3])
    with socket.socket(fileno=fd) as line:
        _die_with_parent()
        _step_back()
        try:
            for name in arguments[3:]:
                importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - the parent is told, it cannot see our stderr
            _send(line, FAILED + LEAVES, repr(error).encode())
            return
        _confine(memory)
        _send(line, READY + STAYS, b"")
        while (job := _receive(line)) is not None:
            if not _serve(line, job, memory, cpu):
                return


def _serve(line: socket.socket, job: bytes, memory: int, cpu: int) -> bool:
    """One job and its answer; False when this process has grown too large to go on."""
    _allow_cpu(cpu)
    try:
        module, name, args = pickle.loads(job)  # noqa: S301 - from our own parent
        func = getattr(importlib.import_module(module), name)
        found = func(*args)
        kind, answer = DONE, to_bytes(func, found)
    except MemoryError:
        kind, answer = LIMIT, b"memory"
    except Exception as error:  # noqa: BLE001 - whatever a document provokes is an answer
        kind, answer = FAILED, f"{type(error).__name__}: {error}"[:500].encode("utf-8", "replace")
        if _status("VmPeak") > memory * 0.9:  # lexbor reports a refused allocation as "Can't parse HTML"
            kind, answer = LIMIT, b"memory"
    # Not ru_maxrss: that one is inherited over fork and exec, and a large parent would make every child leave.
    stays = kind != LIMIT and _status("VmHWM") < memory // 2
    _send(line, kind + (STAYS if stays else LEAVES), answer)
    return stays


def _confine(memory: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for the parent, whose end is ours
        signal.signal(number, signal.SIG_IGN)
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 32),
    ):
        resource.setrlimit(limit, (value, value))
    gc.freeze()


def _step_back() -> None:
    """The worker's loop keeps the pace of other sites, also while we import.

    Linux shares processors between sessions first (autogroups), and within one the nice value counts: a child has a
    session of its own, so its nice value alone would say nothing to the worker's.
    """
    os.nice(5)
    with contextlib.suppress(OSError):  # a kernel without autogroups
        Path("/proc/self/autogroup").write_text("5", encoding="ascii")


def _allow_cpu(seconds: int) -> None:
    """RLIMIT_CPU counts whole seconds from the birth of a process; the kernel kills with SIGXCPU."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _die_with_parent() -> None:
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


def _status(name: str) -> int:
    """Bytes of one of this process's own counters: VmPeak, the address space; VmHWM, the memory in use."""
    for text in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if text.startswith(f"{name}:"):
            return int(text.split()[1]) * 1024
    return 0


def _send(line: socket.socket, kind: bytes, body: bytes) -> None:
    line.sendall(SIZE.pack(len(body) + len(kind)) + kind)
    line.sendall(body)


def _receive(line: socket.socket) -> bytes | None:
    head = line.recv(SIZE.size, socket.MSG_WAITALL)
    if len(head) < SIZE.size:
        return None
    wanted: Any = memoryview(bytearray(SIZE.unpack(head)[0]))
    got = 0
    while got < len(wanted):
        count = line.recv_into(wanted[got:])
        if not count:
            return None
        got += count
    return bytes(wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
