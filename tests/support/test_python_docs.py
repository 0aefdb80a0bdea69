"""The real website for the integration test is what its promises were written for."""

from pathlib import Path

import pytest

from tests.support import python_docs as docs


def test_the_documentation_has_a_page_above_two_million_bytes() -> None:
    try:
        folder = docs.python_docs()
    except docs.MissingDocsError as missing:
        pytest.skip(str(missing))
    assert (folder / "contents.html").stat().st_size > 2_000_000
    assert len(list(folder.rglob("*.html"))) > 500


def test_without_apt_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "INSTALLED", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(docs.MissingDocsError, match="install python3"):
        docs.python_docs(tmp_path / "cache")


def test_an_unpacked_copy_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "INSTALLED", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    kept = tmp_path / docs.PACKAGE
    kept.mkdir()
    (kept / "contents.html").touch()
    assert docs.python_docs(tmp_path) == kept
