"""How long ``import dezero`` takes, against ``import numpy``: less than twice as long.

Each import runs in an interpreter of its own, by turns. Run
``python benchmarks/import_time.py``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from _compare import verdict

GOAL = 2.0
PROGRAM = """
from time import perf_counter
start = perf_counter()
import {}
print(perf_counter() - start)
"""


def import_seconds(module: str, cache: str) -> float:
    """Seconds that a fresh interpreter takes for ``import module``, its start apart.

    Compiled code goes to the folder ``cache``: an installed package has its own.
    """
    command = [sys.executable, "-c", PROGRAM.format(module)]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache}
    result = subprocess.run(
        command, check=True, capture_output=True, text=True, env=env
    )
    return float(result.stdout)


def main() -> None:
    """Import both by turns and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as cache:
        for module in ("numpy", "dezero"):  # into the file cache, and compiled
            import_seconds(module, cache)
        rows = [
            (import_seconds("dezero", cache), import_seconds("numpy", cache))
            for _ in range(args.rounds)
        ]
    ours, numpy = (statistics.median(times) for times in zip(*rows, strict=True))
    ratio = statistics.median([a / b for a, b in rows])
    print(
        f"import numpy {numpy * 1e3:.0f} ms, import dezero {ours * 1e3:.0f} ms, "
        f"ratio {ratio:.2f}, goal {GOAL:g} {verdict(ratio, GOAL)}"
    )


if __name__ == "__main__":
    main()
