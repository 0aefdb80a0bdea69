"""The mutants are run by hand; that each is one is seen with every test run."""

from __future__ import annotations

from tools.mutants import EVERY, ROOT

TEXTS = {mutant.path: (ROOT / mutant.path).read_text(encoding="utf-8") for mutant in EVERY}


def test_each_mutant_has_one_place_in_the_code() -> None:
    assert [(one.id, one.what) for one in EVERY if TEXTS[one.path].count(one.old) != 1] == []


def test_each_mutant_of_the_code_is_code() -> None:
    """One that does not compile is killed by the import, whatever the tests are worth."""
    for one in EVERY:
        if one.path.endswith(".py"):
            compile(TEXTS[one.path].replace(one.old, one.new), f"{one.path}: {one.what}", "exec")
