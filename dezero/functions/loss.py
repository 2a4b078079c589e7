"""What losses have in common, and those of regression.

A loss is one number: how far predictions are from what they should be.
"""

from typing import Any

import numpy as np

from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.dtypes import cast, wide
from dezero.functions.reduction import sum

__all__ = [
    "MeanSquaredError",
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


def _of_one_shape(
    function: str, x0: ArrayLike, x1: ArrayLike
) -> tuple[Variable, Variable]:
    # Without the check a column and a vector would broadcast to a matrix.
    x0, x1 = floating_pair(x0, x1)
    if x0.shape != x1.shape:
        raise ValueError(
            f"{function}: expected two arrays of one shape, got {x0.shape} and "
            f"{x1.shape}"
        )
    batch_size(function, x0)
    return x0, x1


def mean_squared_error(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Sum of squares over the batch size: ``y = sum((x0 - x1)**2) / len(x0)``.

    Only the first axis is averaged over, the others are summed. For 0-d arrays it is
    the square itself.

    Args:
        x0: (N, ...).
        x1: The shape of ``x0``.

    Returns:
        Variable of shape ().

    Raises:
        ValueError: The shapes differ, or N is 0.
    """
    x0, x1 = _of_one_shape("mean_squared_error", x0, x1)
    return MeanSquaredError()(x0, x1)


def mean_squared_error_simple(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """:func:`mean_squared_error` as its formula says, to read and compare."""
    x0, x1 = _of_one_shape("mean_squared_error_simple", x0, x1)
    diff = x0 - x1
    return sum(diff**2) / batch_size("mean_squared_error_simple", diff)
