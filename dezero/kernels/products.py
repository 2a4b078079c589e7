"""Products of stacks of matrices on a GPU, read where they lie.

CuPy's own matmul copies an operand of more than two axes that is transposed. For one
that is shared, as the kernel of a convolution is by the batch, it makes arrays of
pointers, in three launches more. cuBLAS needs neither: a transposed matrix is a flag,
and the shared one is read again at steps of 0.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from dezero import cuda
from dezero.cuda import Array

Shape = tuple[int, ...]
MOST = 2**31 - 1  # as a leading dimension: cuBLAS takes an int


class Layout(NamedTuple):
    """How the matrices of a stack lie in memory, as cuBLAS wants to be told."""

    transposed: bool
    leading: int  # elements from row to row; of transposed ones, from column to column
    step: int  # elements from matrix to matrix


def matmul(
    a: Array, b: Array, out: Array | None = None, *, alpha: float = 1.0
) -> Array:
    """``alpha * a @ b`` for stacks of matrices, which broadcast.

    Args:
        a: (..., M, K), of a GPU.
        b: (..., K, N).
        out: Of the shape of the result, in C order; by default a new array.
        alpha: A factor, which costs no pass over memory.

    Returns:
        Array of shape (..., M, N), ``out`` if that is given.
    """
    xp = cuda.get_array_module(a)
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    M, K, N, count = a.shape[-2], b.shape[-2], b.shape[-1], math.prod(batch)
    if a.ndim == b.ndim == 2:
        # Of two axes CuPy copies nothing, and cuBLAS may cut a long sum in parts.
        y = xp.matmul(a, b, out=out)
        if alpha != 1:
            y *= alpha
        return y
    y = xp.empty((*batch, M, N), a.dtype) if out is None else out
    if (
        a.dtype == b.dtype == y.dtype
        and a.dtype.char in "fd"
        and a.shape[-1] == K
        and y.shape == (*batch, M, N)
        and y.flags.c_contiguous
        and M * K * N * count
    ):
        # By rows, y is what cuBLAS calls its transpose, y.T = b.T @ a.T.
        left, right = located(b, batch), located(a, batch)
        if left and right:
            sizes = N, M, K, count
            cuda.strided_gemm(left, right, (y, N, M * N), sizes, alpha)
            return y
    y = xp.matmul(a, b, out=out)
    if alpha != 1:
        y *= alpha
    return y


def located(x: Array, batch: Shape) -> tuple[Array, bool, int, int] | None:
    """``x`` and its layout, in a copy where it has none; None if that has none."""
    layout = layout_of(x.shape, x.strides, x.itemsize, batch)
    if layout is None and not x.flags.c_contiguous:
        x = cuda.get_array_module(x).ascontiguousarray(x)
        layout = layout_of(x.shape, x.strides, x.itemsize, batch)
    return None if layout is None else (x, *layout)


@functools.lru_cache(maxsize=512)
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape to which both broadcast; remembered, as a network asks for few."""
    return np.broadcast_shapes(a, b)


@functools.lru_cache(maxsize=512)
def layout_of(shape: Shape, strides: Shape, size: int, batch: Shape) -> Layout | None:
    """The layout of matrices that broadcast to the stack ``batch``.

    Args:
        shape: (..., rows, columns), none of them 0.
        strides: In bytes.
        size: Of an element.
        batch: The axes of the whole stack.

    Returns:
        None if the elements of neither rows nor columns lie beside each other, or the
        matrices are no fixed step apart.
    """
    *outer, rows, columns = shape
    *steps, along, across = [stride // size for stride in strides]
    if any([stride % size for stride in strides]):
        return None
    if columns == 1:  # along an axis of one element nothing goes anywhere
        across = 1
    if rows == 1:
        along = columns if across == 1 else 1
    if across == 1 and along >= columns:
        transposed, leading = False, along
    elif along == 1 and across >= rows:
        transposed, leading = True, across
    else:
        return None
    if leading > MOST:
        return None
    step, expected = 0, None
    missing = len(batch) - len(outer)
    whole = zip(
        reversed(batch),
        reversed([1] * missing + outer),
        reversed([0] * missing + steps),
        strict=True,
    )
    for count, n, stride in whole:
        if count == 1:
            continue
        stride = stride if n > 1 else 0
        if expected is None:
            step = stride
        elif stride != expected:
            return None
        expected = stride * count
    return None if step < 0 else Layout(transposed, leading, step)
