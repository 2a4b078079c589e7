"""Class ids as targets: how they must fit, what they weigh, which of them count."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.axes import moveaxis
from dezero.functions.comparison import where
from dezero.functions.dtypes import cast
from dezero.functions.indexing import get_item, scatter_add
from dezero.functions.loss import check_reduction, reduced
from dezero.functions.reduction import mean, sum
from dezero.functions.shape import as_axis, as_integer, reshape

__all__ = ["nll_loss"]


def class_ids(function: str, x: Variable, t: ArrayLike) -> Array:
    """The N integers of ``t``, one per row of scores ``x`` (N, C).

    Raises:
        TypeError: ``t`` holds no integers.
        ValueError: ``x`` is no matrix of at least one row, or ``t`` has not N elements.
    """
    if x.ndim != 2 or not x.size:
        raise ValueError(
            f"{function}: expected scores of shape (N, C) with N and C > 0, got "
            f"{x.shape}"
        )
    ids = as_variable(t).data
    if ids.dtype.kind not in "iu":
        raise TypeError(
            f"{function}: expected integer class ids as t, got dtype {ids.dtype}"
        )
    if ids.size != len(x):
        raise ValueError(
            f"{function}: expected one class id per row of scores of shape {x.shape}, "
            f"got t of shape {ids.shape}"
        )
    return ids.ravel()


def class_labels(function: str, x: Variable, t: ArrayLike) -> Array:
    """:func:`class_ids`, each checked to name one of C classes."""
    return labels_below(function, class_ids(function, x, t), x.shape[1])


def class_labels_to_learn(function: str, x: Variable, t: ArrayLike) -> Array:
    """The same for a loss: see :func:`labels_to_learn`."""
    return labels_to_learn(function, class_ids(function, x, t), x.shape[1])


def labels_below(function: str, ids: Array, C: int) -> Array:
    """``ids``, checked to be in [0, C).

    Raises:
        ValueError: One is not.
    """
    for label in (ids.min(), ids.max()) if ids.size else ():
        # A negative index would silently name a class from the end.
        if not 0 <= label < C:
            raise ValueError(
                f"{function}: expected labels in [0, {C}) for {C} classes, got {label}"
            )
    return ids


def labels_to_learn(function: str, ids: Array, C: int) -> Array:
    """``ids``, checked to be in [0, C), unless a GPU would have to be waited for.

    There, :func:`unknown` makes the loss of such a label NaN.

    Raises:
        ValueError: One is not.
    """
    return labels_below(function, ids, C) if isinstance(ids, np.ndarray) else ids


def unknown(ids: Array, C: int) -> Array | None:
    """On a GPU, which ``ids`` are not in [0, C); None where that was looked at."""
    return None if isinstance(ids, np.ndarray) else (ids < 0) | (ids >= C)


def by_rows(
    function: str, x: Variable, t: Variable, axis: int
) -> tuple[Variable, Array, tuple[int, ...]]:
    """Scores as a matrix (M, C), the M integers of ``t``, and the shape of the labels.

    Raises:
        TypeError: ``t`` holds no integers.
        ValueError: There is no such axis or no score, or ``t`` does not fit.
    """
    if axis == 1 and x.ndim < 3 or axis == -1 and x.ndim == 2:
        return x, class_ids(function, x, t), x.shape[:1]
    i = as_axis(function, axis, x.shape)
    shape = x.shape[:i] + x.shape[i + 1 :]
    if t.shape not in (shape, (*shape[:i], 1, *shape[i:])):
        raise ValueError(
            f"{function}: expected t of shape {shape} for scores of shape {x.shape} "
            f"with classes along axis {i}, got {t.shape}"
        )
    rows = x
    if i != x.ndim - 1:
        rows = moveaxis(x, i, -1)  # (N, C, ...) -> (N, ..., C)
    rows = reshape(rows, (math.prod(shape), x.shape[i]))
    return rows, class_ids(function, rows, t), shape


def weights_of_classes(function: str, class_weights: Any, x: Variable, C: int) -> Any:
    """``class_weights`` as an array (C,) of the dtype of ``x``; None stays None.

    Raises:
        ValueError: There are not C of them.
    """
    if class_weights is None:
        return None
    weights = as_variable(class_weights).data
    if weights.shape != (C,):
        raise ValueError(
            f"{function}: expected class_weights of shape ({C},), one per class, got "
            f"{weights.shape}"
        )
    return weights.astype(x.dtype if x.dtype.kind == "f" else np.float64, copy=False)


def rows_that_count(
    function: str, rows: Variable, ids: Array, ignore_label: int | None
) -> tuple[Variable, Array, Array | None]:
    """The rows and labels that count, and where they stood; None for all of them.

    On a GPU, which would have to be waited for, the others stay: rows of zeros and
    labels 0, which :func:`summed_up` leaves out.

    Raises:
        TypeError: ``ignore_label`` is no integer: no label would ever be equal to it.
    """
    if ignore_label is None:
        return rows, ids, None
    ignore_label = as_integer(function, "ignore_label", ignore_label)
    counted = ids != ignore_label
    if not isinstance(ids, np.ndarray):
        return where(counted[:, None], rows, 0), ids * counted, counted
    if counted.all():
        return rows, ids, None
    # Left out, not multiplied by 0: whatever stands there, NaN included, does no harm.
    return get_item(rows, counted), ids[counted], counted


def summed_up(
    losses: Variable,
    weights: Array | None,
    counted: Array | None,
    shape: tuple[int, ...],
    reduction: str,
) -> Variable:
    """The losses of labels, weighted already, as ``reduction`` asks."""
    xp = cuda.get_array_module(losses)
    if xp is not np and not (counted is weights is None):
        return _summed_up_on_gpu(losses, weights, counted, shape, reduction)
    if reduction == "none":
        if counted is not None:
            losses = scatter_add(xp.zeros(counted.size, losses.dtype), counted, losses)
        return reshape(losses, shape)
    N = losses.size if weights is None else float(weights.sum(dtype=np.float64))
    return reduced(losses, reduction, N)


def _summed_up_on_gpu(
    losses: Variable,
    weights: Array | None,
    counted: Array | None,
    shape: tuple[int, ...],
    reduction: str,
) -> Variable:
    """The same without waiting: the host never learns how much counts."""
    xp = cuda.get_array_module(losses)
    if counted is not None:
        losses = where(counted, losses, 0)
    if reduction == "none":
        return reshape(losses, shape)
    if reduction == "sum" or not losses.size:
        return sum(losses)
    counts: Any = xp.ones(losses.shape) if weights is None else weights
    if counted is not None:
        counts = counts * counted
    N = counts.sum(dtype=np.float64)
    share = xp.where(N == 0, 0.0, losses.size / N)
    return mean(losses) * share.astype(losses.dtype)


def nll_loss(
    log_p: ArrayLike,
    t: ArrayLike,
    class_weights: ArrayLike | None = None,
    ignore_label: int | None = None,
    reduction: str = "mean",
    axis: int = 1,
) -> Variable:
    """Negative log-likelihood: mean of ``-log_p[i, t[i]]`` over the labels.

    With what :func:`log_softmax` returns it is :func:`softmax_cross_entropy`, whose
    rules for weights and ignored labels it follows.

    Args:
        log_p: Logarithms of probabilities, (N, C) or (N, C, ...).
        t: Integers in [0, C), as for :func:`softmax_cross_entropy`.
        class_weights: (C,) numbers; no gradient goes there.
        ignore_label: The label that stands for none.
        reduction: "mean", "sum", or "none" for the loss of each label.
        axis: The axis of the classes.

    Returns:
        Variable of shape (); with "none", of the shape of ``log_p`` without ``axis``, 0
        where the label was ignored.

    Raises:
        TypeError: ``t`` holds no integers, or ``ignore_label`` is none.
        ValueError: The shapes do not fit, there are no logarithms, a label is negative
            or not below C (on a GPU, where that is not looked at, its loss is NaN), or
            there is no such axis or reduction.
    """
    log_p, t = as_variable(log_p), as_variable(t)
    if log_p.dtype.kind != "f":  # an unsigned integer has no negative
        log_p = cast(log_p, np.float64)
    check_reduction("nll_loss", reduction)
    rows, ids, shape = by_rows("nll_loss", log_p, t, axis)
    C = rows.shape[1]
    rows, ids, counted = rows_that_count("nll_loss", rows, ids, ignore_label)
    ids = labels_to_learn("nll_loss", ids, C)
    places = cuda.get_array_module(rows).arange(len(ids))
    losses = -get_item(rows, (places, ids))
    wrong = unknown(ids, C)
    if wrong is not None:
        losses = where(wrong, np.nan, losses)
    weights = weights_of_classes("nll_loss", class_weights, log_p, C)
    if weights is not None:
        weights = weights[ids]
        losses = losses * weights
    return summed_up(losses, weights, counted, shape, reduction)
