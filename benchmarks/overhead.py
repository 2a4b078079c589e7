"""What a node costs: graphs of many small operations against the same written by hand.

The arrays have 8 elements, so the time is that of Python and NumPy calls, and the ratio
says how much the engine adds to them. Run ``python benchmarks/overhead.py``.
"""

from __future__ import annotations

import argparse
import time

import handwritten
import numpy as np
from _compare import Workload, check, compare, verdict

import dezero as dz
import dezero.functions as F


def tiny(repeats: int = 12) -> Workload:
    """``h = sin(h * w + b) ** 2`` over and over, then the sum."""
    rng = np.random.default_rng(0)
    x, b = rng.random((2, 8), dtype=np.float32)
    w = 1 + rng.random(8, dtype=np.float32)
    dw, db = dz.Parameter(w.copy(), "w"), dz.Parameter(b.copy(), "b")

    def step() -> dz.Variable:
        dw.cleargrad()
        db.cleargrad()
        h = x
        for _ in range(repeats):
            h = F.sin(h * dw + db) ** 2
        loss = F.sum(h)
        loss.backward(retain_graph=False)
        return loss

    reference = handwritten.Tiny(x, w, b, repeats)
    return Workload("tiny", step, [dw, db], reference, 7, 5.5, 4 * repeats + 1)


def deep(nodes: int = 10_000) -> Workload:
    """``h = h * w`` and ``h = h + b`` by turns, then the sum."""
    repeats = nodes // 2
    rng = np.random.default_rng(0)
    x = rng.random(8, dtype=np.float32)
    # So near to 1 and 0 that h stays of the order of 1 over the whole chain.
    w = 1 + 1e-4 * rng.standard_normal(8, dtype=np.float32)
    b = 1e-3 * rng.random(8, dtype=np.float32)
    dw, db = dz.Parameter(w.copy(), "w"), dz.Parameter(b.copy(), "b")

    def step() -> dz.Variable:
        dw.cleargrad()
        db.cleargrad()
        h = x
        for _ in range(repeats):
            h = h * dw
            h = h + db
        loss = F.sum(h)
        loss.backward(retain_graph=False)
        return loss

    reference = handwritten.Deep(x, w, b, repeats)
    return Workload("deep", step, [dw, db], reference, 6.5, 5.5, 2 * repeats + 1)


def wide(branches: int = 5_000) -> Workload:
    """``x * c`` for many constants, added one after the other, then the sum."""
    rng = np.random.default_rng(0)
    x = rng.random(8, dtype=np.float32)
    constants = list(rng.random((branches, 8), dtype=np.float32))
    dx = dz.Parameter(x.copy(), "x")

    def step() -> dz.Variable:
        dx.cleargrad()
        y = dx * constants[0]
        for c in constants[1:]:
            y = y + dx * c
        loss = F.sum(y)
        loss.backward(retain_graph=False)
        return loss

    reference = handwritten.Wide(x, constants)
    return Workload("wide", step, [dx], reference, 15, 12, 2 * branches)


GRAPHS = {"tiny": tiny, "deep": deep, "wide": wide}


def main() -> None:
    """Check and time the graphs, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", default=list(GRAPHS), metavar="GRAPH")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    if unknown := set(args.graphs) - set(GRAPHS):
        parser.error(f"expected {', '.join(GRAPHS)}, got {', '.join(sorted(unknown))}")

    print("CPU time of a step (forward, backward), float32, 8 elements\n")
    print("graph   nodes   by hand    DeZero  us/node   ratio (lowest-highest)   goal")
    for name in args.graphs:
        work = GRAPHS[name]()
        check(work)
        t = compare(
            work.step, work.reference.step, clock=time.process_time, rounds=args.rounds
        )
        print(
            f"{name:<6}{work.nodes:>7}"
            f"{t.reference * 1e3:>7.2f} ms{t.ours * 1e3:>7.2f} ms"
            f"{t.ours / work.nodes * 1e6:>9.2f}{t.ratio:>8.2f} "
            f"({t.lowest:.2f}-{t.highest:.2f})".ljust(64)
            + f"{work.goal:g} {verdict(t.ratio, work.goal)}, "
            f"later {work.later:g} {verdict(t.ratio, work.later)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
