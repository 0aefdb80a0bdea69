"""What every command has in common: the settings it is given, and mistakes told in one sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from models.ceilings import ProfileError
from models.settings import Settings, SettingsError, load
from models.topics import TopicsError
from stack.errors import StackError
from stack.folder import AlreadyRunning

P = ParamSpec("P")
R = TypeVar("R")
EXIT_CONFIGURATION = 2
"""A mistake, or a broker or database that does not answer: 1 is kept for answers that one did not want."""
EXIT_ALREADY_RUNNING = 3


class Sentence(click.ClickException):
    """An expected mistake: its sentence on stderr, an exit code of its own, no traceback."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = code


def in_one_sentence(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the mistakes that a user can make into a sentence and an exit code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (ProfileError, SettingsError) as error:
            raise Sentence(str(error), EXIT_CONFIGURATION) from None
        except AlreadyRunning as error:
            raise Sentence(str(error), EXIT_ALREADY_RUNNING) from None
        except (StackError, TopicsError) as error:
            raise Sentence(str(error), EXIT_CONFIGURATION) from None

    return wrapped


def settings_for(config: Path | None, **options: object) -> Settings:
    """The settings of this command: its own options, then what `licet --config` named, and so on."""
    return load(config, None, **options)
