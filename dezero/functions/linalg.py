"""Products of vectors, matrices and stacks of matrices."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arithmetic import mul
from dezero.functions.axes import swapaxes, transpose
from dezero.functions.broadcasting import broadcasts, sum_to, sum_to_array
from dezero.functions.dtypes import as_variables
from dezero.functions.shape import as_axes, reshape
from dezero.kernels import products

__all__ = [
    "Linear",
    "MatMul",
    "dot",
    "inner",
    "linear",
    "linear_simple",
    "matmul",
    "outer",
    "tensordot",
]

# =============================================================================
# Matrix products
# =============================================================================


class MatMul(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, W):
        return _product(x, W)

    def backward(self, gy):
        x, W = self.inputs
        need_x, need_W = self.needs_grad
        if not Config.enable_backprop and x.ndim > 1 and W.ndim > 1:
            return _array_gradients(gy.data, x.data, W.data, need_x, need_W)
        # As in NumPy, a vector x is a matrix of one row and a vector W one of one
        # column; the result lacks that axis.
        x2 = reshape(x, (1, x.size)) if x.ndim == 1 else x
        W2 = reshape(W, (W.size, 1)) if W.ndim == 1 else W
        if x.ndim == 1 or W.ndim == 1:
            batch = gy.shape[: gy.ndim - (x.ndim > 1) - (W.ndim > 1)]
            gy = reshape(gy, (*batch, x2.shape[-2], W2.shape[-1]))
        gx = gW = None
        if need_x:
            gx = MatMul()(gy, _transposed(W2))  # (..., N, M) (..., M, K) -> (..., N, K)
        if need_W and W2.ndim == 2:  # one product, not a stack of products to add up
            gW = MatMul()(transpose(_rows(x2)), _rows(gy))  # (K, N) (N, M) -> (K, M)
        elif need_W:
            gW = MatMul()(_transposed(x2), gy)
        if need_W and W.ndim == 1:
            gW = reshape(gW, W.shape)
        return gx, gW

    def fit_gradient(self, gx, x):
        # A stack of gradients is summed over the axes that x was broadcast along.
        return super().fit_gradient(sum_to(gx, x.shape), x)


def matmul(x: ArrayLike, W: ArrayLike) -> Variable:
    """Matrix product ``y = x @ W`` by the rules of ``numpy.matmul``.

    Axes before the last two are a stack of matrices and broadcast. A vector counts as a
    matrix of one row (``x``) or one column (``W``), and the result lacks that axis.

    Args:
        x: (..., N, K) or (K,).
        W: (..., K, M) or (K,).

    Returns:
        Variable of shape (..., N, M), without N or M where a vector was given.

    Raises:
        ValueError: An operand is 0-d or the shapes do not fit.
    """
    x, W = as_variable(x), as_variable(W)
    if x.ndim == 0 or W.ndim == 0:
        raise ValueError(
            "matmul: expected arrays of at least one axis, got x of shape "
            f"{x.shape} and W of shape {W.shape}; a number is multiplied with *"
        )
    if x.shape[-1] != W.shape[-2 if W.ndim > 1 else 0]:
        raise ValueError(
            "matmul: expected as many columns in x as W has rows, got x of shape "
            f"{x.shape} and W of shape {W.shape}"
        )
    if x.ndim > 2 and W.ndim > 2:
        try:
            np.broadcast_shapes(x.shape[:-2], W.shape[:-2])
        except ValueError:
            raise ValueError(
                "matmul: expected stacks of matrices that broadcast, got x of shape "
                f"{x.shape} and W of shape {W.shape}"
            ) from None
    return MatMul()(x, W)


class Linear(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, W, b):
        y = _product(x, W)
        if b is None:
            return y
        if b.size == y.size:
            self.fresh_gradients = False  # the gradient of b may be gy itself
        if not np.can_cast(b.dtype, y.dtype):
            return y + b
        y += b  # nobody else has seen y yet
        return y

    def backward(self, gy):
        x, W, b = self.inputs
        need_x, need_W, need_b = self.needs_grad
        if not Config.enable_backprop:
            gx, gW = _array_gradients(gy.data, x.data, W.data, need_x, need_W)
            return gx, gW, sum_to_array(gy.data, b.shape) if need_b else None
        gx = gW = gb = None
        if need_x:
            gx = MatMul()(gy, transpose(W))  # (..., O) (O, D) -> (..., D)
        if need_W:
            gW = MatMul()(transpose(_rows(x)), _rows(gy))  # (D, N) (N, O) -> (D, O)
        if need_b:
            gb = sum_to(gy, b.shape)
        return gx, gW, gb


def linear(x: ArrayLike, W: ArrayLike, b: ArrayLike | None = None) -> Variable:
    """Affine map of the last axis: ``y = x @ W + b``.

    Args:
        x: (..., D); usually (N, D) or (N, T, D).
        W: (D, O).
        b: (O,), or None for no bias.

    Returns:
        Variable of shape (..., O).

    Raises:
        ValueError: The shapes do not fit.
    """
    x, W, b = _checked_linear("linear", x, W, b)
    return Linear()(x, W, b)


def linear_simple(x: ArrayLike, W: ArrayLike, b: ArrayLike | None = None) -> Variable:
    """:func:`linear` put together from :func:`matmul` and ``+``, to read."""
    x, W, b = _checked_linear("linear_simple", x, W, b)
    y = matmul(x, W)
    return y if b is None else y + b


def _checked_linear(
    function: str, x: ArrayLike, W: ArrayLike, b: ArrayLike | None
) -> tuple[Variable, Variable, Variable | None]:
    x, W = as_variable(x), as_variable(W)
    if b is not None and not isinstance(b, Variable):
        b = as_variables(x, W, b)[2]  # a number has no dtype of its own
    if (
        x.ndim == 0
        or W.ndim != 2
        or x.shape[-1] != W.shape[0]
        or (b is not None and not broadcasts(b.shape, (*x.shape[:-1], W.shape[1])))
    ):
        raise ValueError(
            f"{function}: expected x (..., D), W (D, O) and b (O,), got x of "
            f"shape {x.shape}, W of shape {W.shape} and b "
            + ("None" if b is None else f"of shape {b.shape}")
        )
    return x, W, b


def _product(x: Array, W: Array) -> Array:
    """``x @ W`` on arrays, in one call of BLAS where there is one matrix W."""
    xp = cuda.get_array_module(x)
    # NumPy does not hand repeated rows (the gradient of a sum, say) to BLAS: 100 times
    # slower than a copy.
    x, W = (xp.ascontiguousarray(a) if 0 in a.strides[-2:] else a for a in (x, W))
    if x.ndim > 2 and W.ndim == 2:  # (..., N, K) -> (N', K), one large product
        y = xp.matmul(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), W)
        return y.reshape(*x.shape[:-1], W.shape[1])
    if xp is not np and min(x.ndim, W.ndim) > 1:
        return products.matmul(x, W)
    return xp.matmul(x, W)


def _array_gradients(
    gy: Array, x: Array, W: Array, need_x: bool, need_W: bool
) -> tuple[Array | None, Array | None]:
    """The gradients of ``x @ W``, neither of them a vector, as plain arrays.

    Where nothing is recorded: without a Function for each product and each transposed
    array, whose calls take 7 % of a step of a small MLP.
    """
    gx = gW = None
    if need_x:
        gx = _product(gy, W.swapaxes(-1, -2))
    if need_W and W.ndim == 2:
        x2 = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
        gW = _product(x2.T, gy.reshape(len(x2), W.shape[1]))
    elif need_W:
        gW = _product(x.swapaxes(-1, -2), gy)
    return gx, gW


def _rows(x: Variable) -> Variable:
    """``x`` as one matrix: (..., D) -> (N, D)."""
    if x.ndim == 2:
        return x
    return reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


def _transposed(x: Variable) -> Variable:
    return transpose(x) if x.ndim == 2 else swapaxes(x, -1, -2)


# =============================================================================
# Products made of these
# =============================================================================


def dot(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Dot product by the rules of ``numpy.dot``.

    The sum of products over the last axis of ``x0`` and the last but one of ``x1`` (its
    only one, if it is a vector). It is :func:`matmul` as long as neither has more than
    two axes; a 0-d array or a number multiplies.

    Args:
        x0: (..., K).
        x1: (..., K, M) or (K,).

    Returns:
        Variable of shape ``x0.shape[:-1] + x1.shape[:-2] + x1.shape[-1:]``.

    Raises:
        ValueError: The shapes do not fit.
    """
    if np.ndim(x0) == 0 or np.ndim(x1) == 0:
        return mul(x0, x1)
    x0, x1 = as_variable(x0), as_variable(x1)
    if x0.shape[-1] != x1.shape[-2 if x1.ndim > 1 else 0]:
        raise ValueError(
            "dot: expected as many columns in x0 as x1 has rows, got x0 of shape "
            f"{x0.shape} and x1 of shape {x1.shape}"
        )
    if x1.ndim <= 2:
        return matmul(x0, x1)
    return _tensordot("dot", x0, x1, ((-1,), (-2,)))


