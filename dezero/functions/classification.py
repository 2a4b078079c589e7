"""Losses of classification: one class out of C, or yes and no."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.activation import sigmoid, softplus_tail
from dezero.functions.comparison import where
from dezero.functions.dtypes import as_floating, cast, sum_dtype
from dezero.functions.exponential import log
from dezero.functions.indexing import get_item
from dezero.functions.loss import batch_size, floating_pair, mean_over_batch
from dezero.functions.probabilities import below_max, log_softmax, softmax
from dezero.functions.reduction import sum
from dezero.functions.shape import reshape

__all__ = [
    "BinaryCrossEntropy",
    "SigmoidCrossEntropy",
    "SoftmaxCrossEntropy",
    "SoftmaxCrossEntropyGrad",
    "binary_cross_entropy",
    "binary_cross_entropy_simple",
    "sigmoid_cross_entropy",
    "sigmoid_cross_entropy_simple",
    "softmax_cross_entropy",
    "softmax_cross_entropy_simple",
]

# =============================================================================
# Targets
# =============================================================================


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


def _labels(function: str, x: Variable, t: ArrayLike) -> Array:
    """:func:`class_ids`, each checked to name one of C classes."""
    ids = class_ids(function, x, t)
    C = x.shape[1]
    for label in (ids.min(), ids.max()):
        # A negative index would silently name a class from the end.
        if not 0 <= label < C:
            raise ValueError(
                f"{function}: expected labels in [0, {C}) for {C} classes, got {label}"
            )
    return ids


def _with_targets(
    function: str, x: ArrayLike, t: ArrayLike
) -> tuple[Variable, Variable]:
    """``x`` and targets of its shape and dtype; (N,) may stand beside (N, 1)."""
    x, t = floating_pair(x, t)
    t = cast(t, x.dtype)  # double precision of targets says nothing about the loss
    if x.ndim != t.ndim and x.size == t.size:
        t = reshape(t, x.shape)
    if x.shape != t.shape:
        raise ValueError(
            f"{function}: expected t of shape {x.shape}, as x has, got {t.shape}"
        )
    batch_size(function, x)
    return x, t


# =============================================================================
# One class out of C
# =============================================================================


class SoftmaxCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    # Softmax is their quotient: for the first derivative, which derives from x again.
    exps_and_sums: Any = None

    def forward(self, x, t):
        xp = cuda.get_array_module(x)
        x, t = as_floating(x), t.ravel()
        z = below_max(x, 1)
        picked = z[xp.arange(len(t)), t]
        xp.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True, dtype=sum_dtype(x))
        self.exps_and_sums = z, total
        y = xp.log(total)[:, 0] - picked
        return mean_over_batch(y.sum(), len(t), x.dtype)

    def backward(self, gy):
        x, t = self.inputs
        return SoftmaxCrossEntropyGrad(*self.exps_and_sums)(x, gy, t), None

    def _release(self):
        super()._release()
        self.exps_and_sums = None  # as large as x; who keeps the loss needs none of it


class SoftmaxCrossEntropyGrad(Function):
    """``(softmax(x) - one_hot(t)) * gy / N``."""

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, z, total):
        self.z, self.total = z, total  # softmax(x) = z / total

    def forward(self, x, gy, t):
        xp = cuda.get_array_module(x)
        t = t.ravel()
        scale = gy / len(t)
        gx = self.z * (scale / self.total).astype(self.z.dtype, copy=False)
        gx[xp.arange(len(t)), t] -= scale
        return gx

    def backward(self, ggx):
        x, gy, t = self.inputs
        need_x, need_gy, _ = self.needs_grad
        N = len(x)
        p = softmax(x)
        weighted = sum(ggx * p, 1, keepdims=True)
        gx = ggy = None
        if need_x:
            gx = p * (ggx - weighted) * (gy / N)
        if need_gy:
            rows = cuda.get_array_module(x).arange(N)
            ggy = (sum(weighted) - sum(get_item(ggx, (rows, t.data.ravel())))) / N
        return gx, ggy, None


def softmax_cross_entropy(x: ArrayLike, t: ArrayLike) -> Variable:
    """Mean of ``-log(softmax(x)[i, t[i]])`` over the batch, by the scores ``x``.

    Computed from the scores, so no logarithm of a probability 0 is taken.

    Args:
        x: (N, C), any real numbers.
        t: N integers in [0, C), in any shape. No gradient goes there.

    Returns:
        Variable of shape ().

    Raises:
        TypeError: ``t`` holds no integers.
        ValueError: ``x`` is no matrix, ``t`` has not N elements, a label is negative or
            not below C, or N is 0.
    """
    x = as_variable(x)
    labels = _labels("softmax_cross_entropy", x, t)
    return SoftmaxCrossEntropy()(x, as_variable(labels))


def softmax_cross_entropy_simple(x: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`softmax_cross_entropy` put together from functions, to read."""
    x = as_variable(x)
    labels = _labels("softmax_cross_entropy_simple", x, t)
    rows = cuda.get_array_module(x).arange(len(x))
    return -sum(get_item(log_softmax(x), (rows, labels))) / len(x)


