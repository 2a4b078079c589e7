"""Layers without weights that drop or rearrange: Dropout, Flatten."""

from __future__ import annotations

import dezero.functions as F
from dezero.core import ArrayLike, Variable
from dezero.layers.arguments import as_ratio, call_text
from dezero.layers.base import Layer


class Dropout(Layer):
    """:func:`dezero.functions.dropout`: zeros at random in training, else nothing.

    Args:
        dropout_ratio: The share to drop, in [0, 1].

    Raises:
        TypeError: ``dropout_ratio`` is no number.
        ValueError: It is outside [0, 1].
    """

    def __init__(self, dropout_ratio: float = 0.5) -> None:
        super().__init__()
        self.dropout_ratio = as_ratio("Dropout", "dropout_ratio", dropout_ratio)

    def forward(self, x: ArrayLike) -> Variable:
        """``x`` with zeros, the others scaled to keep the mean; of the same shape."""
        return F.dropout(x, self.dropout_ratio)

    def __repr__(self) -> str:
        return call_text(self, self.dropout_ratio)


class Flatten(Layer):
    """:func:`dezero.functions.flatten`: all axes but that of the batch become one."""

    def forward(self, x: ArrayLike) -> Variable:
        """``x`` (N, ...) as (N, D)."""
        return F.flatten(x)
