"""Pooling layers: the maximum or the mean of a window, at each place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import dezero.functions as F
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.window_arguments import as_pads, as_sizes
from dezero.layers.arguments import call_text
from dezero.layers.base import Layer


class _Pool(Layer):
    """What the pooling layers share; ``ndim`` is the number of axes of an image."""

    ndim: ClassVar[int]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: Any = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        as_sizes(name, "kernel_size", kernel_size, self.ndim)
        if stride is None:
            stride = kernel_size
        as_sizes(name, "stride", stride, self.ndim)
        as_sizes(name, "dilation", dilation, self.ndim)
        if not (isinstance(pad, str) and pad == "same"):
            as_pads(name, pad, self.ndim)
        self.kernel_size, self.stride, self.pad = kernel_size, stride, pad
        self.dilation, self.ceil_mode = dilation, bool(ceil_mode)

    def _checked(self, x: ArrayLike) -> Variable:
        x = as_variable(x)
        if x.ndim != self.ndim + 2:
            axes = ", ".join(["D", "H", "W"][-self.ndim :])
            raise ValueError(
                f"{self!r}: expected x of shape (N, C, {axes}), got {x.shape}"
            )
        return x

    def __repr__(self) -> str:
        return call_text(self, self.kernel_size, **self._shown())

    def _shown(self) -> dict[str, tuple[Any, Any]]:
        return {
            "stride": (self.stride, self.kernel_size),
            "pad": (self.pad, 0),
            "dilation": (self.dilation, 1),
            "ceil_mode": (self.ceil_mode, False),
        }


class _MaxPool(_Pool):
    def forward(self, x: ArrayLike) -> Variable:
        """Maxima of the images ``x``, (N, C, ...).

        Raises:
            ValueError: ``x`` has another number of axes, or is too small.
        """
        return F.pooling(
            self._checked(x),
            self.kernel_size,
            self.stride,
            self.pad,
            self.dilation,
            self.ceil_mode,
        )


class MaxPool2d(_MaxPool):
    """Maximum of what a window meets at each place: :func:`dezero.functions.pooling`.

    Args:
        kernel_size: (KH, KW), or one number for both.
        stride: Steps from place to place; by default ``kernel_size``: windows side by
            side. (The function steps by 1.)
        pad: (PH, PW), one number, a pair (before, after) for each axis, or ``"same"``.
        dilation: Steps from element to element of the window.
        ceil_mode: Whether a last window that reaches out of the padded image counts.

    Raises:
        TypeError: An argument is no integer where it should be.
        ValueError: A number is out of range.
    """

    ndim = 2


class MaxPool1d(_MaxPool):
    """:class:`MaxPool2d` along one axis: x is (N, C, W)."""

    ndim = 1


class MaxPool3d(_MaxPool):
    """:class:`MaxPool2d` along three axes: x is (N, C, D, H, W)."""

    ndim = 3


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        pad: Any = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad, dilation, ceil_mode)
        self.count_include_pad = bool(count_include_pad)

    def forward(self, x: ArrayLike) -> Variable:
        """Means of the images ``x``, (N, C, ...).

        Raises:
            ValueError: ``x`` has another number of axes, or is too small.
        """
        return F.average_pooling(
            self._checked(x),
            self.kernel_size,
            self.stride,
            self.pad,
            self.dilation,
            self.ceil_mode,
            self.count_include_pad,
        )

    def _shown(self) -> dict[str, tuple[Any, Any]]:
        return super()._shown() | {"count_include_pad": (self.count_include_pad, True)}


class AvgPool2d(_AvgPool):
    """Mean of what a window meets: :func:`dezero.functions.average_pooling`.

    Args:
        kernel_size: As in :class:`MaxPool2d`.
        stride: Likewise.
        pad: Likewise.
        dilation: Likewise.
        ceil_mode: Likewise.
        count_include_pad: Whether padding counts, as zeros.

    Raises:
        TypeError: As in :class:`MaxPool2d`.
        ValueError: Likewise.
    """

    ndim = 2


class AvgPool1d(_AvgPool):
    """:class:`AvgPool2d` along one axis: x is (N, C, W)."""

    ndim = 1


class AvgPool3d(_AvgPool):
    """:class:`AvgPool2d` along three axes: x is (N, C, D, H, W)."""

    ndim = 3


class GlobalAveragePooling(Layer):
    """:func:`dezero.functions.global_average_pooling`: the mean of each channel."""

    def __init__(self, keepdims: bool = False) -> None:
        super().__init__()
        self.keepdims = bool(keepdims)

    def forward(self, x: ArrayLike) -> Variable:
        """``x`` (N, C, ...) to (N, C), or (N, C, 1, ...) with ``keepdims``."""
        return F.global_average_pooling(x, self.keepdims)

    def __repr__(self) -> str:
        return call_text(self, keepdims=(self.keepdims, False))