# =============================================================================
# Yes or no
# =============================================================================


class SigmoidCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, t):
        xp = cuda.get_array_module(x)
        x = as_floating(x)
        y = softplus_tail(x)
        # max(x, 0) - x * t is exactly 0 for a sure and right answer: add it as a whole.
        y += xp.maximum(x, 0) - x * t
        return mean_over_batch(
            y.sum(dtype=sum_dtype(y)), len(x) if x.ndim else 1, x.dtype
        )

    def backward(self, gy):
        x, t = self.inputs
        need_x, need_t = self.needs_grad
        g = gy / len(x) if x.ndim else gy
        return (sigmoid(x) - t) * g if need_x else None, -x * g if need_t else None


def sigmoid_cross_entropy(x: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`binary_cross_entropy` of ``sigmoid(x)``, safe for scores of any size.

    ``y = sum(max(x, 0) - x * t + log(1 + exp(-|x|))) / len(x)``.

    Args:
        x: (N, ...), any real numbers.
        t: Targets in [0, 1], usually integers 0 and 1, of the shape of ``x``; with
            another number of axes but as many elements they are reshaped.

    Returns:
        Variable of shape () and the dtype of ``x``.

    Raises:
        ValueError: The shapes do not fit, or N is 0.
    """
    return SigmoidCrossEntropy()(*_with_targets("sigmoid_cross_entropy", x, t))


def sigmoid_cross_entropy_simple(x: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`sigmoid_cross_entropy` by way of probabilities: only for scores near 0."""
    x, t = _with_targets("sigmoid_cross_entropy_simple", x, t)
    return binary_cross_entropy_simple(sigmoid(x), t)


class BinaryCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, p, t):
        xp = cuda.get_array_module(p)
        p = as_floating(p)
        least = np.log(np.finfo(p.dtype).tiny)
        with np.errstate(divide="ignore"):  # log(0) is raised to the least one
            yes = xp.maximum(xp.log(p), least)
            no = xp.maximum(xp.log1p(-p), least)
        y = t * yes + (1 - t) * no
        return mean_over_batch(
            -y.sum(dtype=sum_dtype(p)), len(p) if p.ndim else 1, p.dtype
        )

    def backward(self, gy):
        p, t = self.inputs
        need_p, need_t = self.needs_grad
        g = gy / len(p) if p.ndim else gy
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


def binary_cross_entropy(p: ArrayLike, t: ArrayLike) -> Variable:
    """``y = -sum(t * log(p) + (1 - t) * log(1 - p)) / len(t)`` of probabilities ``p``.

    At ``p = 0`` and ``p = 1``, where a logarithm or its slope is infinite, ``p`` or
    ``1 - p`` counts as the smallest normal number of the dtype (1e-38 in single
    precision): value and gradient are finite. :func:`sigmoid_cross_entropy` takes
    scores and needs no such care.

    Args:
        p: (N, ...), numbers in [0, 1].
        t: Targets in [0, 1], usually integers 0 and 1, of the shape of ``p``; with
            another number of axes but as many elements they are reshaped.

    Returns:
        Variable of shape () and the dtype of ``p``.

    Raises:
        ValueError: The shapes do not fit, N is 0, or an element of ``p`` is outside
            [0, 1].
    """
    p, t = _with_targets("binary_cross_entropy", p, t)
    for value in (p.data.min(), p.data.max()) if p.size else ():
        if value < 0 or value > 1:
            raise ValueError(
                f"binary_cross_entropy: expected probabilities in [0, 1], got {value}; "
                "sigmoid_cross_entropy takes scores"
            )
    return BinaryCrossEntropy()(p, t)


def binary_cross_entropy_simple(p: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`binary_cross_entropy` as its formula says: not for ``p`` of 0 or 1."""
    p, t = _with_targets("binary_cross_entropy_simple", p, t)
    N = batch_size("binary_cross_entropy_simple", p)
    return -sum(t * log(p) + (1 - t) * log(1 - p)) / N
