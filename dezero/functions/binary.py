"""Losses of yes and no: any number of classes may be the right one."""

import math

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.activation import sigmoid, softplus, softplus_tail
from dezero.functions.arguments import as_number
from dezero.functions.comparison import where
from dezero.functions.dtypes import as_floating, cast, sum_dtype
from dezero.functions.exponential import exp, log
from dezero.functions.loss import (
    batch_size,
    check_reduction,
    floating_pair,
    mean_over_batch,
    of_batch,
    reduced,
)
from dezero.functions.reduction import sum
from dezero.functions.shape import reshape

__all__ = [
    "BinaryCrossEntropy",
    "SigmoidCrossEntropy",
    "binary_cross_entropy",
    "binary_cross_entropy_simple",
    "focal",
    "sigmoid_cross_entropy",
    "sigmoid_cross_entropy_simple",
]


def _with_targets(
    function: str, x: ArrayLike, t: ArrayLike, reduction: str = "mean"
) -> tuple[Variable, Variable]:
    """``x`` and targets of its shape and dtype; (N,) may stand beside (N, 1)."""
    check_reduction(function, reduction)
    x, t = floating_pair(x, t)
    t = cast(t, x.dtype)  # double precision of targets says nothing about the loss
    if x.ndim != t.ndim and x.size == t.size:
        t = reshape(t, x.shape)
    if x.shape != t.shape:
        raise ValueError(
            f"{function}: expected t of shape {x.shape}, as x has, got {t.shape}"
        )
    if reduction == "mean":
        batch_size(function, x)
    return x, t


class SigmoidCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, each=False):
        self.each = each  # a loss per element, not their mean over the batch

    def forward(self, x, t):
        xp = cuda.get_array_module(x)
        x = as_floating(x)
        y = softplus_tail(x)
        # max(x, 0) - x * t is exactly 0 for a sure and right answer: add it as a whole.
        y += xp.maximum(x, 0) - x * t
        if self.each:
            return y
        return mean_over_batch(
            y.sum(dtype=sum_dtype(y)), len(x) if x.ndim else 1, x.dtype
        )

    def backward(self, gy):
        x, t = self.inputs
        need_x, need_t = self.needs_grad
        g = gy if self.each or not x.ndim else gy / len(x)
        return (sigmoid(x) - t) * g if need_x else None, -x * g if need_t else None


def sigmoid_cross_entropy(
    x: ArrayLike, t: ArrayLike, reduction: str = "mean"
) -> Variable:
    """:func:`binary_cross_entropy` of ``sigmoid(x)``, safe for scores of any size.

    ``y = sum(max(x, 0) - x * t + log(1 + exp(-|x|))) / len(x)``.

    Args:
        x: (N, ...), any real numbers.
        t: Targets in [0, 1], usually integers 0 and 1, of the shape of ``x``; with
            another number of axes but as many elements they are reshaped.
        reduction: "mean" over the batch, "sum", or "none" for each element.

    Returns:
        Variable of the dtype of ``x`` and shape (); with "none", of the shape of
        ``x``.

    Raises:
        ValueError: The shapes do not fit, N is 0 and has no mean, or there is no such
            reduction.
    """
    x, t = _with_targets("sigmoid_cross_entropy", x, t, reduction)
    if reduction == "mean":
        return SigmoidCrossEntropy()(x, t)
    return reduced(SigmoidCrossEntropy(each=True)(x, t), reduction, 1)


