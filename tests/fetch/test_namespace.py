"""A02 with the kernel as witness: in a namespace of its own, nothing leaves for a refused address."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

_UNSHARE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]


def _why_not() -> str | None:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "needs unshare (util-linux) and ip (iproute2)"
    cable = "ip link add name wall type veth peer name beyond"
    tried = subprocess.run([*_UNSHARE, "sh", "-c", cable], capture_output=True, text=True, check=False)
    return f"no network namespace to be had: {tried.stderr.strip()}" if tried.returncode else None


def test_A02_no_packet_leaves_for_a_refused_address() -> None:
    if why := _why_not():
        print(why)
        pytest.skip(why)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [*_UNSHARE, sys.executable, "-m", "tests.fetch.namespace_probe"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(report)
    assert report["asked"] >= 200
    assert report["outcomes"] == ["refused_address"]
    assert report["accepted"] == 0
    assert report["refused"] == {"tcp_connects": 0, "udp_datagrams": 0, "ipv4_packets": 0}
    assert report["public"] == "timeout"  # nobody is out there; the witness sees the attempt
    assert report["control"]["tcp_connects"] == 1
