"""Elements in another order along an axis, and the parts of matrices."""

from collections.abc import Sequence

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.indexing import get_item
from dezero.functions.lookup import take_along_axis
from dezero.functions.shape import (
    as_axes,
    as_axis,
    as_integer,
    as_shape,
    ravel,
    reshape,
)

__all__ = [
    "Diagonal",
    "DiagonalGrad",
    "Roll",
    "Tril",
    "Triu",
    "diag",
    "diagonal",
    "flip",
    "roll",
    "sort",
    "tril",
    "triu",
]

# =============================================================================
# Another order
# =============================================================================


def flip(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Variable:
    """The elements in reverse order: ``y[i] = x[n - 1 - i]``.

    Args:
        x: Any shape.
        axis: The axis or axes to reverse; by default all.

    Returns:
        Variable with a view of the data.

    Raises:
        ValueError: There is no such axis, or one is there twice.
    """
    x = as_variable(x)
    axes = range(x.ndim) if axis is None else as_axes("flip", axis, x.shape)
    back, same = slice(None, None, -1), slice(None)
    return get_item(x, tuple([back if i in axes else same for i in range(x.ndim)]))


class Roll(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, shifts, axes):
        self.shifts = shifts
        self.axes = axes

    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.roll(x, self.shifts, self.axes)

    def backward(self, gy):
        return Roll(tuple([-shift for shift in self.shifts]), self.axes)(gy)


def roll(
    x: ArrayLike,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
) -> Variable:
    """The elements shifted along an axis; what leaves at one end enters at the other.

    ``y[(i + shift) % n] = x[i]``.

    Args:
        x: Any shape.
        shift: By how many places, one number or one for each axis.
        axis: The axis or axes to shift along; by default all elements are shifted
            in the order of ``ravel``.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``shift`` or ``axis`` are no integers.
        ValueError: There is no such axis, or their number does not fit that of the
            shifts.
    """
    x = as_variable(x)
    shifts = as_shape("roll", shift)
    if axis is None:
        return reshape(Roll((sum(shifts),), (0,))(ravel(x)), x.shape)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple([as_axis("roll", i, x.shape) for i in given])
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    elif len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(
            f"roll: expected one shift for each axis, got {shift} for {axis}"
        )
    return Roll(shifts, axes)(x)


def sort(x: ArrayLike, axis: int | None = -1) -> Variable:
    """The elements in rising order; NaN come last.

    The gradient of each place goes to the element that was put there; equal elements
    keep their order.

    Args:
        x: Any shape.
        axis: The axis to sort along; with None, ``x`` is raveled first.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        ValueError: There is no such axis.
    """
    x = as_variable(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = as_axis("sort", axis, x.shape)
    xp = cuda.get_array_module(x.data)
    return take_along_axis(x, xp.argsort(x.data, axis=axis, kind="stable"), axis)


# =============================================================================
# Parts of matrices
# =============================================================================


class Tril(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, k):
        self.k = k

    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.tril(x, self.k)

    def backward(self, gy):
        return Tril(self.k)(gy)


def tril(x: ArrayLike, k: int = 0) -> Variable:
    """The lower triangle of matrices, zeros above.

    ``y[..., i, j] = x[..., i, j] if j <= i + k else 0``.

    Args:
        x: Matrices (..., m, n).
        k: The last diagonal to keep: 0 the main one, positive ones lie above it.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``k`` is no integer.
        ValueError: ``x`` has fewer than two axes.
    """
    return Tril(as_integer("tril", "k", k))(_matrices("tril", x))


class Triu(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, k):
        self.k = k

    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.triu(x, self.k)

    def backward(self, gy):
        return Triu(self.k)(gy)


def triu(x: ArrayLike, k: int = 0) -> Variable:
    """The upper triangle of matrices, zeros below.

    ``y[..., i, j] = x[..., i, j] if j >= i + k else 0``.

    Args:
        x: Matrices (..., m, n).
        k: The first diagonal to keep: 0 the main one, positive ones lie above it.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``k`` is no integer.
        ValueError: ``x`` has fewer than two axes.
    """
    return Triu(as_integer("triu", "k", k))(_matrices("triu", x))


def _matrices(function: str, x: ArrayLike) -> Variable:
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(
            f"{function}: expected at least two axes, got x of shape {x.shape}"
        )
    return x


class Diagonal(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, offset, axis1, axis2):
        self.where = offset, axis1, axis2

    def forward(self, x):
        self.x_shape = x.shape
        return x.diagonal(*self.where)

    def backward(self, gy):
        return DiagonalGrad(self.x_shape, *self.where)(gy)


class DiagonalGrad(Function):
    """Zeros but for one diagonal, which is the input."""

    reads_inputs = False
    reads_outputs = False

    def __init__(self, x_shape, offset, axis1, axis2):
        self.x_shape = x_shape
        self.where = offset, axis1, axis2

    def forward(self, gy):
        xp = cuda.get_array_module(gy)
        offset, axis1, axis2 = self.where
        gx = xp.zeros(self.x_shape, gy.dtype)
        i = xp.arange(gy.shape[-1])
        # A view with the two axes in front: (m, n, ...); the diagonal is (size, ...).
        matrix = xp.moveaxis(gx, (axis1, axis2), (0, 1))
        matrix[i + max(-offset, 0), i + max(offset, 0)] = xp.moveaxis(gy, -1, 0)
        return gx

    def backward(self, ggx):
        return diagonal(ggx, *self.where)


def diagonal(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """One diagonal of matrices: ``y[..., i] = x[..., i, i + offset]``.

    Args:
        x: At least two axes.
        offset: Which diagonal: 0 the main one, positive ones lie above it.
        axis1: The axis of the rows.
        axis2: The axis of the columns.

    Returns:
        Variable whose last axis is the diagonal, in place of the two axes.

    Raises:
        TypeError: ``offset`` or an axis is no integer.
        ValueError: There is no such axis, or the two are one.
    """
    x = _matrices("diagonal", x)
    axis1, axis2 = as_axes("diagonal", (axis1, axis2), x.shape)
    offset = as_integer("diagonal", "offset", offset)
    return Diagonal(offset, axis1, axis2)(x)


def diag(x: ArrayLike, k: int = 0) -> Variable:
    """The diagonal of a matrix, or the matrix with this diagonal and zeros beside it.

    Args:
        x: A matrix (m, n), or a vector (n,).
        k: Which diagonal: 0 the main one, positive ones lie above it.

    Returns:
        Variable, the diagonal of a matrix, or the matrix of a vector, whose sides are
        ``n + abs(k)``.

    Raises:
        TypeError: ``k`` is no integer.
        ValueError: ``x`` has neither one axis nor two.
    """
    x = as_variable(x)
    k = as_integer("diag", "k", k)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag: expected one axis or two, got x of shape {x.shape}")
    n = x.size + abs(k)
    return DiagonalGrad((n, n), k, 0, 1)(x)
