"""The three published bots: identity and policy as data (`ema.yaml`, `wembi.yaml`, `certant.yaml`).

`load` gives a packaged profile. `load_file` reads an operator's file, which names a bot and tightens it.
`from_environment` does the same for variables. Each refuses a widening by name (models.ceilings).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from models.ceilings import ProfileError
from models.profile import Profile

_HERE = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in _HERE.glob("*.yaml")))
PREFIX = "LICET_BOT__"


@cache
def load(name: str) -> Profile:
    """The packaged profile of a bot; `KeyError` names the bots that there are."""
    if name not in NAMES:
        raise KeyError(f"no bot is called {name!r}; there are {', '.join(NAMES)}")
    return Profile.model_validate(_read(_HERE / f"{name}.yaml"))


def load_file(path: str | Path) -> Profile:
    """An operator's file: `bot: ema`, then whatever it tightens, nested as in the packaged file.

    The packaged files can be given as they are: they change nothing.
    """
    path = Path(path)
    content = _read(path)
    name = content.pop("bot", None) or content.get("name")
    if name not in NAMES:
        raise ProfileError(str(path), "bot", name, f"one of {', '.join(NAMES)}")
    return load(str(name)).tightened(content, origin=str(path))


def from_environment(profile: Profile, environ: Mapping[str, str]) -> Profile:
    """`LICET_BOT__PACE__CRAWL__DELAY=2` tightens `pace.crawl.delay`; values are read as YAML."""
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        try:
            value: Any = yaml.safe_load(environ[variable])
        except yaml.YAMLError:
            raise ProfileError(
                variable, "(value)", environ[variable], "a value as YAML writes it is expected"
            ) from None
        for field in reversed(variable.removeprefix(PREFIX).lower().split("__")):
            value = {field: value}
        profile = profile.tightened(value, origin=variable)
    return profile


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ProfileError(str(path), "(file)", "", f"it cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ProfileError(str(path), "(file)", content, "a mapping is expected")
    return content
