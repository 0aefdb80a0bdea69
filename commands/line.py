"""The command line `licet`: which commands there are, and one line about each. A command is imported when it is run.

So `licet --help` reads no module of a command, and a command no more than it needs: SQLAlchemy, Alembic, Faust and
the readers of pages together are over a second of CPU (measured). The line here and the first sentence of the
command's own help are the same; a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click


class Entry(NamedTuple):
    """Where a command is, and what it does in one line."""

    module: str
    attribute: str
    line: str


def _entry(where: str, line: str) -> Entry:
    module, _, attribute = where.partition(":")
    return Entry(f"commands.{module}", attribute, line)


SECTIONS: dict[str, dict[str, Entry]] = {
    "A customer's website": {
        "save": _entry("jobs:save", "Save a website's address and settings."),
        "token": _entry("jobs:token", "Print an account's token for a site, and where to put it."),
        "verify": _entry("jobs:verify", "Look for the proof of a site."),
        "confirm": _entry("authority:confirm", "Record a customer's word that the site may be read."),
        "listing": _entry("authority:listing", "List the pages of a verified site, to choose from."),
        "crawl": _entry("jobs:crawl", "Crawl a site and watch until it has ended."),
    },
    "What is known and held": {
        "show": _entry("views:show", "Show what is known of a site, or of one crawl."),
        "pages": _entry("views:pages", "Show the pages that are held of a site."),
        "text": _entry("views:text", "Print the text that an assistant answers from."),
        "audit": _entry("audit:audit", "Tell what was asked of a site when, by what right."),
    },
    "Staff": {
        "suspend": _entry("staff:suspend", "Stop everything at a site before its next request."),
        "resume": _entry("staff:resume", "End the suspension of a site."),
        "block": _entry("authority:block", "Put a site on the blocklist, at once."),
        "unblock": _entry("authority:unblock", "Take a site off the blocklist."),
        "list": _entry("authority:put_on_list", "Put a site on the operator's list."),
        "unlist": _entry("authority:unlist", "Take a site off the operator's list."),
        "attest": _entry("authority:attest", "Attest an authorisation that you hold, or import many."),
        "withdraw": _entry("authority:withdraw", "Withdraw an account's proof of a site."),
        "stop": _entry("stopping:stop", "Record a stop request from outside, and stop the site."),
        "stops": _entry("stopping:stops", "List the stop requests that are still open."),
        "stop-confirmed": _entry("stopping:stop_confirmed", "Record that whoever asked was told."),
        "erase": _entry("erasing:erase", "Delete everything that is held from a site."),
    },
    "Without a stack": {
        "robots": _entry("robots:robots", "Tell whether a URL may be read, and the rule that decides."),
        "read": _entry("read:read", "Read files or a folder as a crawl would hand them on."),
    },
    "Running it": {
        "up": _entry("stack:up", "Start a stack and keep it in the foreground."),
        "kafka": _entry("stack:kafka", "Start Apache Kafka and keep it in the foreground."),
        "worker": _entry("processes:worker", "Run a worker: hear commands, make the requests."),
        "sink": _entry("processes:sink", "Run the sink: write facts and texts to PostgreSQL."),
        "replay": _entry("processes:replay", "Read the facts of the broker into an empty database."),
        "keep": _entry("stack:keep", "Run a worker or the sink, again and again: for containers."),
        "topics": _entry("topics:topics", "Compare a broker with topics.yaml, and mend it."),
        "migrate": _entry("database:migrate", "Bring the database to the schema of this version."),
        "restore": _entry("stopping:restore", "Put the sites' memory back from the database."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}

EPILOG = """\b
Exit codes: 0 the wanted outcome; 1 another one; 2 a mistake in the command
or the configuration, or a broker or database that does not answer; 3 a stack
is already running on this folder; 4 no answer in time; 130 interrupted.

\b
E14, W05, C06 and the like, in helps and answers, name public promises of the
bots: docs/promises.md says what each one is."""


class Lazy(click.Group):
    """The commands of `COMMANDS`, imported one by one when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the sections."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        found = getattr(import_module(entry.module), entry.attribute)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By section, in whole lines."""
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:14}", entry.line) for name, entry in entries.items()])


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="Configuration file (licet.yaml).")
@click.version_option(package_name="licet")
@click.pass_context
def licet(context: click.Context, config: Path | None) -> None:
    """Licet, a crawler that asks first."""
    context.obj = config
