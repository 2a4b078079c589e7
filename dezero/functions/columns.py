"""Windows of an image laid out as columns, and added back: im2col and col2im."""

import math
from collections.abc import Sequence
from typing import Any

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.correlation import add_columns, fill_columns
from dezero.functions.dtypes import wide_dtype
from dezero.functions.shape import as_shape
from dezero.functions.window_arguments import make_window

__all__ = ["Col2im", "Im2col", "col2im", "im2col"]


class Im2col(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, kernel_size, stride=1, pad=0, to_matrix=True, dilation=1):
        self.arguments = kernel_size, stride, pad, to_matrix, dilation

    def forward(self, x):
        self.shape = x.shape
        return im2col_array(x, *self.arguments)

    def backward(self, gy):
        return Col2im(self.shape, *self.arguments)(gy)


def im2col(
    x: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    to_matrix: bool = True,
    dilation: int | Sequence[int] = 1,
) -> Variable:
    """What a window meets at each of its places, zero in the padding.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        kernel_size: (KH, KW), or one number for all axes.
        stride: Steps from place to place: (SH, SW) or one number.
        pad: (PH, PW), one number, a pair (before, after) for each axis, or ``"same"``.
        to_matrix: Whether each place becomes one row of a matrix.
        dilation: Steps from element to element of the window.

    Returns:
        Variable of shape (N*OH*OW, C*KH*KW), or (N, C, KH, KW, OH, OW) without
        ``to_matrix``.

    Raises:
        TypeError: An argument that should be integers is not.
        ValueError: ``x`` has fewer than three axes, an argument does not fit their
            number or is out of range, or the window is larger than the padded image.
    """
    return Im2col(kernel_size, stride, pad, to_matrix, dilation)(as_variable(x))


class Col2im(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(
        self, input_shape, kernel_size, stride=1, pad=0, to_matrix=True, dilation=1
    ):
        self.input_shape = input_shape
        self.arguments = kernel_size, stride, pad, to_matrix, dilation

    def forward(self, x):
        return col2im_array(x, self.input_shape, *self.arguments)

    def backward(self, gy):
        return Im2col(*self.arguments)(gy)


def col2im(
    x: ArrayLike,
    input_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    to_matrix: bool = True,
    dilation: int | Sequence[int] = 1,
) -> Variable:
    """Columns added back into an image where they came from; the adjoint of im2col.

    Elements that several windows meet get a sum, so this is not the inverse.

    Args:
        x: What :func:`im2col` makes of an image of ``input_shape``.
        input_shape: (N, C, IH, IW), or with another number of axes.
        kernel_size: As in :func:`im2col`.
        stride: Likewise.
        pad: Likewise.
        to_matrix: Likewise.
        dilation: Likewise.

    Returns:
        Variable of shape ``input_shape``.

    Raises:
        TypeError: An argument that should be integers is not.
        ValueError: The shape of ``x`` is not that of such columns, or as for
            :func:`im2col`.
    """
    f = Col2im(input_shape, kernel_size, stride, pad, to_matrix, dilation)
    return f(as_variable(x))


# =============================================================================
# On plain arrays
# =============================================================================


def im2col_array(
    img: Array,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    to_matrix: bool = True,
    dilation: int | Sequence[int] = 1,
) -> Array:
    """:func:`im2col` of an array, as an array."""
    if img.ndim < 3:
        raise ValueError(
            "im2col: expected x with axes after batch and channel, got shape "
            f"{img.shape}"
        )
    window = make_window("im2col", img.shape[2:], kernel_size, stride, pad, dilation)
    N, C = img.shape[:2]
    xp = cuda.get_array_module(img)
    col = xp.zeros((N, C, *window.kernel, *window.places), img.dtype)
    fill_columns(col, img, window)
    if not to_matrix:
        return col
    K, P = math.prod(window.kernel), math.prod(window.places)
    # (N, C, *K, *P) -> (N, *P, C, *K) -> (N*P, C*K)
    return col.reshape(N, C * K, P).swapaxes(1, 2).reshape(N * P, C * K)


def col2im_array(
    col: Array,
    img_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    to_matrix: bool = True,
    dilation: int | Sequence[int] = 1,
) -> Array:
    """:func:`col2im` of an array, as an array."""
    img_shape = as_shape("col2im", img_shape)
    if len(img_shape) < 3:
        raise ValueError(
            "col2im: expected input_shape with axes after batch and channel, got "
            f"{img_shape}"
        )
    window = make_window("col2im", img_shape[2:], kernel_size, stride, pad, dilation)
    N, C = img_shape[:2]
    K, P = math.prod(window.kernel), math.prod(window.places)
    expected: tuple[int, ...] = (N, C, *window.kernel, *window.places)
    if to_matrix:
        expected = (N * P, C * K)
    if col.shape != expected:
        raise ValueError(
            f"col2im: expected x of shape {expected} for input_shape {img_shape} and "
            f"a window of size {window.kernel} at {window.places} places, got "
            f"{col.shape}"
        )
    if to_matrix:
        # (N*P, C*K) -> (N, C*K, P)
        col = col.reshape(N, P, C * K).swapaxes(1, 2)
    xp = cuda.get_array_module(col)
    img = xp.zeros(img_shape, wide_dtype(col))
    return add_columns(img, col, window).astype(col.dtype, copy=False)
