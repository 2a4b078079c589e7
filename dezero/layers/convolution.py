"""Convolution layers, and the transposed ones that make images larger."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.window_arguments import as_pads, as_sizes
from dezero.layers.arguments import (
    Initializer,
    as_floating,
    as_initializer,
    as_size,
    as_size_or_none,
    call_text,
    draw,
)
from dezero.layers.base import Layer


class _Convolution(Layer):
    """What the convolutions share; ``ndim`` is the number of axes of an image."""

    ndim: ClassVar[int]
    function: ClassVar[Callable[..., Variable]]

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: Any = 0,
        nobias: bool = False,
        dtype: Any = np.float32,
        in_channels: int | None = None,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        initial_W: Initializer | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.in_channels = as_size_or_none(name, "in_channels", in_channels)
        self.out_channels = as_size(name, "out_channels", out_channels)
        self.kernel_size = as_sizes(name, "kernel_size", kernel_size, self.ndim)
        as_sizes(name, "stride", stride, self.ndim)
        as_sizes(name, "dilation", dilation, self.ndim)
        if not (isinstance(pad, str) and pad == "same"):
            as_pads(name, pad, self.ndim)
        self.stride, self.pad, self.dilation = stride, pad, dilation
        self.groups = as_size(name, "groups", groups)
        for size, channels in ("in", self.in_channels), ("out", self.out_channels):
            if channels is not None and channels % self.groups:
                raise ValueError(
                    f"{name}: expected {size}_channels divisible by groups="
                    f"{self.groups}, got {channels}"
                )
        self.dtype = as_floating(name, dtype)
        self.initial_W = as_initializer(name, initial_W)
        self.W = Parameter(None, name="W")
        if self.in_channels is not None:
            self._init_W(self.in_channels, np)
        self.b: Parameter | None = None
        if not nobias:
            self.b = Parameter(np.zeros(self.out_channels, self.dtype), name="b")

    def _W_shape(self, C: int) -> tuple[int, ...]:
        return self.out_channels, C // self.groups, *self.kernel_size

    def _channels(self) -> int | None:
        """How many channels W takes, once it is there."""
        return None if self.W.data is None else self.W.shape[1] * self.groups

    def _init_W(self, C: int, xp: Any) -> None:
        elements = math.prod(self.kernel_size)
        self.W.data = draw(
            type(self).__name__,
            self.initial_W,
            self._W_shape(C),
            C // self.groups * elements,
            self.out_channels // self.groups * elements,
            self.dtype,
            xp,
        )

    def forward(self, x: ArrayLike) -> Variable:
        """Convolve a batch of images.

        Args:
            x: (N, C, ...), with as many axes after C as the name says.

        Returns:
            Variable of shape (N, out_channels, ...).

        Raises:
            ValueError: ``x`` has another number of axes or of channels, W is not of the
                shape that this layer gives it, or the image is too small.
        """
        x = as_variable(x)
        self._prepare(x.data)
        return self._convolve(x)

    def _convolve(self, x: Variable) -> Variable:
        return type(self).function(
            x, self.W, self.b, self.stride, self.pad, self.dilation, self.groups
        )

    def _prepare(self, x: Array) -> None:
        if x.ndim != self.ndim + 2:
            axes = ", ".join(["D", "H", "W"][-self.ndim :])
            raise ValueError(
                f"{self!r}: expected x of shape (N, C, {axes}), got {x.shape}"
            )
        C = x.shape[1]
        if self.W.data is None:
            if C == 0 or C % self.groups:
                raise ValueError(
                    f"{self!r}: expected x with channels divisible by groups="
                    f"{self.groups}, got shape {x.shape}"
                )
            self._init_W(C, cuda.get_array_module(x))
            self.in_channels = C
        channels = self._channels()
        assert channels is not None
        if self.W.shape != (shape := self._W_shape(channels)):
            raise ValueError(
                f"{self!r}: expected W of shape {shape}, got {self.W.shape}"
            )
        if C != channels:
            raise ValueError(
                f"{self!r}: expected x with {channels} channels, got shape {x.shape}"
            )

    def __repr__(self) -> str:
        return call_text(self, self.out_channels, self._kernel_text(), **self._shown())

    def _kernel_text(self) -> int | tuple[int, ...]:
        K = self.kernel_size
        return K[0] if len(set(K)) == 1 else K

    def _shown(self) -> dict[str, tuple[Any, Any]]:
        return {
            "stride": (self.stride, 1),
            "pad": (self.pad, 0),
            "nobias": (self.b is None, False),
            "dtype": (self.dtype, np.float32),
            "in_channels": (self._channels(), None),
            "dilation": (self.dilation, 1),
            "groups": (self.groups, 1),
        }


class Conv2d(_Convolution):
    """Two-dimensional convolution, :func:`dezero.functions.conv2d`, of images.

    Parameters:
        W: (out_channels, in_channels / groups, KH, KW), normal with standard deviation
            ``sqrt(1 / fan_in)``, fan_in = in_channels / groups * KH * KW.
        b: (out_channels,), zeros.

    Args:
        out_channels: Number of channels that come out.
        kernel_size: (KH, KW), or one number for both.
        stride: (SH, SW), or one number for both.
        pad: (PH, PW), one number, pairs ((top, bottom), (left, right)), or ``"same"``.
        nobias: Leave out ``b`` (it is None then).
        dtype: Floating dtype of the parameters.
        in_channels: Number of channels that go in. By default the first call tells, and
            W is made then, on the device of its input.
        dilation: Steps from element to element of the kernel.
        groups: Parts that channels are divided into, each convolved alone.
        initial_W: An initializer, to start W otherwise.

    Raises:
        TypeError: A size is no integer, ``dtype`` is not floating, or ``initial_W`` is
            no initializer.
        ValueError: A size is out of range, or ``groups`` does not divide the channels.
    """

    ndim = 2
    function = F.conv2d


class Conv1d(_Convolution):
    """:class:`Conv2d` along one axis: x is (N, C, W), W (out, in / groups, K)."""

    ndim = 1
    function = F.conv1d


class Conv3d(_Convolution):
    """:class:`Conv2d` along three axes: x is (N, C, D, H, W)."""

    ndim = 3
    function = F.conv3d


class _Deconvolution(_Convolution):
    """What the transposed convolutions share."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        pad: Any = 0,
        nobias: bool = False,
        dtype: Any = np.float32,
        in_channels: int | None = None,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        initial_W: Initializer | None = None,
        outsize: int | Sequence[int] | None = None,
    ) -> None:
        super().__init__(
            out_channels,
            kernel_size,
            stride,
            pad,
            nobias,
            dtype,
            in_channels,
            dilation,
            groups,
            initial_W,
        )
        if outsize is not None:
            as_sizes(type(self).__name__, "outsize", outsize, self.ndim)
        self.outsize = outsize

    def _W_shape(self, C: int) -> tuple[int, ...]:
        return C, self.out_channels // self.groups, *self.kernel_size

    def _channels(self) -> int | None:
        return None if self.W.data is None else self.W.shape[0]

    def _convolve(self, x: Variable) -> Variable:
        return type(self).function(
            x,
            self.W,
            self.b,
            self.stride,
            self.pad,
            self.outsize,
            self.dilation,
            self.groups,
        )

    def _shown(self) -> dict[str, tuple[Any, Any]]:
        return super()._shown() | {"outsize": (self.outsize, None)}


