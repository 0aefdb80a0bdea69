"""A02 with the kernel as witness: in a namespace of its own, nothing leaves for a refused address."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

_UNSHARE = (
    ["unshare", "--net", "--mount"]
    if os.geteuid() == 0
    else ["unshare", "--user", "--map-root-user", "--net", "--mount"]
)


def _why_not() -> str | None:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "needs unshare (util-linux) and ip (iproute2)"
    cable = "ip link add name wall type veth peer name beyond"
    tried = subprocess.run([*_UNSHARE, "sh", "-c", cable], capture_output=True, text=True, check=False)
    return f"no network namespace to be had: {tried.stderr.strip()}" if tried.returncode else None


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    if why := _why_not():
        print(why)
        pytest.skip(why)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [*_UNSHARE, sys.executable, "-m", "tests.fetch.namespace_probe"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    print(found)
    return found


def test_A02_no_packet_leaves_for_a_refused_address(report: dict[str, Any]) -> None:
    assert report["asked"] >= 200
    assert report["outcomes"] == ["refused_address"]
    assert report["accepted"] == 0
    assert report["refused"] == {"tcp_connects": 0, "udp_datagrams": 0, "ipv4_packets": 0}
    assert report["public"] == "timeout"  # nobody is out there; the witness sees the attempt
    assert report["control"]["tcp_connects"] == 1


def test_F53_F55_names_through_the_machine_s_resolver_lead_nowhere_inside(report: dict[str, Any]) -> None:
    found = report["dns"]
    assert found["refused"] == ["refused_address"]
    assert found["failed"] == ["dns"]
    assert found["silent"] == "timeout"
    assert found["connects"] == 0
    assert found["rebinding"] == ["timeout", "refused_address", "refused_address"]
    assert found["rebinding_connects"] == 1  # to the public address of the first answer
    assert found["many"] == "timeout"
    assert report["accepted_at_the_end"] == 0
