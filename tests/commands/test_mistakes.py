"""A mistake is one sentence and an exit code; nothing is sent anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from commands import proofs
from commands.desk import Place
from crawler.rules.tokens import token
from stack.net import free_port
from tests.commands.conftest import licet_in

PLACE = {"LICET_KAFKA": "127.0.0.1:{port}", "LICET_DATABASE_URL": "postgresql://a:secret-word@127.0.0.1:{port}/b"}


def closed() -> dict[str, str]:
    """A broker and a database at a port where nobody listens."""
    return {name: value.format(port=free_port()) for name, value in PLACE.items()}


@pytest.mark.parametrize("address", ["127.0.0.1", "https://[::1]/", "a b.example", "x';drop table p;--", "com", ""])
@pytest.mark.parametrize("command", [("crawl",), ("save", "--account", "a"), ("pages",), ("verify",)])
def test_a_host_that_is_none_is_refused_in_one_sentence(
    tmp_path: Path, command: tuple[str, ...], address: str
) -> None:
    result = licet_in(tmp_path, *command, "--", address, **closed())
    assert result.exit_code == 2
    assert "is no address of a website" in result.stderr


def test_without_a_stack_the_sentence_says_how_to_start_one(tmp_path: Path) -> None:
    result = licet_in(tmp_path, "show", "shop.example")
    assert result.exit_code == 2
    assert "licet up" in result.stderr


def test_I18_a_database_that_is_away_is_a_sentence_without_its_password(tmp_path: Path) -> None:
    for command in (("show", "shop.example"), ("migrate",)):
        result = licet_in(tmp_path, *command, **closed())
        assert result.exit_code == 2
        assert "database" in result.stderr
        assert "secret-word" not in result.output


@pytest.mark.parametrize("bot", bots.NAMES)
def test_E08_E09_E10_every_place_for_a_proof_names_the_token(bot: str) -> None:
    profile = bots.load(bot)
    place = Place("www.shop.example", "shop.example")
    proof = proofs.proof_token(b"k" * 32, profile, "anna", place, 0.0).token
    found = proofs.places(profile, proof, place)
    assert all(proof in sentence and "{" not in sentence for sentence in found.values())
    assert bool(found) == (profile.gate.kind != "operator_list")


def test_E09_the_sentence_names_the_file_of_the_promise() -> None:
    found = proofs.places(bots.load("ema"), "abc", Place("shop.example", "shop.example"))
    assert "https://shop.example/.well-known/ema-site-verification.txt" in found["token_file"]
    assert "_ema-verify.shop.example" in found["dns"]
    assert 'name="ema-site-verification" content="abc"' in found["homepage"]


text = st.text(min_size=1, max_size=20)


@given(text, text, text)
def test_E05_a_token_is_one_account_s_for_one_site(account: str, other: str, site: str) -> None:
    mine = token(b"k" * 32, "ema", account, site, 0.0)
    assert len(mine) == 32  # 160 bits
    assert mine.isascii()
    assert mine.isalnum()
    assert (mine == token(b"k" * 32, "ema", other, site, 0.0)) == (account == other)
    assert mine != token(b"l" * 32, "ema", account, site, 0.0)
    assert mine != token(b"k" * 32, "wembi", account, site, 0.0)
