"""What losses have in common, and those of regression.

A loss is one number: how far predictions are from what they should be. With
``reduction="none"`` it is a number per element, per class id or per pair of vectors, as
the loss says; "sum" adds them up, "mean" averages. Losses that have one per element
average over the batch only: they divide the sum by ``len(x)``.
"""

from typing import Any

import numpy as np

from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.arguments import as_number
from dezero.functions.comparison import clip
from dezero.functions.dtypes import cast, wide
from dezero.functions.elementary import abs
from dezero.functions.reduction import mean, sum

__all__ = [
    "MeanSquaredError",
    "huber",
    "mean_absolute_error",
    "mean_squared_error",
    "mean_squared_error_simple",
]

# =============================================================================
# Arguments and results
# =============================================================================


def batch_size(function: str, x: Variable) -> int:
    """The length of the first axis; 1 for a 0-d ``x``.

    Raises:
        ValueError: It is 0.
    """
    N = len(x) if x.ndim else 1
    if N == 0:
        raise ValueError(
            f"{function}: expected at least one sample, got x of shape {x.shape}"
        )
    return N


def _is_weak(x: ArrayLike) -> bool:
    """Does ``x`` take the dtype of what stands beside it? Numbers and integers do."""
    return not hasattr(x, "dtype") or isinstance(x, np.generic) or x.dtype.kind != "f"


def floating_pair(x0: ArrayLike, x1: ArrayLike) -> tuple[Variable, Variable]:
    """Both as floating Variables; a weak one gets the dtype of the other."""
    v0, v1 = as_variable(x0), as_variable(x1)
    weak0, weak1 = _is_weak(x0), _is_weak(x1)
    if weak0:
        v0 = cast(v0, np.float64 if weak1 else v1.dtype)
    if weak1:
        v1 = cast(v1, v0.dtype)
    return v0, v1


def mean_over_batch(total: Any, N: int, dtype: Any) -> Any:
    """``total / N``, back in half precision if it was added up in single precision."""
    y = total / N
    return y.astype(np.float16) if dtype == np.float16 else y


def check_reduction(function: str, reduction: str) -> None:
    """Raise a ValueError for what is no way to sum losses up."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(
            f"{function}: expected 'mean', 'sum' or 'none' as reduction, got "
            f"{reduction!r}"
        )


def reduced(y: Variable, reduction: str, N: float) -> Variable:
    """Losses ``y`` as they are, their sum, or their sum divided by ``N``.

    Where N is 0, so is the sum: nothing counts.
    """
    if reduction == "none":
        return y
    if reduction == "sum" or not y.size or not N:
        return sum(y)
    # The mean first: a sum may be out of the range of half precision.
    return mean(y) if N == y.size else mean(y) * (y.size / N)


def of_batch(function: str, y: Variable, reduction: str) -> Variable:
    """:func:`reduced` with "mean" as an average over the first axis only."""
    return reduced(y, reduction, batch_size(function, y) if reduction == "mean" else 1)


# =============================================================================
# Regression
# =============================================================================


class MeanSquaredError(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        d = x0 - x1
        dtype = d.dtype
        d = wide(d)  # squares overflow in half precision
        d *= d
        return mean_over_batch(d.sum(), len(d) if d.ndim else 1, dtype)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        scale = 2 / len(x0) if x0.ndim else 2.0
        d = x0 - x1
        gx0 = d * (gy * scale) if need0 else None
        if not need1:
            return gx0, None
        return gx0, d * (gy * -scale)


def of_one_shape(
    function: str, x0: ArrayLike, x1: ArrayLike, reduction: str = "mean"
) -> tuple[Variable, Variable]:
    """Both as floating Variables.

    Raises:
        ValueError: The shapes differ, N is 0 where a mean is asked for, or there is no
            such reduction.
    """
    check_reduction(function, reduction)
    # Without the check a column and a vector would broadcast to a matrix.
    x0, x1 = floating_pair(x0, x1)
    if x0.shape != x1.shape:
        raise ValueError(
            f"{function}: expected two arrays of one shape, got {x0.shape} and "
            f"{x1.shape}"
        )
    if reduction == "mean":
        batch_size(function, x0)
    return x0, x1


def mean_squared_error(
    x0: ArrayLike, x1: ArrayLike, reduction: str = "mean"
) -> Variable:
    """Sum of squares over the batch size: ``y = sum((x0 - x1)**2) / len(x0)``.

    Only the first axis is averaged over, the others are summed. For 0-d arrays it is
    the square itself.

    Args:
        x0: (N, ...).
        x1: The shape of ``x0``.
        reduction: "mean" over the batch, "sum", or "none" for each square.

    Returns:
        Variable of shape (); with "none", of the shape of ``x0``.

    Raises:
        ValueError: The shapes differ, N is 0 and has no mean, or there is no such
            reduction.
    """
    x0, x1 = of_one_shape("mean_squared_error", x0, x1, reduction)
    if reduction == "mean":
        return MeanSquaredError()(x0, x1)
    return reduced((x0 - x1) ** 2, reduction, 1)


def mean_squared_error_simple(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """:func:`mean_squared_error` as its formula says, to read and compare."""
    x0, x1 = of_one_shape("mean_squared_error_simple", x0, x1)
    diff = x0 - x1
    return sum(diff**2) / batch_size("mean_squared_error_simple", diff)


def mean_absolute_error(
    x0: ArrayLike, x1: ArrayLike, reduction: str = "mean"
) -> Variable:
    """Sum of distances over the batch size: ``y = sum(|x0 - x1|) / len(x0)``.

    As in :func:`mean_squared_error`, only the first axis is averaged over. The gradient
    is 0 where both are equal.

    Args:
        x0: (N, ...).
        x1: The shape of ``x0``.
        reduction: "mean" over the batch, "sum", or "none" for each distance.

    Returns:
        Variable of shape (); with "none", of the shape of ``x0``.

    Raises:
        ValueError: The shapes differ, N is 0 and has no mean, or there is no such
            reduction.
    """
    x0, x1 = of_one_shape("mean_absolute_error", x0, x1, reduction)
    return of_batch("mean_absolute_error", abs(x0 - x1), reduction)


def huber(
    x0: ArrayLike, x1: ArrayLike, delta: float = 1.0, reduction: str = "mean"
) -> Variable:
    """Squares of small differences, absolute values of large ones, over the batch size.

    For a difference d it is ``d**2 / 2`` up to ``|d| = delta``, beyond that ``delta *
    (|d| - delta / 2)``: outliers pull no harder than delta. As in
    :func:`mean_squared_error`, only the first axis is averaged over. Huber 1964,
    "Robust estimation of a location parameter".

    Args:
        x0: (N, ...).
        x1: The shape of ``x0``.
        delta: A number > 0.
        reduction: "mean" over the batch, "sum", or "none" for each difference.

    Returns:
        Variable of shape (); with "none", of the shape of ``x0``.

    Raises:
        TypeError: ``delta`` is no number.
        ValueError: ``delta`` is not above 0, the shapes differ, N is 0 and has no mean,
            or there is no such reduction.
    """
    x0, x1 = of_one_shape("huber", x0, x1, reduction)
    delta = as_number("huber", "delta", delta, above=0)
    d = x0 - x1
    c = clip(d, -delta, delta)
    return of_batch("huber", c * (d - c * 0.5), reduction)