def tensordot(
    x0: ArrayLike,
    x1: ArrayLike,
    axes: int | Sequence[int | Sequence[int]] = 2,
) -> Variable:
    """Sum of products over chosen axes of two arrays, as ``numpy.tensordot``.

    Args:
        x0: Any shape.
        x1: Any shape.
        axes: A number n: the last n axes of ``x0`` against the first n of ``x1``. Or a
            pair: the axes of ``x0`` and, in the same order, those of ``x1``.

    Returns:
        Variable whose shape is the remaining axes of ``x0``, then those of ``x1``.

    Raises:
        TypeError: ``axes`` is neither an integer nor a pair.
        ValueError: An axis does not exist, or the sizes differ.
    """
    x0, x1 = as_variables(x0, x1)
    return _tensordot("tensordot", x0, x1, axes)


def _tensordot(function: str, x0: Variable, x1: Variable, axes: Any) -> Variable:
    pair = axes
    if isinstance(axes, (int, np.integer)):
        n = int(axes)
        most = min(x0.ndim, x1.ndim)
        if not 0 <= n <= most:
            raise ValueError(
                f"{function}: expected axes in [0, {most}], got {n} for shapes "
                f"{x0.shape} and {x1.shape}"
            )
        pair = tuple(range(x0.ndim - n, x0.ndim)), tuple(range(n))
    if not isinstance(pair, (tuple, list)):
        raise TypeError(
            f"{function}: expected a number or a pair of axes, "
            f"got {type(axes).__name__}"
        )
    if len(pair) != 2:
        raise ValueError(f"{function}: expected a number or a pair of axes, got {axes}")
    axes0 = as_axes(function, pair[0], x0.shape)
    axes1 = as_axes(function, pair[1], x1.shape)
    if [x0.shape[i] for i in axes0] != [x1.shape[i] for i in axes1]:
        raise ValueError(
            f"{function}: expected equal sizes along axes {axes0} of shape {x0.shape} "
            f"and axes {axes1} of shape {x1.shape}"
        )
    free0 = [i for i in range(x0.ndim) if i not in axes0]
    free1 = [i for i in range(x1.ndim) if i not in axes1]
    shape0 = [x0.shape[i] for i in free0]
    shape1 = [x1.shape[i] for i in free1]
    K = math.prod(x0.shape[i] for i in axes0)
    m0 = reshape(transpose(x0, [*free0, *axes0]), (math.prod(shape0), K))
    m1 = reshape(transpose(x1, [*axes1, *free1]), (K, math.prod(shape1)))
    return reshape(matmul(m0, m1), (*shape0, *shape1))


def outer(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Products of each element of ``x0`` with each of ``x1``: ``y_ij = x0_i * x1_j``.

    Args:
        x0: Any shape with N elements.
        x1: Any shape with M elements.

    Returns:
        Variable of shape (N, M).
    """
    x0, x1 = as_variables(x0, x1)
    return reshape(x0, (x0.size, 1)) * reshape(x1, (1, x1.size))


def inner(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Sum of products over the last axes, as ``numpy.inner``; a 0-d array multiplies.

    Args:
        x0: (..., K).
        x1: (..., K).

    Returns:
        Variable of shape ``x0.shape[:-1] + x1.shape[:-1]``.

    Raises:
        ValueError: The last axes differ in size.
    """
    if np.ndim(x0) == 0 or np.ndim(x1) == 0:
        return mul(x0, x1)
    x0, x1 = as_variable(x0), as_variable(x1)
    if x0.shape[-1] != x1.shape[-1]:
        raise ValueError(
            "inner: expected last axes of equal size, got shapes "
            f"{x0.shape} and {x1.shape}"
        )
    return _tensordot("inner", x0, x1, ((-1,), (-1,)))
