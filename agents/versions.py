"""The versions on which the house's assumptions about acknowledgements and tables were measured.

Faust commits past an un-acknowledged event, and its table store is replaced by ours through an interface that
is public but not stable. Another version may be better or worse; nobody has looked. So the programs refuse to
start on one, instead of losing events on it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PINNED = {"faust-streaming": "0.15.3", "mode-streaming": "0.7.1", "aiokafka": "0.14.0"}
"""Distribution -> the one version that was measured; pyproject.toml pins the same."""


class WrongVersionError(RuntimeError):
    """A pinned library has another version than the one that was measured."""


def installed() -> dict[str, str]:
    """The version of each pinned distribution in this environment; empty text when it is missing."""
    return {name: _installed(name) for name in PINNED}


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def check(found: dict[str, str] | None = None) -> None:
    """Raise `WrongVersionError` with one sentence unless every pinned library is the one that was measured."""
    found = installed() if found is None else found
    for name, wanted in PINNED.items():
        if found.get(name) != wanted:
            have = found.get(name) or "none"
            raise WrongVersionError(f"Licet runs on {name} {wanted} only, found {have}; pip install {name}=={wanted}")
