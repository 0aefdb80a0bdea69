"""`make promises` believes tests that ran and passed, and nothing else."""

import os
import shutil
from pathlib import Path

import pytest

from tools import promises, proofs, table

REPORT = '<testsuites><testsuite name="pytest">{}</testsuite></testsuites>'
FIRST = '<testcase classname="tests.test_rules" name="test_E14_closed{}">{}</testcase>'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project: the real document with nothing kept, and one file of tests."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "var").mkdir()
    text = (promises.ROOT / "docs" / "promises.md").read_text().replace("| kept |", "| planned |")
    (tmp_path / "docs" / "promises.md").write_text(table.rewritten(text, {}))
    write_tests(tmp_path, "def test_E14_closed(): pass\n")
    return tmp_path


def write_tests(root: Path, code: str) -> None:
    (root / "tests" / "test_rules.py").write_text(code)


def keep(root: Path, name: str) -> None:
    document = root / "docs" / "promises.md"
    lines = document.read_text().splitlines(keepends=True)
    kept = [line.replace("| planned |", "| kept |") if line.startswith(f"| {name} ") else line for line in lines]
    document.write_text("".join(kept))


def report(root: Path, *cases: str) -> None:
    (root / "var" / "tests.xml").write_text(REPORT.format("".join(cases)))


def run(root: Path, *options: str) -> int:
    return promises.main(["--root", str(root), *options])


def test_the_document_has_every_promise_once() -> None:
    rows = table.read((promises.ROOT / "docs" / "promises.md").read_text())
    table.complete(rows, [])
    assert len(rows) == 28 + 14 + 14 + 5


def test_a_kept_promise_with_a_passing_test_is_accepted_and_linked(root: Path) -> None:
    keep(root, "E14")
    report(root, FIRST.format("", ""))
    assert run(root) == 0
    row = "| kept | [tests/test_rules.py](../tests/test_rules.py): `test_E14_closed` |"
    assert row in (root / "docs" / "promises.md").read_text()
    assert run(root, "--check") == 0


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([FIRST.format("", "<skipped/>")], "none of its tests passed: test_E14_closed (skipped)"),
        ([FIRST.format("", "<failure/>")], "test_E14_closed failed"),
        ([FIRST.format("", "<error/>")], "test_E14_closed failed"),
        ([FIRST.format("[a]", ""), FIRST.format("[b]", "<failure/>")], "test_E14_closed failed"),
        ([], "none of its tests passed: test_E14_closed (not run)"),
    ],
)
def test_a_kept_promise_without_proof_fails_by_name(
    root: Path, capsys: pytest.CaptureFixture[str], cases: list[str], words: str
) -> None:
    keep(root, "E14")
    report(root, *cases)
    assert run(root) == 1
    assert capsys.readouterr().err == f"E14 is marked as kept, but {words}\n"


def test_a_skipped_case_beside_a_passed_one_does_no_harm(root: Path) -> None:
    keep(root, "E14")
    report(root, FIRST.format("[a]", "<skipped/>"), FIRST.format("[b]", ""))
    assert run(root) == 0


def test_a_kept_promise_that_no_test_names_fails(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(root, "W05")
    report(root, FIRST.format("", ""))
    assert run(root) == 1
    assert capsys.readouterr().err == "W05 is marked as kept, but no test carries its id\n"


def test_old_results_are_not_believed_and_the_tests_are_run(root: Path) -> None:
    report(root, FIRST.format("", ""))
    os.utime(root / "var" / "tests.xml", (1, 1))
    write_tests(root, "def test_E14_closed(): assert False\n\nclass TestIt:\n    def test_E15_E16_x(self): pass\n")
    keep(root, "E15")
    assert run(root) == 0
    keep(root, "E14")
    assert run(root) == 1


def test_without_any_results_the_tests_are_run(root: Path) -> None:
    keep(root, "E14")
    assert run(root) == 0
    assert not (root / "var" / "tests.xml").exists()


def test_check_tells_of_a_new_test_and_changes_nothing(root: Path) -> None:
    assert run(root, "--check") == 1
    before = (root / "docs" / "promises.md").read_text()
    assert "test_E14_closed" not in before
    assert run(root) == 0
    assert run(root, "--check") == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("| E14 |", "| E41 |"), "no row for E14"),
        (("| E14 |", "| E13 |"), "no row for E14"),
        (("| A05 |", "| A05 | x |"), "A05 has 5 cells"),
        (("| planned |", "| done |"), "'done', allowed are: kept, planned"),
    ],
)
def test_a_damaged_table_is_refused_and_left_alone(
    root: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], words: str
) -> None:
    document = root / "docs" / "promises.md"
    document.write_text(document.read_text().replace(*change))
    before = document.read_text()
    assert run(root) == 1
    assert words in capsys.readouterr().err
    assert document.read_text() == before


def test_a_test_that_names_no_promise_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tests(root, "def test_E99_nothing(): pass\n")
    assert run(root) == 1
    assert "no such promise: E99" in capsys.readouterr().err


def test_ids_are_read_from_the_names_of_functions_alone(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "rules"
    folder.mkdir(parents=True)
    (folder / "test_x.py").write_text(
        '"""E01 test_E02_no"""\n'
        "async def test_E14_E15_E14_both(): pass\n"
        "def helper_E16(): pass\n"
        "def test_E1_XE17_E178_none(): pass\n"
        "class TestMany:\n    def test_A05_in_a_class(self): pass\n"
    )
    found = proofs.collect(tmp_path / "tests")
    assert sorted(found) == ["A05", "E14", "E15"]
    assert [test.key for test in found["A05"]] == ["tests.rules.test_x.TestMany.test_A05_in_a_class"]
    assert found["E14"][0].node == "tests/rules/test_x.py::test_E14_E15_E14_both"


def test_it_works_where_only_the_project_is(root: Path) -> None:
    """No file outside the clone is read: the ids stand in the tool."""
    elsewhere = root / "clone"
    shutil.copytree(root / "docs", elsewhere / "docs")
    shutil.copytree(root / "tests", elsewhere / "tests")
    assert run(elsewhere) == 0