class Deconv2d(_Deconvolution):
    """Transposed convolution, :func:`dezero.functions.deconv2d`: images grow.

    Parameters:
        W: (in_channels, out_channels / groups, KH, KW), normal with standard deviation
            ``sqrt(1 / fan_in)``, fan_in = in_channels / groups * KH * KW.
        b: (out_channels,), zeros.

    Args:
        out_channels: Number of channels that come out.
        kernel_size: (KH, KW), or one number for both.
        stride: Steps between the copies of the kernel: (SH, SW) or one number.
        pad: What is cut off at the edges, as in :class:`Conv2d`.
        nobias: Leave out ``b`` (it is None then).
        dtype: Floating dtype of the parameters.
        in_channels: As in :class:`Conv2d`.
        dilation: Likewise.
        groups: Likewise.
        initial_W: Likewise.
        outsize: Size (OH, OW) of the result, where it is not the smallest possible.

    Raises:
        TypeError: As in :class:`Conv2d`.
        ValueError: Likewise.
    """

    ndim = 2
    function = F.deconv2d


class Deconv1d(_Deconvolution):
    """:class:`Deconv2d` along one axis: x is (N, C, W), W (in, out / groups, K)."""

    ndim = 1
    function = F.deconv1d


class Deconv3d(_Deconvolution):
    """:class:`Deconv2d` along three axes: x is (N, C, D, H, W)."""

    ndim = 3
    function = F.deconv3d