def sigmoid_cross_entropy_simple(x: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`sigmoid_cross_entropy` by way of probabilities: only for scores near 0."""
    x, t = _with_targets("sigmoid_cross_entropy_simple", x, t)
    return binary_cross_entropy_simple(sigmoid(x), t)


class BinaryCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, each=False):
        self.each = each  # a loss per element, not their mean over the batch

    def forward(self, p, t):
        xp = cuda.get_array_module(p)
        p = as_floating(p)
        least = np.log(np.finfo(p.dtype).tiny)
        with np.errstate(divide="ignore"):  # log(0) is raised to the least one
            yes = xp.maximum(xp.log(p), least)
            no = xp.maximum(xp.log1p(-p), least)
        y = t * yes + (1 - t) * no
        if self.each:
            return -y
        return mean_over_batch(
            -y.sum(dtype=sum_dtype(p)), len(p) if p.ndim else 1, p.dtype
        )

    def backward(self, gy):
        p, t = self.inputs
        need_p, need_t = self.needs_grad
        g = gy if self.each or not p.ndim else gy / len(p)
        # A probability below the smallest number is held there: it has no slope.
        tiny = float(np.finfo(p.dtype).tiny)
        yes, no = p, 1 - p
        has_yes, has_no = yes.data >= tiny, no.data >= tiny
        # Where it is held, 1 takes its place: the slopes of 1 / p are out of range.
        yes, no = where(has_yes, yes, 1), where(has_no, no, 1)
        gp = gt = None
        if need_p:
            gp = where(has_no, (1 - t) / no, (1 - t) / tiny)
            gp = (gp - where(has_yes, t / yes, t / tiny)) * g
        if need_t:
            least = math.log(tiny)
            gt = where(has_no, log(no), least) - where(has_yes, log(yes), least)
            gt = gt * g
        return gp, gt


def binary_cross_entropy(
    p: ArrayLike, t: ArrayLike, reduction: str = "mean"
) -> Variable:
    """``y = -sum(t * log(p) + (1 - t) * log(1 - p)) / len(t)`` of probabilities ``p``.

    At ``p = 0`` and ``p = 1``, where a logarithm or its slope is infinite, ``p`` or
    ``1 - p`` counts as the smallest normal number of the dtype (1e-38 in single
    precision): value and gradient are finite. :func:`sigmoid_cross_entropy` takes
    scores and needs no such care.

    Args:
        p: (N, ...), numbers in [0, 1].
        t: Targets in [0, 1], usually integers 0 and 1, of the shape of ``p``; with
            another number of axes but as many elements they are reshaped.
        reduction: "mean" over the batch, "sum", or "none" for each element.

    Returns:
        Variable of the dtype of ``p`` and shape (); with "none", of the shape of
        ``p``.

    Raises:
        ValueError: The shapes do not fit, N is 0 and has no mean, an element of ``p``
            is outside [0, 1] (on a GPU, where that is not looked at, the loss is NaN),
            or there is no such reduction.
    """
    p, t = _with_targets("binary_cross_entropy", p, t, reduction)
    # A GPU would have to be waited for: there, such an element makes the loss NaN.
    here = isinstance(p.data, np.ndarray) and p.size
    for value in (p.data.min(), p.data.max()) if here else ():
        if value < 0 or value > 1:
            raise ValueError(
                f"binary_cross_entropy: expected probabilities in [0, 1], got {value}; "
                "sigmoid_cross_entropy takes scores"
            )
    if reduction == "mean":
        return BinaryCrossEntropy()(p, t)
    return reduced(BinaryCrossEntropy(each=True)(p, t), reduction, 1)


def binary_cross_entropy_simple(p: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`binary_cross_entropy` as its formula says: not for ``p`` of 0 or 1."""
    p, t = _with_targets("binary_cross_entropy_simple", p, t)
    N = batch_size("binary_cross_entropy_simple", p)
    return -sum(t * log(p) + (1 - t) * log(1 - p)) / N


def focal(
    x: ArrayLike,
    t: ArrayLike,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    reduction: str = "mean",
) -> Variable:
    """Cross-entropy that spends itself on hard cases: ``-a * (1 - q)**gamma * log(q)``.

    q is the probability of the right answer, ``sigmoid(x)`` where t is 1 and
    ``sigmoid(-x)`` where it is 0; a is ``alpha`` where t is 1 and ``1 - alpha`` where
    it is 0. A case that is clear already, q near 1, weighs next to nothing. Lin, Goyal,
    Girshick, He, Dollar 2017, arXiv:1708.02002.

    Args:
        x: (N, ...) scores, any real numbers.
        t: Zeros and ones, or booleans, of the shape of ``x``; with another number of
            axes but as many elements they are reshaped. No gradient goes there.
        alpha: The weight of the ones, in [0, 1]; None for no weights.
        gamma: A number >= 0; 0 is :func:`sigmoid_cross_entropy`.
        reduction: "mean" over the batch (the sum divided by N), "sum", or "none" for
            each element.

    Returns:
        Variable of shape (); with "none", of the shape of ``x``.

    Raises:
        TypeError: ``alpha`` or ``gamma`` is no number.
        ValueError: They are out of range, t holds other numbers (on a GPU, where that
            is not looked at, the loss is NaN), the shapes do not fit, N is 0 and has no
            mean, or there is no such reduction.
    """
    x, t = _with_targets("focal", x, t, reduction)
    gamma = as_number("focal", "gamma", gamma, low=0)
    yes = t.data == 1
    known = yes | (t.data == 0)
    on_gpu = not isinstance(known, np.ndarray)  # which would have to be waited for
    if not on_gpu and not known.all():
        raise ValueError("focal: expected zeros and ones as t, got other numbers")
    # How far the score is on the wrong side: q = sigmoid(-wrong).
    wrong = x * (1 - 2 * yes.astype(x.dtype))
    y = exp(softplus(-wrong) * -gamma) * softplus(wrong)
    if alpha is not None:
        alpha = as_number("focal", "alpha", alpha, low=0)
        if alpha > 1:
            raise ValueError(f"focal: expected alpha in [0, 1], got {alpha:g}")
        y = y * (1 - alpha + (2 * alpha - 1) * yes.astype(x.dtype))
    if on_gpu:
        y = where(known, y, np.nan)
    return of_batch("focal", y, reduction)
