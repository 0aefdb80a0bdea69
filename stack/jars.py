"""The official jars of Apache Kafka, resolved by Maven once and kept in the user's cache."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import IO

from stack.errors import StackError
from stack.process import Process, run

KAFKA = "4.3.0"
JAVA = 17
ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA),
    ("org.apache.kafka", "kafka-tools", KAFKA),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),  # without a binding Kafka logs nothing at all
)
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>licet</groupId><artifactId>kafka-jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
{}
</dependencies>
</project>
"""


def missing() -> str | None:
    """Why Apache Kafka cannot be run here, as one sentence; None when it can."""
    version = _java_version()
    if version is None:
        return f"Apache Kafka needs Java {JAVA} or later, and no java was found (on PATH or in JAVA_HOME)."
    if version < JAVA:
        return f"Apache Kafka needs Java {JAVA} or later; the java that was found is {version}."
    if not _folder().exists() and shutil.which("mvn") is None:
        return "Apache Kafka's jars are resolved by Maven, and no mvn was found on PATH."
    return None


def java() -> str:
    """The java that is used: of JAVA_HOME, else of PATH."""
    home = os.environ.get("JAVA_HOME")
    named = Path(home, "bin", "java") if home else None
    if named is not None and named.exists():
        return str(named)
    return shutil.which("java") or "java"


async def resolve() -> Path:
    """The folder with the jars (54 MB; about a minute the first time, nothing later)."""
    if why := missing():
        raise StackError(why)
    folder = _folder()
    if folder.exists():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(folder, "lock").open("w") as lock:
            await _only_one(lock)
            if not folder.exists():
                await _download(folder)
    except OSError as error:
        raise StackError(f"The jars of Apache Kafka cannot be kept in {folder.parent} ({error.strerror}).") from None
    return folder


async def _only_one(lock: IO[str]) -> None:
    """Two that start at once: the second waits, and then finds what the first has resolved."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(0.2)
        else:
            return


def _beside(folder: Path, suffix: str) -> Path:
    return folder.with_name(f"{folder.name}.{suffix}")


async def _download(folder: Path) -> None:
    """Into a folder beside, then renamed: an interrupted download is never taken for a whole one."""
    aside = _beside(folder, "new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    pom = aside / "pom.xml"
    pom.write_text(POM.format("\n".join(DEPENDENCY.format(*artifact) for artifact in ARTIFACTS)), encoding="utf-8")
    argv = [shutil.which("mvn") or "mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"]
    process = Process(
        "maven", [*argv, f"-DoutputDirectory={aside}", "-DincludeScope=runtime"], _beside(folder, "log")
    )
    if await run(process, 900.0) != 0:
        raise StackError(f"Maven could not resolve Apache Kafka {KAFKA}:\n{process.tail()}")
    aside.rename(folder)


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return Path(cache or Path.home() / ".cache") / "licet" / f"kafka-{KAFKA}-jars"


def _java_version() -> int | None:
    try:
        found = subprocess.run([java(), "-version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - the java of this machine
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', found.stderr + found.stdout)
    return int(match[1]) if match else None
