"""What runs here: worker, sink and replay (agents/start.py), and the command line `licet` (commands/line.py).

Each imports what it needs when it starts, so a worker carries no SQLAlchemy and `licet --help` no Faust.
"""

from __future__ import annotations

from agents.start import internet, policy_of, run_replay, run_sink, run_worker

__all__ = ["internet", "main", "policy_of", "run_replay", "run_sink", "run_worker"]


def main() -> None:
    """The command line."""
    from commands.line import licet  # noqa: PLC0415 - imports in functions are the point, see above

    licet(prog_name="licet")


if __name__ == "__main__":
    main()
