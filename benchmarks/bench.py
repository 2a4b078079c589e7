"""DeZero against the same computation written by hand in NumPy, and against its peers.

``python benchmarks/bench.py`` compares all workloads, ``bench.py gpt lstm`` these two;
``--peers`` adds the other libraries that are installed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from _measuring import Failure, measure, workloads_named
from _report import TITLES, cells, columns, conditions, line, load, save
from _workloads import BY_HAND, OURS, PEERS, SIDES, WORKLOADS

RESULTS = Path(__file__).with_name("results")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    add("--peers", action="store_true", help="also " + ", ".join(PEERS))
    add("--sides", nargs="+", metavar="SIDE", help=f"only {BY_HAND!r} and these")
    add("--pooled", action="store_true", help="let malloc keep memory, on all sides")
    add("--both", action="store_true", help="without, then with --pooled")
    add("--cpu", action="store_true", help="CPU time, also of what runs on all cores")
    add("--rounds", type=int, default=5)
    add("--window", type=float, default=0.25, help="seconds of a turn")
    add("--name", help="of the files in results/; by default the date, if all is run")
    add("--against", type=Path, metavar="JSON", help="compare with an earlier run")
    args = parser.parse_args()
    for what, given, known in [
        ("workloads", args.workloads, list(WORKLOADS)),
        ("sides", args.sides or [], list(SIDES)),
    ]:
        if unknown := [name for name in given if name not in known]:
            parser.error(
                f"{what}: expected {', '.join(known)}, got {', '.join(unknown)}"
            )
    if args.rounds < 1:
        parser.error(f"--rounds: expected at least 1, got {args.rounds}")
    if args.name is None and not args.workloads:
        args.name = time.strftime("%Y-%m-%d")
    return args


def main() -> None:
    """Compare, print a line for each workload as it comes, and save."""
    args = _arguments()
    sides = args.sides or [OURS, *(PEERS if args.peers else [])]
    before = load(args.against) if args.against else []
    about = conditions() | {"rounds": args.rounds, "cpu": args.cpu}
    missing = [side for side in sides if SIDES[side].missing()]
    if missing:
        print(f"not installed, left out: {', '.join(missing)}")
    present = [side for side in (BY_HAND, *sides) if side not in missing]
    # As the heads of the table stand before the rows: with a row that has all sides.
    heads = columns([{"rounds": dict.fromkeys(present)}], before)
    rows: list[dict[str, Any]] = []
    failed = []
    for pooled in (False, True) if args.both else (args.pooled,):
        print(f"\n{TITLES[pooled]}\n\n{line(heads, heads)}")
        for workload in workloads_named(args.workloads):
            if workload.kind == "import" and pooled and args.both:
                continue  # does not depend on it
            try:
                row = measure(
                    workload,
                    present,
                    pooled=pooled,
                    rounds=args.rounds,
                    window=args.window,
                    cpu=args.cpu,
                )
            except (AssertionError, Failure) as error:  # the others still count
                print(f"{workload.name} FAILED: {error}", flush=True)
                failed.append(workload.name)
                continue
            rows.append(row)
            print(line(cells(row, heads, before), heads), flush=True)
    if args.name:
        save(RESULTS / args.name, about, rows, before)
        print(f"\n{RESULTS / args.name}.json and .md")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
