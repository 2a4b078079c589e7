"""Training steps of DeZero with CuPy against those of PyTorch, eager, on one card.

``python benchmarks/gpu.py`` compares all workloads, ``gpu.py gpt lstm`` these two. With
``--device cpu --small`` it only shows, on any machine, that both compute the same.
"""

from __future__ import annotations

import argparse
import time
import traceback
from pathlib import Path
from typing import Any

from _gpu_measuring import card, in_fresh_process, measure
from _gpu_report import HEADS, about_run, cells, label, line, save
from _gpu_workloads import SIDES, WITH_CUDNN, WORKLOADS

RESULTS = Path(__file__).with_name("results")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    add("--device", choices=["cuda", "cpu"], default="cuda")
    add("--small", action="store_true", help="sizes for tests")
    add("--rounds", type=int, default=5)
    add("--window", type=float, default=0.3, help="seconds of a turn")
    add("--seconds", type=float, help="start no more workloads after that")
    add("--name", help="of the files; by default gpu-DATE, if all is run on a card")
    add("--results", type=Path, default=RESULTS, help="the folder for them")
    args = parser.parse_args()
    if unknown := [name for name in args.workloads if name not in WORKLOADS]:
        known = ", ".join(WORKLOADS)
        parser.error(f"workloads: expected {known}, got {', '.join(unknown)}")
    if args.rounds < 1:
        parser.error(f"--rounds: expected at least 1, got {args.rounds}")
    if missing := [side.package for side in SIDES.values() if side.missing()]:
        parser.error(
            f"not installed: {', '.join(missing)}; pip install 'dezero[peers]'"
        )
    whole = not args.workloads and not args.small and args.device == "cuda"
    if args.name is None and whole:
        args.name = time.strftime("gpu-%Y-%m-%d")
    return args


def main() -> None:
    """Compare, print a line for each workload as it comes, and save."""
    start = time.monotonic()
    args = _arguments()
    found: dict[str, Any] = {"device": "cpu", "versions": {}}
    if args.device == "cuda":
        try:
            found = in_fresh_process(card)
        except Exception as error:  # whatever a driver or a library raises
            raise SystemExit(f"no card answers: {error}") from None
    failed: dict[str, str] = {}
    left_out: dict[str, str] = {}
    if not args.workloads and found.get("cudnn") is None:
        left_out = dict.fromkeys(WITH_CUDNN, "DeZero finds no cuDNN")
    about = about_run(
        found, rounds=args.rounds, small=args.small, failed=failed, left_out=left_out
    )
    print(f"{label(about)}\n\n{line(HEADS)}", flush=True)
    rows: list[dict[str, Any]] = []
    for name in args.workloads or [n for n in WORKLOADS if n not in left_out]:
        if args.seconds is not None and time.monotonic() - start > args.seconds:
            failed[name] = f"not begun within {args.seconds:g} seconds"
            continue
        options = args.device, args.rounds, args.window, args.small
        try:
            row = in_fresh_process(measure, name, *options)
        except Exception as error:  # the others still count
            traceback.print_exception(error)
            failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        rows.append(row)
        print(line(cells(row)), flush=True)
        if args.name:  # what there is, should the next one take all down
            save(args.results / args.name, about, rows)
    if args.name:
        save(args.results / args.name, about, rows)
        print(f"\n{args.results / args.name}.json and .md")
    if left_out:
        print(f"\nNot measured: {', '.join(left_out)}: DeZero finds no cuDNN")
    if failed:
        raise SystemExit("\n".join(f"FAILED {k}: {why}" for k, why in failed.items()))


if __name__ == "__main__":
    main()
