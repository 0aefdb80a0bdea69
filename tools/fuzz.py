"""Coverage-guided fuzzing of everything that reads a stranger's bytes: `make fuzz`, or one target for longer.

    python -m tools.fuzz                    every target for 20 seconds
    python -m tools.fuzz robots 600         one target for ten minutes

A finding ends the run with a traceback and leaves the input in `var/fuzz/<target>/`; what is interesting is kept
in `var/fuzz/<target>/corpus` and is where the next run begins. A target states what must hold for any bytes;
refusing with the reader's own exception always may.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import atheris
import msgspec

os.environ["LICET_TEST_PURE"] = "1"  # what is compiled counts no lines
with atheris.instrument_imports(include=["crawler", "models", "bots"]):
    import bots
    from crawler.fetch.client import _unfit
    from crawler.fetch.decode import EncodingError, decoder
    from crawler.fetch.verdict import media_type
    from crawler.reading.answers import from_bytes, to_bytes
    from crawler.reading.bodies import read_page, read_robots, read_sitemap
    from crawler.rules import charset, identity, pace, robots, sitemaps, urls
    from crawler.rules.addresses import name_refusal
    from models import intake, mailbox, wire
    from models.profile import Profile
    from models.web import Kind, Outcome, Request, Response

CAP = 100_000
DAY = 86_400
PROFILE: Profile = bots.load("ema")
HERE = Path("var") / "fuzz"


def _text(data: bytes) -> str:
    return str(atheris.FuzzedDataProvider(data).ConsumeUnicode(len(data)))


def host(data: bytes) -> None:
    """A canonical URL is a fixed point, and the fetcher refuses it by its name alone or not at all (A02)."""
    try:
        url = urls.canonical(_text(data))
    except urls.UrlRefused:
        return
    assert urls.canonical(url) == url
    why = _unfit(Request(Kind.PAGE, url, (), 1, 1))
    assert why is None or why == name_refusal(urls.host_of(url)), (url, why)


def robots_txt(data: bytes) -> None:
    """Any bytes give rules, which survive being stored."""
    rules = robots.parse(data, "EmaIngestBot")
    rules.allows("https://shop.example/a")
    assert robots.Rules.from_bytes(rules.to_bytes()) == rules


def sitemap(data: bytes) -> None:
    """Any bytes give a sitemap, and nothing in it is of another host."""
    found = sitemaps.parse(data, "shop.example", PROFILE.scope, ("xml", "rss", "atom", "text", "gzip"), CAP)
    for entry in found.entries:
        assert urls.site_key(urls.host_of(entry.url)) == "shop.example"


def retry_after(data: bytes) -> None:
    """None, or seconds between now and a day."""
    value = data.decode("latin-1")
    found = pace.retry_after(Response(Outcome.RATE_LIMITED, 0, 0, 0, 429, (("Retry-After", value),)), 1.8e9)
    assert found is None or 0 <= found <= DAY


def note(data: bytes) -> None:
    """A note in its final form is its own final form, and cannot end the comment that it stands in (E02)."""
    try:
        final = identity.check_note(_text(data), PROFILE)
    except identity.NoteRefused:
        return
    assert identity.check_note(final, PROFILE) == final
    assert len(final) <= 80
    assert final.isascii()
    assert not set(final) & set("()[]{}<>;\r\n\0")


def envelope(data: bytes) -> None:
    """An event is read or refused with a cause."""
    for topic in ("address-saved", "crawl-requested", "operator-commands"):
        with contextlib.suppress(wire.Unreadable):
            intake.read(topic, data)
    with contextlib.suppress(wire.Unreadable):
        mailbox.read(data)


def encoding(data: bytes) -> None:
    """However a body is cut into pieces, it decodes to the same, and never to more than there is room for."""
    name, at, body = ("gzip", "deflate", "identity")[data[0] % 3] if data else "gzip", len(data) // 2, data[1:]
    results: list[bytes | None] = []
    for pieces in ((body,), (body[:at], body[at:])):
        decode = decoder((name,))
        assert decode is not None
        out = bytearray()
        try:
            for piece in pieces:
                out += decode.feed(piece, CAP - len(out))
            decode.finish()
            results.append(bytes(out))
        except EncodingError:
            results.append(None)
        assert len(out) <= CAP
    assert results[0] == results[1]


def header(data: bytes) -> None:
    """A media type is one token, a slash and one token, in lower case."""
    found = media_type((data.decode("latin-1"),))
    assert found is None or (found == found.lower() and found.count("/") == 1 and not set(found) & set(" ;,\t\r\n"))


def text(data: bytes) -> None:
    """Any bytes decode to text that UTF-8 can carry."""
    charset.decode(data, "text/html").text.encode()


def answer(data: bytes) -> None:
    """What a child says is a value of a type that was asked for, or refused; and it costs no memory to find out."""
    for func in (read_page, read_sitemap, read_robots):
        try:
            found = from_bytes(func, data)
        except (IndexError, RecursionError, ValueError, msgspec.MsgspecError):
            continue
        assert from_bytes(func, to_bytes(func, found)) == found


TARGETS: dict[str, Callable[[bytes], None]] = {
    "host": host,
    "robots": robots_txt,
    "sitemap": sitemap,
    "retry_after": retry_after,
    "note": note,
    "envelope": envelope,
    "encoding": encoding,
    "header": header,
    "text": text,
    "answer": answer,
}


def _fuzz(name: str, seconds: int) -> None:
    corpus = HERE / name / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    flags = [f"-max_total_time={seconds}", f"-artifact_prefix={HERE / name}/", "-print_final_stats=1"]
    limits = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=16384", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *flags, *limits, str(corpus)], TARGETS[name])
    atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """One target in this process, or each in a process of its own."""
    if len(arguments) == 2:
        _fuzz(arguments[0], int(arguments[1]))
        return 0
    seconds = arguments[0] if arguments else "20"
    failed = [
        name
        for name in TARGETS
        if subprocess.run([sys.executable, "-m", "tools.fuzz", name, seconds], check=False).returncode
    ]
    sys.stdout.write(f"findings: {', '.join(failed)}\n" if failed else "no findings\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
