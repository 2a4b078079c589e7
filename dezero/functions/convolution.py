"""Convolution along one, two or three axes, and the classes of transposed convolution.

As everywhere in deep learning, convolution means correlation: kernels are not flipped.
Convolution, transposed convolution and the gradient by the kernel are the gradients of
one another, so their classes stand together.
"""

from collections.abc import Sequence
from typing import Any

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.axes import transpose
from dezero.functions.columns import im2col
from dezero.functions.correlation import (
    correlate,
    correlate_kernel,
    correlate_transposed,
)
from dezero.functions.linalg import linear
from dezero.functions.reduction import sum
from dezero.functions.shape import reshape
from dezero.functions.window_arguments import (
    as_sizes,
    make_transposed_window,
    make_window,
)

__all__ = [
    "Conv1d",
    "Conv1dGradW",
    "Conv2d",
    "Conv2dGradW",
    "Conv3d",
    "Conv3dGradW",
    "Deconv1d",
    "Deconv2d",
    "Deconv3d",
    "conv1d",
    "conv2d",
    "conv2d_simple",
    "conv3d",
]

# =============================================================================
# Convolution
# =============================================================================


class ConvNd(Function):
    reads_outputs = False
    fresh_gradients = True
    ndim = 0  # a subclass says how many axes the window has

    def __init__(self, stride=1, pad=0, dilation=1, groups=1):
        self.arguments = stride, pad, dilation
        self.groups = groups

    def forward(self, x, W, b):
        function = f"conv{self.ndim}d"
        groups = _check_conv(function, self.ndim, x, W, self.groups)
        _check_bias(function, b, len(W))
        self.window = make_window(function, x.shape[2:], W.shape[2:], *self.arguments)
        return _add_bias(correlate(x, W, self.window, groups), b)

    def backward(self, gy):
        x, W, _ = self.inputs
        need_x, need_W, need_b = self.needs_grad
        window, groups = self.window, self.groups
        gx = gW = gb = None
        if need_x:
            gx = DECONV[self.ndim].on(window, groups)(gy, W, None)
        if need_W:
            gW = GRAD_W[self.ndim](window, groups)(x, gy)
        if need_b:
            gb = _sum_places(gy)
        return gx, gW, gb

    @classmethod
    def on(cls, window, groups):
        return cls(window.stride, window.pads, window.dilation, groups)


class DeconvNd(Function):
    reads_outputs = False
    fresh_gradients = True
    ndim = 0

    def __init__(self, stride=1, pad=0, outsize=None, dilation=1, groups=1):
        self.arguments = stride, pad, dilation, outsize
        self.groups = groups

    def forward(self, x, W, b):
        function = f"deconv{self.ndim}d"
        groups = _check_groups(function, self.groups)
        if (
            x.ndim != self.ndim + 2
            or W.ndim != self.ndim + 2
            or x.shape[1] != len(W)
            or len(W) % groups
        ):
            raise ValueError(
                f"{function}: expected x (N, C, {_axes('I', self.ndim)}) and "
                f"W (C, O/groups, {_axes('K', self.ndim)}), C divisible by groups, got "
                f"x of shape {x.shape}, W of shape {W.shape} and groups={groups}"
            )
        _check_bias(function, b, W.shape[1] * groups)
        self.window = make_transposed_window(
            function, x.shape[2:], W.shape[2:], *self.arguments
        )
        return _add_bias(correlate_transposed(x, W, self.window, groups), b)

    def backward(self, gy):
        x, W, _ = self.inputs
        need_x, need_W, need_b = self.needs_grad
        window, groups = self.window, self.groups
        gx = gW = gb = None
        if need_x:
            gx = CONV[self.ndim].on(window, groups)(gy, W, None)
        if need_W:
            gW = GRAD_W[self.ndim](window, groups)(gy, x)
        if need_b:
            gb = _sum_places(gy)
        return gx, gW, gb

    @classmethod
    def on(cls, window, groups):
        return cls(window.stride, window.pads, window.sizes, window.dilation, groups)


class ConvNdGradW(Function):
    reads_outputs = False
    fresh_gradients = True
    ndim = 0

    def __init__(self, window, groups):
        self.window = window
        self.groups = groups

    def forward(self, x, gy):
        return correlate_kernel(x, gy, self.window, self.groups)

    def backward(self, ggW):
        x, gy = self.inputs
        need_x, need_gy = self.needs_grad
        gx = ggy = None
        if need_x:
            gx = DECONV[self.ndim].on(self.window, self.groups)(gy, ggW, None)
        if need_gy:
            ggy = CONV[self.ndim].on(self.window, self.groups)(x, ggW, None)
        return gx, ggy


class Conv1d(ConvNd):
    ndim = 1


class Conv2d(ConvNd):
    ndim = 2


class Conv3d(ConvNd):
    ndim = 3


class Deconv1d(DeconvNd):
    ndim = 1


class Deconv2d(DeconvNd):
    ndim = 2


class Deconv3d(DeconvNd):
    ndim = 3


class Conv1dGradW(ConvNdGradW):
    ndim = 1


class Conv2dGradW(ConvNdGradW):
    ndim = 2


class Conv3dGradW(ConvNdGradW):
    ndim = 3


CONV = {1: Conv1d, 2: Conv2d, 3: Conv3d}
DECONV = {1: Deconv1d, 2: Deconv2d, 3: Deconv3d}
GRAD_W = {1: Conv1dGradW, 2: Conv2dGradW, 3: Conv3dGradW}


