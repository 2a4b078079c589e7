"""Weighted mean, variance and standard deviation over axes."""

import numpy as np

from dezero.core import ArrayLike, Variable
from dezero.functions.broadcasting import broadcast_to
from dezero.functions.dtypes import as_variables, cast, wide
from dezero.functions.reduction import (
    Axis,
    Reduction,
    checked,
    count,
    kept_shape,
    mean,
    scale_of,
    sum,
)
from dezero.functions.safe import SafeDiv, SafeMul
from dezero.functions.shape import reshape

__all__ = ["Std", "Var", "average", "std", "var"]


def average(
    x: ArrayLike,
    axis: Axis = None,
    keepdims: bool = False,
    weights: ArrayLike | None = None,
) -> Variable:
    """Weighted mean ``y = sum(weights * x) / sum(weights)``; without weights, the mean.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.
        weights: The shape of ``x``; or one weight for each place along one ``axis``.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis or no element along it, or ``weights`` have
            another shape or add up to zero.
    """
    x, axis = checked("average", x, axis, empty=False)
    if weights is None:
        return mean(x, axis, keepdims)
    x, weights = as_variables(x, weights)
    if weights.shape != x.shape:
        if axis is None or len(axis) > 1 or weights.shape != (x.shape[axis[0]],):
            raise ValueError(
                f"average: expected weights of the shape {x.shape} of x, or as many as "
                f"one axis has places, got shape {weights.shape} and axis {axis}"
            )
        weights = reshape(weights, [-1 if i in axis else 1 for i in range(x.ndim)])
        weights = broadcast_to(weights, x.shape)
    dtype = np.result_type(x.dtype, weights.dtype)
    if (
        dtype.char == "e"
    ):  # the sums may be beyond its range where their quotient is not
        x, weights = cast(x, np.float32), cast(weights, np.float32)
    total = sum(weights, axis, keepdims)
    # A GPU would have to be waited for: there, the result is NaN or infinite.
    if isinstance(total.data, np.ndarray) and not total.data.all():
        raise ValueError("average: expected weights that do not add up to 0, got such")
    y = sum(x * weights, axis, keepdims) / total
    return cast(y, dtype) if dtype.char == "e" else y


# =============================================================================
# Variance and standard deviation
# =============================================================================


class Var(Reduction):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, axis=None, ddof=0, keepdims=False):
        super().__init__(axis, keepdims)
        self.ddof = ddof

    def forward(self, x):
        y = wide(x).var(axis=self.axis, ddof=self.ddof, keepdims=self.keepdims)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        x = self.inputs[0]
        n = count(x.shape, self.axis) - self.ddof
        gy = reshape(gy * (2 / n), kept_shape(x.shape, self.axis))
        return gy * (x - mean(x, self.axis, keepdims=True))


def var(
    x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> Variable:
    """Variance ``y = sum((x - mean(x))**2) / (n - ddof)`` over axes of n elements.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        ddof: 1 for the unbiased estimate from a sample.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes, floating for integers too.

    Raises:
        TypeError: ``ddof`` is no number.
        ValueError: ``x`` has no such axis, or not more than ``ddof`` elements along it.
    """
    x, axis = checked("var", x, axis, empty=False)
    _check_ddof("var", x, axis, ddof)
    return Var(axis, ddof, keepdims)(x)


class Std(Reduction):
    fresh_gradients = True

    def __init__(self, axis=None, ddof=0, keepdims=False):
        super().__init__(axis, keepdims)
        self.ddof = ddof

    def forward(self, x):
        d = wide(x)
        d = d - self.first(d)
        scale = scale_of(abs(d), self.axis)
        d /= scale
        y = d.std(axis=self.axis, ddof=self.ddof, keepdims=True) * scale
        if not self.keepdims:
            y = y.squeeze(axis=self.axis)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        x = self.inputs[0]
        if x.dtype.char == "e":  # differences may be beyond its range
            x = cast(x, np.float32)
        n = count(x.shape, self.axis) - self.ddof
        shape = kept_shape(x.shape, self.axis)
        d = x - self.first(x.data)
        d = d - mean(d, self.axis, keepdims=True)
        direction = SafeDiv(kink=True)(d, reshape(self.outputs[0](), shape))
        return SafeMul()(direction, reshape(gy * (1 / n), shape))

    def first(self, x):
        """The first element along the axes: without it, equal numbers are exactly 0.

        Their mean is rounded, and the rounding alone would make a direction of its own.
        """
        shape = kept_shape(x.shape, self.axis)
        first = x[tuple([slice(n) for n in shape])]
        return first if x.dtype.kind == "f" else first.astype(float)


def std(
    x: ArrayLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> Variable:
    """Standard deviation ``y = sqrt(var(x))``, of slope 0 where all are equal.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        ddof: 1 for the square root of the unbiased variance.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes, floating for integers too.

    Raises:
        TypeError: ``ddof`` is no number.
        ValueError: ``x`` has no such axis, or not more than ``ddof`` elements along it.
    """
    x, axis = checked("std", x, axis, empty=False)
    _check_ddof("std", x, axis, ddof)
    return Std(axis, ddof, keepdims)(x)


def _check_ddof(function, x, axis, ddof):
    n = count(x.shape, axis)
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise TypeError(
            f"{function}: expected a number as ddof, got {type(ddof).__name__}"
        )
    if n <= ddof:
        raise ValueError(
            f"{function}: expected more elements than ddof = {ddof}, got {n} in x of "
            f"shape {x.shape}"
        )
