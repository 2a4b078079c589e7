"""The fully connected layer."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.cuda import Array
from dezero.layers.base import Layer


class Linear(Layer):
    """Fully connected layer: ``y = x W + b``.

    Parameters:
        W: (in_size, out_size), normal with standard deviation ``sqrt(1 / in_size)``.
        b: (out_size,), zeros.

    Args:
        out_size: Number of features that come out.
        nobias: Leave out ``b`` (it is None then).
        dtype: Floating dtype of the parameters.
        in_size: Number of features that go in. By default the first call tells, and W
            is made then, on the device of its input.

    Raises:
        TypeError: A size is no integer, or ``dtype`` is not floating.
        ValueError: A size is below 1.
    """

    def __init__(
        self,
        out_size: int,
        nobias: bool = False,
        dtype: Any = np.float32,
        in_size: int | None = None,
    ) -> None:
        super().__init__()
        self.in_size = None if in_size is None else _size("in_size", in_size)
        self.out_size = _size("out_size", out_size)
        self.dtype = np.dtype(dtype)
        if self.dtype.kind != "f":
            raise TypeError(f"Linear: expected a floating dtype, got {self.dtype}")
        self.W = Parameter(None, name="W")
        if self.in_size is not None:
            self._init_W(np)
        self.b: Parameter | None = None
        if not nobias:
            self.b = Parameter(np.zeros(self.out_size, self.dtype), name="b")

    def _init_W(self, xp: Any) -> None:
        assert self.in_size is not None
        scale = math.sqrt(1 / self.in_size)
        W = xp.random.randn(self.in_size, self.out_size) * scale
        self.W.data = W.astype(self.dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Map the last axis.

        Args:
            x: (..., in_size).

        Returns:
            Variable of shape (..., out_size).

        Raises:
            ValueError: The last axis of ``x`` is not ``in_size`` long, or W is not of
                the shape that this layer gives it.
        """
        x = as_variable(x)
        if self.W.data is None:
            self._first_call(x.data)
        W_shape = self.W.shape
        if W_shape[1:] != (self.out_size,):
            raise ValueError(
                f"{self!r}: expected W of shape (in_size, {self.out_size}), "
                f"got {W_shape}"
            )
        if x.shape[-1:] != W_shape[:1]:
            raise ValueError(
                f"{self!r}: expected x of shape (..., {W_shape[0]}), got {x.shape}"
            )
        return F.linear(x, self.W, self.b)

    def _first_call(self, x: Array) -> None:
        if x.ndim == 0 or x.shape[-1] == 0:
            raise ValueError(
                f"{self!r}: expected x with at least one feature, got shape {x.shape}"
            )
        self.in_size = x.shape[-1]
        xp = cuda.get_array_module(x)
        self._init_W(xp)

    def __repr__(self) -> str:
        text = f"{self.out_size}"
        if self.b is None:
            text += ", nobias=True"
        if self.dtype != np.float32:
            text += f", dtype={self.dtype}"
        if self.W.data is not None:
            text += f", in_size={self.W.shape[0]}"
        return f"{type(self).__name__}({text})"


def _size(name: str, value: Any) -> int:
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            f"Linear: expected {name} to be an integer, got {type(value).__name__}"
        ) from None
    if size < 1:
        raise ValueError(f"Linear: expected {name} to be at least 1, got {size}")
    return size
