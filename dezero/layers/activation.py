"""Activations as layers, for who prefers them to functions in a Sequential."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
from dezero.core import ArrayLike, Parameter, Variable
from dezero.functions.arguments import as_number
from dezero.layers.arguments import as_floating, as_size, call_text
from dezero.layers.base import Layer


class ReLU(Layer):
    """:func:`dezero.functions.relu`."""

    def forward(self, x: ArrayLike) -> Variable:
        """``max(x, 0)``, of the shape of ``x``."""
        return F.relu(x)


class LeakyReLU(Layer):
    """:func:`dezero.functions.leaky_relu`, with a slope of ``slope`` below 0."""

    def __init__(self, slope: float = 0.2) -> None:
        super().__init__()
        self.slope = as_number("LeakyReLU", "slope", slope)

    def forward(self, x: ArrayLike) -> Variable:
        """``x`` above 0, ``slope * x`` below, of the shape of ``x``."""
        return F.leaky_relu(x, self.slope)

    def __repr__(self) -> str:
        return call_text(self, slope=(self.slope, 0.2))


class PReLU(Layer):
    """:func:`dezero.functions.prelu`: the slope below 0 is learned.

    Parameters:
        slope: (in_channels,), 0.25.

    Args:
        in_channels: One slope for each channel; by default one for all.
        dtype: Floating dtype of the slope.

    Raises:
        TypeError: ``in_channels`` is no integer, or ``dtype`` is not floating.
        ValueError: ``in_channels`` is below 1.
    """

    def __init__(self, in_channels: int = 1, dtype: Any = np.float32) -> None:
        super().__init__()
        size = as_size("PReLU", "in_channels", in_channels)
        self.dtype = as_floating("PReLU", dtype)
        self.slope = Parameter(np.full(size, 0.25, self.dtype), name="slope")

    def forward(self, x: ArrayLike) -> Variable:
        """``x`` above 0, ``slope * x`` below, of the shape of ``x``, (N, C, ...)."""
        return F.prelu(x, self.slope)

    def __repr__(self) -> str:
        return call_text(
            self, in_channels=(self.slope.size, 1), dtype=(self.dtype, np.float32)
        )


class Sigmoid(Layer):
    """:func:`dezero.functions.sigmoid`."""

    def forward(self, x: ArrayLike) -> Variable:
        """``1 / (1 + exp(-x))``, of the shape of ``x``."""
        return F.sigmoid(x)


class Tanh(Layer):
    """:func:`dezero.functions.tanh`."""

    def forward(self, x: ArrayLike) -> Variable:
        """``tanh(x)``, of the shape of ``x``."""
        return F.tanh(x)


class GELU(Layer):
    """:func:`dezero.functions.gelu`; ``approximate`` uses tanh, which is faster."""

    def __init__(self, approximate: bool = False) -> None:
        super().__init__()
        self.approximate = bool(approximate)

    def forward(self, x: ArrayLike) -> Variable:
        """``x * P(Z < x)``, of the shape of ``x``."""
        return F.gelu(x, self.approximate)

    def __repr__(self) -> str:
        return call_text(self, approximate=(self.approximate, False))


class SiLU(Layer):
    """:func:`dezero.functions.silu`."""

    def forward(self, x: ArrayLike) -> Variable:
        """``x * sigmoid(x)``, of the shape of ``x``."""
        return F.silu(x)


class Softmax(Layer):
    """:func:`dezero.functions.softmax` along ``axis``."""

    def __init__(self, axis: int = 1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: ArrayLike) -> Variable:
        """Positive numbers that add up to 1 along the axis, of the shape of ``x``."""
        return F.softmax(x, self.axis)

    def __repr__(self) -> str:
        return call_text(self, axis=(self.axis, 1))
