"""`licet read`: what the crawler would hand on of files or of a folder, and why blocks were dropped."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from commands.options import EXIT_CONFIGURATION, Sentence, in_one_sentence
from crawler.reading import guard
from crawler.reading.page import Page, read_html
from crawler.reading.site import SiteText
from crawler.rules.charset import decode
from models.reading import Reading

_PAGES = (".html", ".htm", ".xhtml", ".html.gz", ".htm.gz")
_BASE = "https://page.invalid/"

MOST_BYTES = 2_000_000
"""E20."""
MOST_READ = 50_000_000
"""Far above what a crawl reads, and far below what a memory holds."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MAGIC = (
    (b"%PDF-", "a PDF file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "an image, a sound or a video"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip file (only one whose name ends in .gz is opened)"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"\x7fELF", "a program"),
)


@click.command("read")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--explain", is_flag=True, help="Every block, whether it was kept, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a page, or one for the site.")
@in_one_sentence
def read(paths: tuple[Path, ...], explain: bool, as_json: bool) -> None:
    """Read files or a folder as a crawl would hand them on.

    Each file is a page, a folder is one site: Markdown, question-and-answer pairs and facts.
    """
    for path in paths:
        if not (path.is_dir() or path.is_file()):  # a pipe or a device may never end
            raise Sentence(f"{path} is neither a file nor a folder.", EXIT_CONFIGURATION)
    for path in paths:
        if path.is_dir():
            _site(path, explain=explain, as_json=as_json)
        else:
            _page(path, path.name, explain=explain, as_json=as_json)


def _site(folder: Path, *, explain: bool, as_json: bool) -> None:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name.lower().endswith(_PAGES)]
    if not files:
        raise Sentence(f"No HTML page is in {folder}.", EXIT_CONFIGURATION)
    if explain:
        for path in files:
            _page(path, path.relative_to(folder).as_posix(), explain=True, as_json=as_json)
        return
    site = SiteText()
    readings = {path.relative_to(folder).as_posix(): _reading(path, folder) for path in files}
    for name, reading in readings.items():
        site.put(name, reading)
    if as_json:
        pages = [{"page": name, "text": site.page(name), **_told(reading)} for name, reading in readings.items()]
        _print_json({"pages": pages, "facts_page": site.facts()})
        return
    click.echo(site.text())
    for name, reading in readings.items():
        _print_pairs(name, reading)


def _remark(path: Path, name: str, reading: Reading) -> None:
    """Say on stderr what a crawl would not keep of this file."""
    if path.stat().st_size > MOST_BYTES:
        click.echo(f"{name}: a crawl abandons a body at {MOST_BYTES} bytes (too_large)", err=True)
    if reading.trapped:
        click.echo(f"{name}: its nesting or its attributes do not end: read as flat text (parse_limit)", err=True)
    elif reading.thin:
        click.echo(f"{name}: no text that a crawl would keep (thin)", err=True)


def _page(path: Path, name: str, *, explain: bool, as_json: bool) -> None:
    text = _text(path)
    reading = read_html(text, _BASE + name)
    _remark(path, name, reading)
    why = _explained(text) if explain else []
    if as_json:
        _print_json({"page": name, **_all(reading), **({"blocks_explained": why} if explain else {})})
        return
    if explain:
        for line in why:
            click.echo(
                f"{'+' if line['kept'] else '-'} {line['kind'] or 'text':10} {line['why']}\n    {line['text']}"
            )
        return
    click.echo(reading.markdown)
    _print_pairs(name, reading)


def _explained(html: str) -> list[dict[str, object]]:
    """Every block of a page with the decision about it."""
    if guard.is_trap(html):
        return []
    page = Page(html)
    kept = set(page.choice.kept)
    return [
        {"kept": index in kept, "kind": block.kind, "text": block.text[:200], "why": page.choice.reason(index)}
        for index, block in enumerate(page.tree.blocks)
    ]


def _text(path: Path) -> str:
    """The file as text, or a sentence that says what it is instead (E04)."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            raw = file.read(MOST_READ + 1)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "it is no whole gzip file"
        raise Sentence(f"{path} cannot be read: {why}.", EXIT_CONFIGURATION) from None
    if len(raw) > MOST_READ:
        raise Sentence(f"{path} holds more than {MOST_READ // 1_000_000} MB: that is no page.", EXIT_CONFIGURATION)
    if kind := not_text(raw):
        raise Sentence(f"{path} is {kind}, no HTML page and no text.", EXIT_CONFIGURATION)
    return decode(raw).text


def not_text(raw: bytes) -> str | None:
    """What bytes plainly are that are neither HTML nor text; None for all others."""
    kind = next((name for start, name in _MAGIC if raw.startswith(start)), None)
    if kind is not None or raw.startswith(_UTF_16):
        return kind
    return "binary data" if b"\0" in raw[:4096] else None


def _reading(path: Path, folder: Path) -> Reading:
    return read_html(_text(path), _BASE + path.relative_to(folder).as_posix())


def _told(reading: Reading) -> dict[str, object]:
    """What is handed on beside the text."""
    return {
        "title": reading.title,
        "language": reading.language,
        "pairs": [asdict(pair) for pair in reading.pairs],
        "facts": list(reading.facts),
        "thin": reading.thin,
    }


def _all(reading: Reading) -> dict[str, object]:
    return {
        **_told(reading),
        "text": reading.markdown,
        "description": reading.description,
        "canonical": reading.canonical,
        "modified": reading.modified,
        "links": [asdict(link) for link in reading.links],
        "metas": [list(meta) for meta in reading.metas],
        "fingerprint": reading.fingerprint,
    }


def _print_pairs(name: str, reading: Reading) -> None:
    if reading.pairs:
        click.echo(f"\n## Questions answered on {name}\n")
    for pair in reading.pairs:
        click.echo(f"Q: {pair.question}\nA: {pair.answer}\n   ({pair.source}, {pair.id})\n")
    if reading.facts:
        click.echo(f"\n## Facts declared on {name}\n")
    for fact in reading.facts:
        click.echo(orjson.dumps(fact, option=orjson.OPT_INDENT_2).decode())


def _print_json(value: object) -> None:
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
