"""Embedding: a vector to be learned for each id."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.layers.arguments import (
    Initializer,
    as_floating,
    as_initializer,
    as_size,
    call_text,
    draw,
)
from dezero.layers.base import Layer
from dezero.layers.initializers import Normal


class Embedding(Layer):
    """The row of W that each id names: ``y[i] = W[x[i]]``.

    Parameters:
        W: (in_size, out_size), normal with standard deviation 1, for each result
            depends on one row only.

    Args:
        in_size: How many ids there are: 0, ..., in_size - 1.
        out_size: Length of a vector.
        dtype: Floating dtype of W.
        padding_id: An id that stands for nothing: it gives zeros, and its row is not
            learned.
        initial_W: An initializer, to start W otherwise; fan_in is ``in_size``.

    Raises:
        TypeError: A size is no integer, ``dtype`` is not floating, or ``initial_W`` is
            no initializer.
        ValueError: A size is below 1, or ``padding_id`` is no id.
    """

    def __init__(
        self,
        in_size: int,
        out_size: int,
        dtype: Any = np.float32,
        padding_id: int | None = None,
        initial_W: Initializer | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.in_size = as_size(name, "in_size", in_size)
        self.out_size = as_size(name, "out_size", out_size)
        self.dtype = as_floating(name, dtype)
        if padding_id is not None and padding_id not in range(self.in_size):
            raise ValueError(
                f"{name}: expected padding_id in [0, {self.in_size}), got {padding_id}"
            )
        self.padding_id = padding_id
        initial_W = Normal(1.0) if initial_W is None else initial_W
        shape = self.in_size, self.out_size
        initial_W = as_initializer(name, initial_W)
        self.W = Parameter(draw(name, initial_W, shape, *shape, self.dtype, np), "W")

    def forward(self, x: ArrayLike) -> Variable:
        """Look up ids.

        Args:
            x: Integers of any shape (N, T, ...), an array or a Variable.

        Returns:
            Variable of shape (N, T, ..., out_size).

        Raises:
            IndexError: An id is not in [0, in_size).
            TypeError: The ids are no integers.
        """
        x = as_variable(x)
        y = F.embed_id(x, self.W)
        if self.padding_id is not None:
            y = F.where((x.data == self.padding_id)[..., None], 0.0, y)
        return y

    def __repr__(self) -> str:
        return call_text(
            self,
            self.in_size,
            self.out_size,
            dtype=(self.dtype, np.float32),
            padding_id=(self.padding_id, None),
        )


EmbedID = Embedding  # the name in DeZero 0.0.13
