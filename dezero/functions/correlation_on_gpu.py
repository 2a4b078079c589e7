"""The products of :mod:`dezero.functions.correlation` by cuBLAS and fused kernels.

The columns of one image are a matrix (C*K, P), K taps and P places. They lie in memory
image after image, and a product takes the kernel to each of them; or side by side, as
one matrix (C*K, n*P) of n images. Then there is one large product in place of n, also
where channels are in groups; but its other side, or its result, has the images side by
side too, and is to be turned round. How that compares was worked out from the bytes
that are moved, not measured.

Where each channel has a group of its own there are no columns at all.
"""

import math

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.functions.windows import Window
from dezero.kernels import depthwise, products
from dezero.kernels import windows as kernels

PART = 1 << 26  # elements of the columns that are made at a time
# With fewer places an image leaves a part of each tile, in which a GPU multiplies,
# empty.
TILE = 128


def correlate(
    x: Array,
    W: Array,
    window: Window,
    groups: int,
    dtype: np.dtype,
    out: Array | None = None,
) -> Array:
    """See there; the products are computed in ``dtype``.

    Returns:
        Array of shape (N, O, *places), ``out`` if that is given.
    """
    xp = cuda.get_array_module(x)
    (N, C), O, P = x.shape[:2], len(W), math.prod(window.places)
    y = xp.empty((N, O, *window.places), dtype) if out is None else out
    if C == groups > 1:
        x, W = xp.ascontiguousarray(x), xp.ascontiguousarray(W)
        return depthwise.depthwise(x, W, *kernels.numbers(window), C, O // C, y)
    parts = _parts(N, C, window)
    if len(parts) > 1:
        for part in parts:
            correlate(x[part], W, window, groups, dtype, y[part])
        return y
    rows = _rows(W, groups, dtype)  # (G, O/G, C/G*K)
    beside = _is_beside(window, groups)
    column = _columns(x, window, dtype, beside)
    if beside:
        column = column.reshape(*rows.shape[:-2], rows.shape[-1], N * P)
        product = products.matmul(rows, column)  # (G, O/G, N*P)
        y[...] = product.reshape(O, N, *window.places).swapaxes(0, 1)
    else:
        column = column.reshape(N, rows.shape[-1], P)
        products.matmul(rows, column, y.reshape(N, O, P))
    return y


def correlate_transposed(
    y: Array,
    W: Array,
    window: Window,
    groups: int,
    dtype: np.dtype,
    out: Array | None = None,
) -> Array:
    """Likewise.

    Returns:
        Array of shape (N, C, *sizes), ``out`` if that is given.
    """
    xp = cuda.get_array_module(y)
    (N, O), C, P = y.shape[:2], W.shape[1] * groups, math.prod(window.places)
    x = xp.empty((N, C, *window.sizes), dtype) if out is None else out
    if C == groups > 1:
        y, W = xp.ascontiguousarray(y), xp.ascontiguousarray(W)
        numbers = kernels.numbers(window)
        return depthwise.depthwise_transposed(y, W, *numbers, C, O // C, x)
    parts = _parts(N, C, window)
    if len(parts) > 1:
        for part in parts:
            correlate_transposed(y[part], W, window, groups, dtype, x[part])
        return x
    rows = _rows(W, groups, dtype).swapaxes(-1, -2)  # (G, C/G*K, O/G)
    beside = _is_beside(window, groups)
    if beside:
        y = _beside(y, groups, dtype)  # (G, O/G, N*P)
    else:
        y = xp.ascontiguousarray(y, dtype).reshape(N, O, P)
        if window.is_pointwise and window.sizes == window.places:
            products.matmul(rows, y, x.reshape(N, C, P))
            return x
    column = products.matmul(rows, y)  # (G, C/G*K, N*P), or (N, C*K, P)
    images = max(N, 1) if beside else 1
    kernels.add_columns(column, *kernels.numbers(window), C, images, True, x)
    return x


def correlate_kernel(
    x: Array, y: Array, window: Window, groups: int, dtype: np.dtype
) -> Array:
    """Likewise.

    Returns:
        Array of shape (O, C/groups, *kernel).
    """
    xp = cuda.get_array_module(x)
    (N, C), O, P = x.shape[:2], y.shape[1], math.prod(window.places)
    if C == groups > 1:
        x, y = xp.ascontiguousarray(x), xp.ascontiguousarray(y)
        W = xp.empty((N, O, 1, *window.kernel), dtype)
        depthwise.depthwise_kernel(x, y, *kernels.numbers(window), O // C, W)
        return W.sum(axis=0)
    parts = _parts(N, C, window)
    if len(parts) > 1:
        total = None
        for part in parts:
            W = correlate_kernel(x[part], y[part], window, groups, dtype)
            total = W if total is None else xp.add(total, W, out=total)
        return total
    CK = C // groups * math.prod(window.kernel)
    # Else N products as large as W are written, and read again to be added up.
    beside = groups > 1 or P < CK
    column = _columns(x, window, dtype, beside)
    if beside:
        y = _beside(y, groups, dtype)  # (G, O/G, N*P)
        column = column.reshape(*y.shape[:-2], CK, N * P)
        W = products.matmul(y, column.swapaxes(-1, -2))  # (G, O/G, C/G*K)
    else:
        y = xp.ascontiguousarray(y, dtype).reshape(N, O, P)
        column = column.reshape(N, CK, P)
        W = products.matmul(y, column.swapaxes(1, 2)).sum(axis=0)
    return W.reshape(O, C // groups, *window.kernel)


# =============================================================================
# Columns
# =============================================================================


def fill_columns(column: Array, x: Array, window: Window, images: int = 1) -> Array:
    """Copy to each tap of the columns what it meets, or 0.

    Args:
        column: (N, C, *kernel, *places) for one image after the other. With so many
            ``images`` side by side, (N/images, C, *kernel, images, *places).
        x: (N, C, *sizes).
        window: Of these sizes and places.
        images: As many lie side by side.

    Returns:
        ``column``.
    """
    x = cuda.get_array_module(x).ascontiguousarray(x)
    size = math.prod(x.shape[:2] + window.places)
    numbers = kernels.numbers(window)
    return kernels.fill_columns(x, *numbers, x.shape[1], images, column, size=size)


def add_columns(x: Array, column: Array, window: Window) -> Array:
    """Add each tap of columns (N, C, *kernel, *places) to what it meets in ``x``."""
    column = cuda.get_array_module(x).ascontiguousarray(column)
    numbers = kernels.numbers(window)
    return kernels.add_columns(column, *numbers, x.shape[1], 1, False, x)


def _columns(x: Array, window: Window, dtype: np.dtype, beside: bool) -> Array:
    """N*C*K*P elements; all images side by side, or one after the other."""
    xp = cuda.get_array_module(x)
    N, C = x.shape[:2]
    if window.is_pointwise and not beside:
        if window.sizes != window.places:
            x = x[window.taps[0].image]
        return xp.ascontiguousarray(x, dtype)
    size = N * C * math.prod(window.kernel) * math.prod(window.places)
    images = max(N, 1) if beside else 1
    return fill_columns(xp.empty(size, dtype), x, window, images)


def _parts(N: int, C: int, window: Window) -> list[slice]:
    """The parts of the batch whose columns are made at a time."""
    each = C * math.prod(window.kernel) * math.prod(window.places)
    n = max(1, PART // max(1, each))
    return [slice(start, min(start + n, N)) for start in range(0, N, n)]


def _is_beside(window: Window, groups: int) -> bool:
    """Are images better laid side by side?"""
    return groups > 1 or math.prod(window.places) < TILE


def _rows(W: Array, groups: int, dtype: np.dtype) -> Array:
    """(O, C/G, *kernel) -> (G, O/G, C/G*K), or (O, C*K) without groups."""
    W = cuda.get_array_module(W).ascontiguousarray(W, dtype)
    stack = (groups,) if groups > 1 else ()
    return W.reshape(*stack, len(W) // groups, math.prod(W.shape[1:]))


def _beside(y: Array, groups: int, dtype: np.dtype) -> Array:
    """(N, O, *places) -> (G, O/G, N*P) or (O, N*P), in a copy: images side by side."""
    N, O, *places = y.shape
    turned = cuda.get_array_module(y).empty((O, N, *places), dtype)
    turned[...] = y.swapaxes(0, 1)
    stack = (groups,) if groups > 1 else ()
    return turned.reshape(*stack, O // groups, N * math.prod(places))
