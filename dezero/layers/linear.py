"""The fully connected layer."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.cuda import Array
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
        initial_W: An initializer, to start W otherwise.

    Raises:
        TypeError: A size is no integer, ``dtype`` is not floating, or ``initial_W`` is
            no initializer.
        ValueError: A size is below 1.
    """

    def __init__(
        self,
        out_size: int,
        nobias: bool = False,
        dtype: Any = np.float32,
        in_size: int | None = None,
        initial_W: Initializer | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.in_size = as_size_or_none(name, "in_size", in_size)
        self.out_size = as_size(name, "out_size", out_size)
        self.dtype = as_floating(name, dtype)
        self.initial_W = as_initializer(name, initial_W)
        self.W = Parameter(None, name="W")
        if self.in_size is not None:
            self._init_W(self.in_size, np)
        self.b: Parameter | None = None
        if not nobias:
            self.b = Parameter(np.zeros(self.out_size, self.dtype), name="b")

    def _init_W(self, in_size: int, xp: Any) -> None:
        self.W.data = draw(
            type(self).__name__,
            self.initial_W,
            (in_size, self.out_size),
            in_size,
            self.out_size,
            self.dtype,
            xp,
        )

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
        self.prepare(x.data)
        return F.linear(x, self.W, self.b)

    def prepare(self, x: Array) -> None:
        """Make W, if there is none yet, to fit ``x``.

        Raises:
            ValueError: As in :meth:`forward`.
        """
        if self.W.data is None:
            if x.ndim == 0 or x.shape[-1] == 0:
                raise ValueError(
                    f"{self!r}: expected x with at least one feature, "
                    f"got shape {x.shape}"
                )
            self._init_W(x.shape[-1], cuda.get_array_module(x))
            self.in_size = x.shape[-1]
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

    def __repr__(self) -> str:
        return call_text(
            self,
            self.out_size,
            nobias=(self.b is None, False),
            dtype=(self.dtype, np.float32),
            in_size=(None if self.W.data is None else self.W.shape[0], None),
        )