def conv2d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Two-dimensional convolution, which is correlation: the kernel is not flipped.

    ``y[n, o, i, j] = b[o] + sum over c, k, l of``
    ``W[o, c, k, l] * x[n, c, SH*i + DH*k - PH, SW*j + DW*l - PW]``,
    where x is zero outside.

    Kernels of 3x3 at stride 1 between many channels (48 at least) are convolved in
    Winograd's way where that is faster, in single precision on the CPU. Its rounding
    errors are a few times those of plain sums, 1e-6 of the largest results, and come
    from the neighbours too: what should be 0 exactly need not be.

    Args:
        x: (N, C, IH, IW).
        W: (O, C/groups, KH, KW).
        b: (O,), or None for no bias.
        stride: (SH, SW), or one number for both.
        pad: (PH, PW), one number, pairs ((top, bottom), (left, right)), or ``"same"``
            for a result of size ``ceil(I / S)``.
        dilation: Steps from element to element of the kernel: (DH, DW) or one number.
        groups: Parts that channels are divided into, in order; a part of the output
            channels sees the same part of the input channels alone. ``groups = C`` is
            depthwise convolution.

    Returns:
        Variable of shape (N, O, OH, OW) with
        ``OH = (IH + 2*PH - DH*(KH - 1) - 1) // SH + 1``.

    Raises:
        TypeError: ``stride``, ``pad``, ``dilation`` or ``groups`` are no integers.
        ValueError: The shapes do not fit together, a number is out of range, or the
            kernel is larger than the padded image.
    """
    return call_on_variables(Conv2d(stride, pad, dilation, groups), x, W, b)


def conv1d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """One-dimensional convolution: :func:`conv2d` along a single axis.

    Args:
        x: (N, C, I).
        W: (O, C/groups, K).
        b: (O,), or None for no bias.
        stride: A number.
        pad: A number, ``((before, after),)`` or ``"same"``.
        dilation: A number.
        groups: As in :func:`conv2d`.

    Returns:
        Variable of shape (N, O, OI).

    Raises:
        TypeError: As in :func:`conv2d`.
        ValueError: Likewise.
    """
    return call_on_variables(Conv1d(stride, pad, dilation, groups), x, W, b)


def conv3d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Three-dimensional convolution: :func:`conv2d` along three axes.

    Args:
        x: (N, C, ID, IH, IW).
        W: (O, C/groups, KD, KH, KW).
        b: (O,), or None for no bias.
        stride: Three numbers, or one for all.
        pad: Three numbers or pairs (before, after), one number, or ``"same"``.
        dilation: As ``stride``.
        groups: As in :func:`conv2d`.

    Returns:
        Variable of shape (N, O, OD, OH, OW).

    Raises:
        TypeError: As in :func:`conv2d`.
        ValueError: Likewise.
    """
    return call_on_variables(Conv3d(stride, pad, dilation, groups), x, W, b)


def conv2d_simple(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
) -> Variable:
    """:func:`conv2d` as one product of matrices, to read: im2col, then linear."""
    x, W = as_variable(x), as_variable(W)
    b = None if b is None else as_variable(b)
    _check_conv("conv2d_simple", 2, x, W, 1)
    _check_bias("conv2d_simple", b, len(W))
    N, O = len(x), len(W)
    col = im2col(x, W.shape[2:], stride, pad)  # (N*OH*OW, C*KH*KW)
    y = linear(col, transpose(reshape(W, (O, -1))), b)  # (N*OH*OW, O)
    window = make_window("conv2d_simple", x.shape[2:], W.shape[2:], stride, pad)
    OH, OW = window.places
    return transpose(reshape(y, (N, OH, OW, O)), (0, 3, 1, 2))


# =============================================================================
# What both need
# =============================================================================


def call_on_variables(
    f: Function, x: ArrayLike, W: ArrayLike, b: ArrayLike | None
) -> Variable:
    """``f(x, W, b)``, with arrays made constants."""
    return f(as_variable(x), as_variable(W), None if b is None else as_variable(b))


def _add_bias(y: Array, b: Array | None) -> Array:
    """``y + b`` along the channels, in place where the dtype allows it."""
    if b is None:
        return y
    xp = cuda.get_array_module(y)
    b = b.reshape(-1, *[1] * (y.ndim - 2))
    if not xp.can_cast(b.dtype, y.dtype):
        return y + b
    return xp.add(y, b, out=y)  # nobody else has seen y yet


def _sum_places(gy: Variable) -> Variable:
    """The gradient of a bias: (N, O, *places) -> (O,)."""
    return sum(gy, axis=(0, *range(2, gy.ndim)))


def _check_groups(function: str, groups: Any) -> int:
    return as_sizes(function, "groups", groups, 1)[0]


def _check_conv(function: str, ndim: int, x: Any, W: Any, groups: Any) -> int:
    groups = _check_groups(function, groups)
    if (
        x.ndim != ndim + 2
        or W.ndim != ndim + 2
        or x.shape[1] != W.shape[1] * groups
        or len(W) % groups
    ):
        raise ValueError(
            f"{function}: expected x (N, C, {_axes('I', ndim)}) and "
            f"W (O, C/groups, {_axes('K', ndim)}), O divisible by groups, got "
            f"x of shape {x.shape}, W of shape {W.shape} and groups={groups}"
        )
    return groups


def _check_bias(function: str, b: Any, O: int) -> None:
    if b is not None and b.shape != (O,):
        raise ValueError(
            f"{function}: expected b of shape ({O},), one per channel of the result, "
            f"got {b.shape}"
        )


def _axes(letter: str, ndim: int) -> str:
    names = {1: [""], 2: ["H", "W"], 3: ["D", "H", "W"]}[ndim]
    return ", ".join([letter + name for name in names])
