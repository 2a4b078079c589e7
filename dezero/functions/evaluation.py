"""Measures of a trained model; none of them has a gradient."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable, no_grad
from dezero.cuda import Array
from dezero.functions.classification import cross_entropy
from dezero.functions.dtypes import wide
from dezero.functions.labels import class_ids, class_labels
from dezero.functions.shape import as_integer

__all__ = ["accuracy", "perplexity", "r2_score", "top_k_accuracy"]


def measured(y: Variable, value: Any) -> Variable:
    """``value`` as a constant of the dtype of ``y``; for integers, of float64."""
    xp = cuda.get_array_module(y)
    dtype = y.dtype if y.dtype.kind == "f" else np.float64
    with np.errstate(over="ignore"):  # out of the range of half precision: inf
        return as_variable(xp.asarray(value).astype(dtype))


def accuracy(y: ArrayLike, t: ArrayLike) -> Variable:
    """The share of rows whose greatest score stands at the class id ``t``.

    Args:
        y: Scores (N, C), or probabilities.
        t: N integers, in any shape: (N,) or (N, 1).

    Returns:
        Constant Variable of shape () and the dtype of ``y``; no gradient comes back.

    Raises:
        TypeError: ``t`` holds no integers.
        ValueError: ``y`` is no matrix, ``t`` has not N elements, or N is 0.
    """
    y = as_variable(y)
    ids = class_ids("accuracy", y, t)
    return measured(y, (y.data.argmax(axis=1) == ids).mean())


def top_k_accuracy(y: ArrayLike, t: ArrayLike, k: int = 5) -> Variable:
    """The share of rows where the class id ``t`` is among the ``k`` greatest scores.

    Of equal scores the one of the lower class id counts as the greater, so that k = 1
    gives :func:`accuracy`. NaN as the score of ``t`` is not among the greatest.

    Args:
        y: Scores (N, C), or probabilities.
        t: N integers in [0, C), in any shape.
        k: An integer in [1, C].

    Returns:
        Constant Variable of shape () and the dtype of ``y``; no gradient comes back.

    Raises:
        TypeError: ``t`` holds no integers, or ``k`` is none.
        ValueError: ``y`` is no matrix, ``t`` has not N elements or names no class, N is
            0, or ``k`` is out of range.
    """
    y = as_variable(y)
    ids = class_labels("top_k_accuracy", y, t)
    N, C = y.shape
    k = as_integer("top_k_accuracy", "k", k)
    if not 1 <= k <= C:
        raise ValueError(f"top_k_accuracy: expected k in [1, {C}], got {k}")
    xp = cuda.get_array_module(y)
    score = y.data[xp.arange(N), ids][:, None]
    ahead = (y.data == score) & (xp.arange(C) < ids[:, None])
    ahead |= ~(y.data <= score)  # what is no number is ahead, and has all others ahead
    return measured(y, (ahead.sum(axis=1) < k).mean())


def r2_score(y: ArrayLike, t: ArrayLike) -> Variable:
    """Coefficient of determination: ``1 - sum((t - y)**2) / sum((t - mean(t))**2)``.

    The share of the variance of ``t`` that the prediction ``y`` explains: 1 if it is
    perfect, 0 if the mean would do as well, less if it is worse. Of several columns it
    is the mean of their scores. A column of ``t`` without variance scores 1 if the
    prediction is perfect, else 0.

    Args:
        y: Predictions, (N,) or (N, ...).
        t: The shape of ``y``.

    Returns:
        Constant Variable of shape () and the dtype of ``y``; no gradient comes back.

    Raises:
        ValueError: The shapes differ, or there is no element.
    """
    y, t = as_variable(y), as_variable(t)
    if y.shape != t.shape or not y.ndim or not y.size:
        raise ValueError(
            "r2_score: expected two arrays of one shape (N, ...) with N > 0, got "
            f"{y.shape} and {t.shape}"
        )
    xp = cuda.get_array_module(y)
    predicted, true = _columns(y.data), _columns(t.data)
    off = ((true - predicted) ** 2).sum(axis=0)
    # Of equal numbers the rounded mean may be another one.
    varies = (true != true[:1]).any(axis=0)
    spread = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    ratio = off / xp.where(varies, spread, 1)
    return measured(y, xp.where(varies, 1 - ratio, off == 0).mean())


def _columns(x: Array) -> Array:
    """(N, ...) -> (N, K), in double precision: single squares overflow beyond 1e19."""
    return x.astype(np.float64).reshape(len(x), -1)


def perplexity(
    y: ArrayLike, t: ArrayLike, ignore_label: int | None = None, axis: int = 1
) -> Variable:
    """``exp`` of the mean cross-entropy: among how many words a model is undecided.

    Args:
        y: Scores (N, C), or (N, C, ...); any real numbers.
        t: Integers in [0, C), as for :func:`softmax_cross_entropy`.
        ignore_label: The label that stands for none, such as that of padding.
        axis: The axis of the classes.

    Returns:
        Constant Variable of shape () and the dtype of ``y``, inf where it is out of
        range, 1 if nothing counts. No gradient comes back.

    Raises:
        TypeError: ``t`` holds no integers, or ``ignore_label`` is none.
        ValueError: The shapes do not fit, there are no scores, a label names no class,
            or there is no such axis.
    """
    y, t = as_variable(y), as_variable(t)
    with no_grad():
        loss = cross_entropy("perplexity", y, t, None, ignore_label, 0, "mean", axis)
    with np.errstate(over="ignore"):
        return measured(y, cuda.get_array_module(loss).exp(wide(loss.data)))
