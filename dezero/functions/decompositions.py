"""Linear systems: inverse, solution, Cholesky factor; each for stacks of matrices."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arranging import tril
from dezero.functions.axes import swapaxes
from dezero.functions.broadcasting import sum_to
from dezero.functions.dtypes import cast
from dezero.functions.linalg import matmul
from dezero.functions.shape import reshape

__all__ = ["Cholesky", "Inv", "Solve", "cholesky", "inv", "solve"]

# =============================================================================
# Matrices as arguments
# =============================================================================


def as_squares(function: str, name: str, x: ArrayLike) -> Variable:
    """``x`` as a Variable of square matrices.

    Raises:
        ValueError: It is none.
    """
    x = as_variable(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(
            f"{function}: expected square matrices (..., N, N), got {name} of shape "
            f"{x.shape}"
        )
    return x


def floating_dtype(x: Variable) -> Any:
    """The dtype of results: that of ``x``, double precision for integers."""
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)


def for_lapack(x: Variable) -> Variable:
    """``x`` in a dtype that LAPACK knows."""
    return cast(x, np.float32 if x.dtype == np.float16 else floating_dtype(x))


def transposed(x: Variable) -> Variable:
    """Each matrix with rows and columns exchanged."""
    return swapaxes(x, -1, -2)


def refusing_singular(function: str, x: Array, compute: Any) -> Array:
    """``compute(xp)``, with a message of ours.

    Raises:
        LinAlgError: A matrix in ``x`` is singular.
    """
    try:
        return compute(cuda.get_array_module(x))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(
            f"{function}: expected invertible matrices, got a singular one in an array "
            f"of shape {x.shape}"
        ) from None


# =============================================================================
# Inverse and solution
# =============================================================================


class Inv(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, function="inv"):
        self.function = function  # that messages name

    def forward(self, x):
        return refusing_singular(self.function, x, lambda xp: xp.linalg.inv(x))

    def backward(self, gy):
        yt = transposed(self.outputs[0]())
        return -matmul(matmul(yt, gy), yt)


def inv(x: ArrayLike) -> Variable:
    """Inverse of each matrix: ``y @ x = I``; its gradient is ``-y.T @ gy @ y.T``.

    To solve a system, :func:`solve` is faster and more accurate.

    Args:
        x: (..., N, N). Half precision is computed in single, integers in double.

    Returns:
        Variable of shape (..., N, N).

    Raises:
        LinAlgError: A matrix is singular, to the last bit (on a GPU the result is not
            finite instead). It is a ValueError.
        ValueError: The last two axes differ.
    """
    x = as_squares("inv", "x", x)
    return cast(Inv()(for_lapack(x)), floating_dtype(x))


class Solve(Function):
    fresh_gradients = True

    def forward(self, A, b):
        batch = np.broadcast_shapes(A.shape[:-2], b.shape[:-2])
        xp = cuda.get_array_module(A)
        if xp is not np:  # CuPy's solve broadcasts nothing
            A = xp.broadcast_to(A, batch + A.shape[-2:])
            b = xp.broadcast_to(b, batch + b.shape[-2:])
        return refusing_singular("solve", A, lambda xp: xp.linalg.solve(A, b))

    def backward(self, gy):
        A, y = self.inputs[0], self.outputs[0]()
        gb = Solve()(transposed(A), gy)
        gA = -matmul(gb, transposed(y)) if self.needs_grad[0] else None
        return gA, gb

    def fit_gradient(self, gx, x):
        # A stack of gradients is summed over the axes that x was broadcast along.
        return super().fit_gradient(sum_to(gx, x.shape), x)


def solve(A: ArrayLike, b: ArrayLike) -> Variable:
    """The solution y of ``A @ y = b``, for each matrix of a stack.

    Axes before the last two are a stack and broadcast. As in NumPy 2, ``b`` is a vector
    only if it has a single axis. The gradients are ``gb = solve(A.T, gy)`` and
    ``gA = -gb @ y.T``.

    Args:
        A: (..., N, N). Half precision is computed in single, integers in double.
        b: (N,), or (..., N, K): K systems at once.

    Returns:
        Variable of shape (..., N) or (..., N, K).

    Raises:
        LinAlgError: A matrix is singular, to the last bit (on a GPU the result is not
            finite instead). It is a ValueError.
        ValueError: The shapes do not fit.
    """
    A, b = as_squares("solve", "A", A), as_variable(b)
    rows = b.shape[-2 if b.ndim > 1 else -1] if b.ndim else None
    if rows != A.shape[-1]:
        raise ValueError(
            "solve: expected b (N,) or (..., N, K) for A (..., N, N), got A of shape "
            f"{A.shape} and b of shape {b.shape}"
        )
    try:
        np.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            "solve: expected stacks of matrices that broadcast, got A of shape "
            f"{A.shape} and b of shape {b.shape}"
        ) from None
    dtype = np.result_type(floating_dtype(A), floating_dtype(b))
    B = reshape(b, (b.size, 1)) if b.ndim == 1 else b
    y = cast(Solve()(for_lapack(A), for_lapack(B)), dtype)
    return reshape(y, y.shape[:-1]) if b.ndim == 1 else y


# =============================================================================
# Cholesky factor
# =============================================================================


class Cholesky(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        xp = cuda.get_array_module(x)
        try:
            # cuSOLVER leaves half a factor behind, and no NaN: it must be asked.
            with cuda.linalg_errors(xp):
                return xp.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                "cholesky: expected positive definite matrices, got one that is not, "
                f"in x of shape {x.shape}"
            ) from None

    def backward(self, gy):
        L = self.outputs[0]()
        Lt = transposed(L)
        xp = cuda.get_array_module(L)
        half = 1 - 0.5 * xp.eye(L.shape[-1], dtype=L.dtype)  # of the diagonal
        P = tril(matmul(Lt, tril(gy))) * half
        S = Solve()(Lt, transposed(Solve()(Lt, transposed(P))))  # L^-T P L^-1
        return (S + transposed(S)) * 0.5


def cholesky(x: ArrayLike) -> Variable:
    """Lower triangular L with ``L @ L.T = x``, for each matrix of a stack.

    ``x`` is taken to be symmetric: only the lower triangle is read, as in NumPy. The
    gradient is symmetric too, half of an off-diagonal element's in each triangle, which
    is right for every x made by a function that gives symmetric matrices. With
    ``P = tril(L.T @ gL)``, its diagonal halved, it is the symmetric part of
    ``L^-T @ P @ L^-1``. Murray 2016, "Differentiation of the Cholesky decomposition",
    equation 10, after Smith 1995, "Differentiation of the Cholesky algorithm".

    Args:
        x: (..., N, N). Half precision is computed in single, integers in double.

    Returns:
        Variable of shape (..., N, N).

    Raises:
        LinAlgError: A matrix is not positive definite. It is a ValueError.
        ValueError: The last two axes differ.
    """
    x = as_squares("cholesky", "x", x)
    return cast(Cholesky()(for_lapack(x)), floating_dtype(x))
