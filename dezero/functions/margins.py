"""Losses that are 0 once the right is ahead of the wrong by a margin."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.activation import relu
from dezero.functions.arguments import as_number
from dezero.functions.comparison import where
from dezero.functions.dtypes import cast
from dezero.functions.indexing import get_item
from dezero.functions.labels import class_labels_to_learn, unknown
from dezero.functions.loss import check_reduction, reduced
from dezero.functions.norms import norm
from dezero.functions.reduction import sum
from dezero.functions.shape import expand_dims
from dezero.functions.similarity import cosine_similarity

__all__ = ["cosine_embedding_loss", "hinge", "triplet_margin"]


def hinge(
    x: ArrayLike, t: ArrayLike, margin: float = 1.0, reduction: str = "mean"
) -> Variable:
    """Multi-class hinge loss: sum of ``max(0, x[i, j] - x[i, t[i]] + margin)``, j != t.

    Each wrong class adds what it lacks of being behind the right one by the margin.
    Weston, Watkins 1999, "Support vector machines for multi-class pattern recognition".
    The sum over the classes is not divided by their number C.

    Args:
        x: Scores (N, C).
        t: N integers in [0, C), in any shape. No gradient goes there.
        margin: A number.
        reduction: "mean" over the batch, "sum", or "none" for each row.

    Returns:
        Variable of shape (); with "none", of shape (N,).

    Raises:
        TypeError: ``t`` holds no integers, or ``margin`` is no number.
        ValueError: ``x`` is no matrix, ``t`` has not N elements, a label is negative or
            not below C (on a GPU, where that is not looked at, the loss is NaN), N is
            0, or there is no such reduction.
    """
    x = as_variable(x)
    if x.dtype.kind != "f":  # an unsigned integer has no negative
        x = cast(x, np.float64)
    check_reduction("hinge", reduction)
    margin = as_number("hinge", "margin", margin)
    ids = class_labels_to_learn("hinge", x, t)
    xp = cuda.get_array_module(x)
    right = get_item(x, (xp.arange(len(ids)), ids))
    unseen = unknown(ids, x.shape[1])
    if unseen is not None:
        right = where(unseen, np.nan, right)
    short = relu(x - expand_dims(right, 1) + margin)  # (N, C)
    wrong = xp.arange(x.shape[1]) != ids[:, None]
    return reduced(sum(short * wrong.astype(short.dtype), 1), reduction, len(ids))


def triplet_margin(
    anchor: ArrayLike,
    positive: ArrayLike,
    negative: ArrayLike,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Variable:
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``, averaged.

    Asks that each anchor be closer to its positive than to its negative, by the margin,
    in Euclidean distance along the last axis. At distance 0 the gradient is 0. Balntas,
    Riba, Ponsa, Mikolajczyk 2016, "Learning local feature descriptors with triplets and
    shallow convolutional neural networks"; FaceNet (Schroff, Kalenichenko, Philbin
    2015, arXiv:1503.03832) takes squares of the distances.

    Args:
        anchor: (N, D), or (..., D).
        positive: The shape of ``anchor``.
        negative: The shape of ``anchor``.
        margin: A number.
        reduction: "mean" over the triplets, "sum", or "none" for each.

    Returns:
        Variable of shape (); with "none", of shape (N,), or (...,).

    Raises:
        TypeError: ``margin`` is no number.
        ValueError: The shapes differ or have no axis, there is no triplet to average
            over, or there is no such reduction.
    """
    check_reduction("triplet_margin", reduction)
    margin = as_number("triplet_margin", "margin", margin)
    xs = [as_variable(x) for x in (anchor, positive, negative)]
    a, p, n = [x if x.dtype.kind == "f" else cast(x, np.float64) for x in xs]
    if not (a.shape == p.shape == n.shape) or not a.ndim:
        raise ValueError(
            "triplet_margin: expected three arrays of one shape (..., D), got "
            f"{a.shape}, {p.shape} and {n.shape}"
        )
    y = relu(norm(a - p, axis=-1) - norm(a - n, axis=-1) + margin)
    _check_some("triplet_margin", y, reduction)
    return reduced(y, reduction, y.size)


def cosine_embedding_loss(
    x0: ArrayLike,
    x1: ArrayLike,
    t: ArrayLike,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Variable:
    """Pairs by :func:`cosine_similarity` c: ``1 - c``, or ``max(0, c - margin)``.

    The first where ``t`` is 1 (the two belong together), the second where it is -1.

    Args:
        x0: (N, D).
        x1: (N, D).
        t: (N,) integers 1 and -1. No gradient goes there.
        margin: A number.
        reduction: "mean" over the pairs, "sum", or "none" for each.

    Returns:
        Variable of shape (); with "none", of shape (N,).

    Raises:
        TypeError: ``margin`` is no number.
        ValueError: The shapes do not fit, ``t`` holds other numbers (on a GPU, where
            that is not looked at, the loss is NaN), there is no pair to average over,
            or there is no such reduction.
    """
    check_reduction("cosine_embedding_loss", reduction)
    margin = as_number("cosine_embedding_loss", "margin", margin)
    x0, x1, t = as_variable(x0), as_variable(x1), as_variable(t)
    if x0.ndim != 2 or x0.shape != x1.shape or t.shape != x0.shape[:1]:
        raise ValueError(
            "cosine_embedding_loss: expected shapes (N, D), (N, D) and (N,), got "
            f"{x0.shape}, {x1.shape} and {t.shape}"
        )
    together = t.data == 1
    known = together | (t.data == -1)
    on_gpu = not isinstance(known, np.ndarray)  # which would have to be waited for
    if not on_gpu and not known.all():
        raise ValueError(
            "cosine_embedding_loss: expected 1 and -1 as t, got other numbers"
        )
    c = cosine_similarity(x0, x1)
    y = where(together, 1 - c, relu(c - margin))
    if on_gpu:
        y = where(known, y, np.nan)
    _check_some("cosine_embedding_loss", y, reduction)
    return reduced(y, reduction, y.size)


def _check_some(function: str, y: Variable, reduction: str) -> None:
    if reduction == "mean" and not y.size:
        raise ValueError(f"{function}: expected at least one loss, got shape {y.shape}")
