"""Cross-entropy of classification: one class out of C, or a probability of each."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.arguments import as_number
from dezero.functions.comparison import where
from dezero.functions.dtypes import as_floating, cast, sum_dtype, wide_dtype
from dezero.functions.indexing import get_item
from dezero.functions.labels import (
    by_rows,
    class_labels_to_learn,
    labels_to_learn,
    rows_that_count,
    summed_up,
    unknown,
    weights_of_classes,
)
from dezero.functions.loss import check_reduction, mean_over_batch, reduced
from dezero.functions.probabilities import below_max, log_softmax, softmax
from dezero.functions.reduction import mean, sum
from dezero.functions.safe import SafeMul
from dezero.functions.shape import as_axis, reshape
from dezero.kernels import softmax as kernels

__all__ = [
    "SoftmaxCrossEntropy",
    "SoftmaxCrossEntropyGrad",
    "softmax_cross_entropy",
    "softmax_cross_entropy_simple",
]


class SoftmaxCrossEntropy(Function):
    reads_outputs = False
    fresh_gradients = True

    # Softmax is their quotient: for the first derivative, which derives from x again.
    # On a GPU there are the maxima of the rows in place of the exponentials.
    exps_and_sums: Any = None
    smoothing = 0.0  # see SmoothedCrossEntropy

    def __init__(self, each=False):
        self.each = each  # a loss per row, not their mean

    def forward(self, x, t):
        xp = cuda.get_array_module(x)
        x, t = as_floating(x), t.ravel()
        if xp is not np:
            return self._on_gpu(x, t)
        z = below_max(x, 1)
        picked = z[np.arange(len(t)), t]
        if self.smoothing:
            picked = picked * (1 - self.smoothing) + z.mean(axis=1) * self.smoothing
        xp.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True, dtype=sum_dtype(x))
        self.exps_and_sums = z, total
        return self._reduced(xp.log(total)[:, 0] - picked, x.dtype)

    def _on_gpu(self, x, t):
        xp = cuda.get_array_module(x)
        (N, C), work = x.shape, wide_dtype(x)
        m, total = xp.empty(N, work), xp.empty(N, work)
        kernels.softmax_sums(x, True, 0.0, False, m, total, axis=1)
        self.exps_and_sums = m, total
        share = float(self.smoothing)
        mean = x.mean(axis=1, dtype=work) if share else 0.0
        count = 1 if self.each else N
        y = kernels.cross_entropy(x, t, m, total, mean, share, C, count)
        return (y if self.each else y.sum()).astype(x.dtype, copy=False)

    def _reduced(self, y, dtype):
        if self.each:
            return y.astype(dtype, copy=False)
        return mean_over_batch(y.sum(), len(y), dtype)

    def backward(self, gy):
        x, t = self.inputs
        z, total = self.exps_and_sums
        return SoftmaxCrossEntropyGrad(z, total, self.smoothing)(x, gy, t), None

    def _release(self):
        super()._release()
        self.exps_and_sums = None  # as large as x; who keeps the loss needs none of it


class SmoothedCrossEntropy(SoftmaxCrossEntropy):
    """The same with targets ``(1 - e) * one_hot(t) + e / C``, e the smoothing.

    In one pass it takes 1.2 times as long as without smoothing; put together from
    log_softmax and mean, 2.7 times.
    """

    def __init__(self, smoothing, each=False):
        super().__init__(each)
        self.smoothing = smoothing


class SoftmaxCrossEntropyGrad(Function):
    """``(softmax(x) - target) * gy / N``, or ``* gy`` with a gy for each row.

    The target is one_hot(t), or what label smoothing makes of it.
    """

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, z, total, smoothing=0.0):
        self.z, self.total = z, total  # softmax(x) = z / total, or exp(x - z) / total
        self.smoothing = smoothing

    def forward(self, x, gy, t):
        xp = cuda.get_array_module(x)
        t = t.ravel()
        if xp is not np:
            return self._on_gpu(x, gy, t)
        scale = gy if gy.ndim else gy / len(t)
        by_row = scale[:, None] if gy.ndim else scale
        gx = self.z * (by_row / self.total).astype(self.z.dtype, copy=False)
        if self.smoothing:
            gx -= (by_row * (self.smoothing / x.shape[1])).astype(gx.dtype, copy=False)
        gx[xp.arange(len(t)), t] -= scale * (1 - self.smoothing)
        return gx

    def _on_gpu(self, x, gy, t):
        x, (N, C), share = as_floating(x), x.shape, float(self.smoothing)
        rows = [a[:, None] for a in (t, self.z, self.total)]
        by_row, count = (gy[:, None], 1) if gy.ndim else (gy, N)
        return kernels.cross_entropy_grad(x, *rows, by_row, share, C, count)

    def backward(self, ggx):
        x, gy, t = self.inputs
        need_x, need_gy, _ = self.needs_grad
        p = softmax(x)
        weighted = sum(ggx * p, 1, keepdims=True)
        gx = ggy = None
        if need_x:
            scale = reshape(gy, (-1, 1)) if gy.ndim else gy / len(x)
            gx = p * (ggx - weighted) * scale
        if need_gy:
            rows = cuda.get_array_module(x).arange(len(x))
            picked = get_item(ggx, (rows, t.data.ravel()))
            if self.smoothing:
                picked = picked * (1 - self.smoothing) + mean(ggx, 1) * self.smoothing
            if gy.ndim:
                ggy = reshape(weighted, gy.shape) - picked
            else:
                ggy = (sum(weighted) - sum(picked)) / len(x)
        return gx, ggy, None


def softmax_cross_entropy(
    x: ArrayLike,
    t: ArrayLike,
    class_weights: ArrayLike | None = None,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    axis: int = 1,
) -> Variable:
    """Mean of ``-log(softmax(x)[i, t[i]])`` over the labels, by the scores ``x``.

    Computed from the scores, so no logarithm of a probability 0 is taken.

    With class weights w the mean is ``sum(w[t] * loss) / sum(w[t])``, as in PyTorch.
    Labels that are ignored count in neither sum and have no gradient; if nothing is
    left to count, the loss is 0. Label smoothing by e mixes each target with all C
    classes alike, ``(1 - e) * one_hot(t) + e / C``: Szegedy et al. 2015,
    arXiv:1512.00567.

    Targets may also be probabilities p: the loss is ``-sum(w * p * log(softmax(x)))``
    along the axis of classes, and the mean is over all positions, weights or not.

    Args:
        x: (N, C), or (N, C, ...) for a label at each position; any real numbers.
        t: Integers in [0, C): for (N, C) in any shape of N elements, else of the shape
            of ``x`` without the axis of classes, or with size 1 there. No gradient goes
            there. Or probabilities, floating and of the shape of ``x``.
        class_weights: (C,) numbers; no gradient goes there.
        ignore_label: The label that stands for none.
        label_smoothing: The share e of the other classes, in [0, 1].
        reduction: "mean", "sum", or "none" for the loss of each label.
        axis: The axis of the classes.

    Returns:
        Variable of shape (); with "none", of the shape of ``x`` without ``axis``, 0
        where the label was ignored.

    Raises:
        TypeError: ``t`` holds neither integers nor probabilities of the shape of ``x``,
            ``ignore_label`` is no integer, or ``label_smoothing`` no number.
        ValueError: The shapes do not fit, there are no scores, a label is negative or
            not below C (on a GPU, where that is not looked at, its loss is NaN),
            ``label_smoothing`` is out of range, there is no such axis or
            reduction, or ``ignore_label`` is given with probabilities.
    """
    x, t = as_variable(x), as_variable(t)
    no_options = class_weights is ignore_label is None and not label_smoothing
    if no_options and reduction == "mean" and axis == 1 and x.ndim == 2 and t.ndim == 1:
        # What most training asks for: the questions below would take 5 % of its time.
        labels = class_labels_to_learn("softmax_cross_entropy", x, t)
        return SoftmaxCrossEntropy()(x, as_variable(labels))
    return cross_entropy(
        "softmax_cross_entropy",
        x,
        t,
        class_weights,
        ignore_label,
        label_smoothing,
        reduction,
        axis,
    )


def cross_entropy(
    function: str,
    x: ArrayLike,
    t: ArrayLike,
    class_weights: ArrayLike | None,
    ignore_label: int | None,
    smoothing: float,
    reduction: str,
    axis: int,
) -> Variable:
    """:func:`softmax_cross_entropy`, for the function that messages shall name."""
    x, t = as_variable(x), as_variable(t)
    check_reduction(function, reduction)
    if smoothing != 0:
        smoothing = as_number(function, "label_smoothing", smoothing, low=0)
        if smoothing > 1:
            raise ValueError(
                f"{function}: expected label_smoothing in [0, 1], got {smoothing:g}"
            )
    if t.dtype.kind == "f" and t.shape == x.shape and x.size:
        if ignore_label is not None:
            raise ValueError(
                f"{function}: expected integer labels as t beside ignore_label, got "
                "probabilities"
            )
        i = as_axis(function, axis, x.shape)
        t = cast(t, x.dtype if x.dtype.kind == "f" else t.dtype)
        losses = _of_probabilities(function, x, t, class_weights, smoothing, i)
        return reduced(losses, reduction, losses.size)
    rows, ids, shape = by_rows(function, x, t, axis)
    C = rows.shape[1]
    rows, ids, counted = rows_that_count(function, rows, ids, ignore_label)
    labels = as_variable(labels_to_learn(function, ids, C))
    each = class_weights is not None or reduction != "mean" or not len(ids)
    # On a GPU, ignored rows stay: see rows_that_count.
    each = each or (counted is not None and len(ids) == len(counted))
    if class_weights is None and smoothing:
        losses = SmoothedCrossEntropy(smoothing, each)(rows, labels)
    else:
        losses = SoftmaxCrossEntropy(each)(rows, labels)
    if not each:
        return losses
    weights = of_classes = weights_of_classes(function, class_weights, x, C)
    if weights is not None:
        weights = weights[ids]
        losses = losses * weights
        if smoothing:
            others = mean(log_softmax(rows) * of_classes, 1)
            losses = losses * (1 - smoothing) - others * smoothing
    return summed_up(losses, weights, counted, shape, reduction)


def _of_probabilities(
    function: str,
    x: Variable,
    t: Variable,
    class_weights: Any,
    smoothing: float,
    axis: int,
) -> Variable:
    """Cross-entropy of :func:`softmax` along ``axis`` by targets of the same shape."""
    C = x.shape[axis]
    weights = weights_of_classes(function, class_weights, x, C)
    if smoothing:
        t = t * (1 - smoothing) + smoothing / C
    if weights is not None:
        t = t * weights.reshape((C,) + (1,) * (x.ndim - 1 - axis))
    # A class of probability 0 adds nothing, even if its score is -inf.
    return -sum(SafeMul()(t, log_softmax(x, axis)), axis)


def softmax_cross_entropy_simple(x: ArrayLike, t: ArrayLike) -> Variable:
    """:func:`softmax_cross_entropy` put together from functions, to read."""
    x = as_variable(x)
    labels = class_labels_to_learn("softmax_cross_entropy_simple", x, t)
    rows = cuda.get_array_module(x).arange(len(x))
    picked = get_item(log_softmax(x), (rows, labels))
    wrong = unknown(labels, x.shape[1])
    if wrong is not None:
        picked = where(wrong, np.nan, picked)
    return -sum(picked) / len(x)
