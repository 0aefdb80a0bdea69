"""`make bench`: medians and ratios of one run, on this machine. `make bench ARGS=latency` runs one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import fetch, latency, poison, recovery, rules

BENCHES: dict[str, Callable[[], object]] = {
    "rules": rules.main,
    "fetch": fetch.main,
    "latency": latency.main,
    "recovery": recovery.main,
    "poison": poison.main,
}


def main(names: list[str]) -> int:
    """Run the named benches, or all; exit code 1 when a figure misses its goal, 2 for an unknown name."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or list(BENCHES):
        print(f"\n--- {name}")
        failed += BENCHES[name]() == 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
