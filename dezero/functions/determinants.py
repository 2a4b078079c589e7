"""Determinants, and their logarithms; each for stacks of matrices."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable, using_config
from dezero.cuda import Array
from dezero.functions.decompositions import (
    Inv,
    as_squares,
    floating_dtype,
    for_lapack,
    transposed,
)
from dezero.functions.dtypes import cast
from dezero.functions.linalg import matmul
from dezero.functions.recomputing import recorded_gradients
from dezero.functions.reduction import sum
from dezero.functions.shape import reshape

__all__ = [
    "Cofactor",
    "CofactorGrad",
    "Det",
    "LogAbsDet",
    "det",
    "slogdet",
]


class Det(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        xp = cuda.get_array_module(x)
        with np.errstate(invalid="ignore"):  # of NaN comes NaN, as from inv
            return xp.asarray(xp.linalg.det(x))

    def backward(self, gy):
        x = self.inputs[0]
        return _spread(gy) * Cofactor()(x)


class Cofactor(Function):
    """The derivatives of det; with them det is polynomial at singular matrices too.

    By ``x = U @ diag(s) @ Vt``: ``det(x) = r * prod(s)`` with ``r = det(U) * det(Vt)``,
    and ``C = r * U @ diag(prod of the other s) @ Vt``, without a quotient.
    """

    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        U, s, Vt, r = _singular_values(x)
        before, after = _running_products(s)
        others = before * after
        return (r[..., None, None] * U * others[..., None, :]) @ Vt

    def backward(self, gC):
        return CofactorGrad()(self.inputs[0], gC)


class CofactorGrad(Function):
    """The gradient of ``sum(gC * Cofactor(x))`` by x.

    In the axes of the singular vectors, with ``H = U.T @ gC @ V`` and ``P[i, j]`` the
    product of all s but s[i] and s[j], the terms of second order in ``det(s + E)`` are
    ``P[i, j] * (E[i, i] * E[j, j] - E[i, j] * E[j, i])``.
    """

    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, gC):
        xp = cuda.get_array_module(x)
        U, s, Vt, r = _singular_values(x)
        H = xp.swapaxes(U, -1, -2) @ gC @ xp.swapaxes(Vt, -1, -2)
        P = _products_of_others(s)
        M = -P * xp.swapaxes(H, -1, -2)
        diagonal = xp.diagonal(H, axis1=-2, axis2=-1)
        M += xp.eye(s.shape[-1], dtype=x.dtype) * (P @ diagonal[..., None])
        return r[..., None, None] * (U @ M @ Vt)

    def backward(self, gx):
        # Third order: where x is invertible, C = det(x) * inv(x).T says it all.
        with using_config("enable_backprop", True):  # to compose it, at least
            return recorded_gradients(
                _cofactor_gradient, self.inputs, self.needs_grad, [gx]
            )


def _cofactor_gradient(x, gC):
    W = transposed(Inv("det, third derivative")(x))
    inside = sum(gC * W, axis=(-2, -1), keepdims=True)
    gx = _spread(Det()(x)) * (inside * W - matmul(matmul(W, transposed(gC)), W))
    return (gx,)


def _singular_values(x: Array) -> tuple[Array, Array, Array, Array]:
    """``U, s, Vt`` of ``x = U @ diag(s) @ Vt``, and ``det(U) * det(Vt)``.

    A matrix with elements that are not finite, which LAPACK refuses, has s of NaN.
    """
    xp = cuda.get_array_module(x)
    finite = xp.isfinite(x).all(axis=(-2, -1))[..., None]
    U, s, Vt = xp.linalg.svd(xp.where(finite[..., None], x, x.dtype.type(0)))
    s = xp.where(finite, s, x.dtype.type(np.nan))
    r = xp.sign(xp.linalg.det(U) * xp.linalg.det(Vt))
    return U, s, Vt, xp.asarray(r, dtype=x.dtype)


def _running_products(s: Array) -> tuple[Array, Array]:
    """For each i, the product of all ``s`` before ``s[i]``, and of all after it."""
    xp = cuda.get_array_module(s)
    N = s.shape[-1]
    ones = xp.ones_like(s[..., :1])
    before = xp.cumprod(xp.concatenate([ones, s], axis=-1), axis=-1)[..., :N]
    after = xp.cumprod(xp.concatenate([ones, s[..., ::-1]], axis=-1), axis=-1)
    return before, after[..., :N][..., ::-1]


def _products_of_others(s: Array) -> Array:
    """For each i and j, the product of all ``s`` but ``s[i]`` and ``s[j]``; 0 if i = j.

    Without quotients, for an s may be 0. (..., N) -> (..., N, N)
    """
    xp = cuda.get_array_module(s)
    before, after = _running_products(s)
    upper = xp.triu(xp.ones((s.shape[-1],) * 2, dtype=bool), 1)
    # Those between i and j > i: in each row a running product that starts behind i.
    rows = xp.where(upper, s[..., None, :], s.dtype.type(1))
    between, _ = _running_products(rows)
    zero = s.dtype.type(0)
    P = xp.where(upper, before[..., :, None] * between * after[..., None, :], zero)
    return P + xp.swapaxes(P, -1, -2)


def det(x: ArrayLike) -> Variable:
    """Determinant of each matrix; its gradient is the cofactor matrix.

    That is ``det(x) * inv(x).T``, and finite where x is singular: it and the second
    derivative come from a singular value decomposition and are right at any rank. Third
    derivatives need an invertible x.

    Args:
        x: (..., N, N). Half precision is computed in single, integers in double.

    Returns:
        Variable of shape (...).

    Raises:
        ValueError: The last two axes differ.
    """
    x = as_squares("det", "x", x)
    return cast(Det()(for_lapack(x)), floating_dtype(x))


class LogAbsDet(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        xp = cuda.get_array_module(x)
        with np.errstate(invalid="ignore"):  # as in Det
            self.sign, y = xp.linalg.slogdet(x)
        return xp.asarray(y)

    def backward(self, gy):
        return _spread(gy) * transposed(Inv("slogdet, gradient")(self.inputs[0]))


def slogdet(x: ArrayLike) -> tuple[Variable, Variable]:
    """Sign and logarithm of the determinant: ``det(x) = sign * exp(logabsdet)``.

    It neither overflows nor underflows. The gradient of ``logabsdet`` is ``inv(x).T``;
    ``sign`` is a constant. For a singular matrix they are 0 and ``-inf``, and there is
    no gradient.

    Args:
        x: (..., N, N). Half precision is computed in single, integers in double.

    Returns:
        ``sign`` and ``logabsdet``, Variables of shape (...).

    Raises:
        LinAlgError: In backward: a matrix is singular. It is a ValueError.
        ValueError: The last two axes differ.
    """
    x = as_squares("slogdet", "x", x)
    node = LogAbsDet()
    dtype = floating_dtype(x)
    y = cast(node(for_lapack(x)), dtype)
    xp = cuda.get_array_module(x)
    return as_variable(xp.asarray(node.sign, dtype=dtype)), y


def _spread(x: Variable) -> Variable:
    """One number per matrix, to multiply the matrices with: (...) -> (..., 1, 1)."""
    return reshape(x, (*x.shape, 1, 1))
