"""Losses by their formulas in NumPy and float64, and the least that they can reach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable


def recomputed(loss: Variable) -> float | None:
    """The loss anew from what its Function got; None if the formula is not known."""
    f = loss.creator
    formula = _FORMULAS.get(type(f).__name__)
    if formula is None or f is None or f.inputs is None or getattr(f, "each", False):
        return None
    with np.errstate(all="ignore"):
        return float(formula(*[_float64(x) for x in f.inputs]))


def expected_at_start(loss: Variable) -> tuple[int, float] | None:
    """Number of classes C and log(C), which a softmax that knows nothing has."""
    f = loss.creator
    if type(f).__name__ != "SoftmaxCrossEntropy" or f is None or f.inputs is None:
        return None
    C = f.inputs[0].shape[1]
    return C, float(np.log(C))


def floor(loss: Variable, inputs: Sequence[Any]) -> float | None:
    """The least loss that a model can reach on these inputs; None if not known.

    Equal inputs with different targets cannot all be right.
    """
    f = loss.creator
    name = type(f).__name__
    if name not in _FORMULAS or f is None or f.inputs is None:
        return None
    if getattr(f, "each", False):
        return None
    t = _float64(f.inputs[1])
    if name == "SoftmaxCrossEntropy":
        groups = _groups(inputs, t.size)
        if groups is None:
            return 0.0
        return float(sum([_entropy(t.ravel()[g]) for g in groups])) / t.size
    if name == "MeanSquaredError":
        groups = _groups(inputs, len(t) if t.ndim else 1)
        if groups is None or not t.ndim:
            return 0.0
        spread = [((t[g] - t[g].mean(axis=0)) ** 2).sum() for g in groups]
        return float(sum(spread)) / len(t)
    with np.errstate(all="ignore"):
        terms = np.where((t > 0) & (t < 1), t * np.log(t) + (1 - t) * np.log1p(-t), 0.0)
    return -float(terms.sum()) / (len(t) if t.ndim else 1)


def _entropy(t: np.ndarray) -> float:
    """The number of labels times the entropy of their frequencies."""
    counts = np.array(list(Counter(t.tolist()).values()), dtype=float)
    return -float((counts * np.log(counts / counts.sum())).sum())


def _groups(inputs: Sequence[Any], N: int) -> list[list[int]] | None:
    """The samples, those with equal inputs together; None if inputs are no arrays."""
    arrays = [x.data if isinstance(x, Variable) else x for x in inputs]
    if not all([cuda.is_array(a) and a.ndim and len(a) == N for a in arrays]):
        return None
    arrays = [np.ascontiguousarray(cuda.as_numpy(a)) for a in arrays]
    groups: dict[Any, list[int]] = defaultdict(list)
    for i in range(N):
        groups[tuple([a[i].tobytes() for a in arrays])].append(i)
    return list(groups.values())


def _float64(x: Any) -> np.ndarray:
    a = cuda.as_numpy(x)
    return a.astype(np.float64)


def _softmax_cross_entropy(x: np.ndarray, t: np.ndarray) -> Any:
    x = x - x.max(axis=1, keepdims=True)
    rows, ids = np.arange(len(x)), t.ravel().astype(int)
    return (np.log(np.exp(x).sum(axis=1)) - x[rows, ids]).mean()


def _mean_squared_error(x0: np.ndarray, x1: np.ndarray) -> Any:
    return ((x0 - x1) ** 2).sum() / (len(x0) if x0.ndim else 1)


def _sigmoid_cross_entropy(x: np.ndarray, t: np.ndarray) -> Any:
    y = np.logaddexp(0, -x) * t + np.logaddexp(0, x) * (1 - t)
    return y.sum() / (len(x) if x.ndim else 1)


def _binary_cross_entropy(p: np.ndarray, t: np.ndarray) -> Any:
    # Products with 0 count as 0: log(0) of what was not asked for does not matter.
    yes = np.where(t > 0, t * np.log(p), 0)
    no = np.where(t < 1, (1 - t) * np.log1p(-p), 0)
    return -(yes + no).sum() / (len(p) if p.ndim else 1)


_FORMULAS = {
    "SoftmaxCrossEntropy": _softmax_cross_entropy,
    "MeanSquaredError": _mean_squared_error,
    "SigmoidCrossEntropy": _sigmoid_cross_entropy,
    "BinaryCrossEntropy": _binary_cross_entropy,
}
