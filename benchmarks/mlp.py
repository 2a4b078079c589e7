"""A training step of an MLP 784-1000-1000-10, batch 128, against the same by hand.

Large enough that the matrix products take most of the time; what DeZero adds is extra
passes over memory. Run ``python benchmarks/mlp.py``; ``--adam`` for the other update.
"""

from __future__ import annotations

import argparse

import handwritten
import numpy as np
from _compare import Workload, check, compare, verdict

import dezero as dz
import dezero.functions as F


def mlp(
    sizes: tuple[int, ...] = (784, 1000, 1000, 10),
    batch_size: int = 128,
    adam: bool = False,
) -> Workload:
    """Linear layers with relu between them, softmax cross entropy, SGD or Adam."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch_size, sizes[0]), dtype=np.float32)
    t = rng.integers(0, sizes[-1], batch_size)

    model = dz.models.MLP(sizes[1:], activation=F.relu)
    with dz.no_grad():
        model(x)  # makes the parameters, whose shapes depend on x
    optimizer = (dz.optimizers.Adam() if adam else dz.optimizers.SGD()).setup(model)
    parameters = list(model.params())

    def step() -> dz.Variable:
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()
        return loss

    reference = handwritten.Mlp(x, t, [p.data for p in parameters], adam)
    return Workload("mlp", step, parameters, reference, 1.15, 1.1)


def main() -> None:
    """Check and time the step, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adam", action="store_true", help="Adam instead of SGD")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()

    work = mlp(adam=args.adam)
    check(work)
    t = compare(work.step, work.reference.step, rounds=args.rounds, window=0.5)
    print(
        f"MLP 784-1000-1000-10, batch 128, {'Adam' if args.adam else 'SGD'}, float32: "
        f"by hand {t.reference * 1e3:.1f} ms, DeZero {t.ours * 1e3:.1f} ms, "
        f"ratio {t.ratio:.2f} ({t.lowest:.2f}-{t.highest:.2f}), "
        f"goal {work.goal:g} {verdict(t.ratio, work.goal)}, "
        f"later {work.later:g} {verdict(t.ratio, work.later)}"
    )


if __name__ == "__main__":
    main()
