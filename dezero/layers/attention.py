"""Attention: each place of a sequence looks at others, with several heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dezero.functions as F
from dezero.core import ArrayLike, Variable, as_variable
from dezero.layers.arguments import Initializer, as_floating, as_ratio, as_size
from dezero.layers.base import Layer
from dezero.layers.caches import KeyValueCache
from dezero.layers.linear import Linear
from dezero.layers.normalization import LayerNorm


class MultiHeadAttention(Layer):
    """Attention in ``num_heads`` parts of the features, each with weights of its own.

    ``y = out(heads side by side)``, where each head is
    :func:`dezero.functions.scaled_dot_product_attention` of its part of ``query(x)``,
    ``key(context)`` and ``value(context)``. Vaswani et al. 2017, arXiv:1706.03762.

    Layers:
        query, key, value, out: Linear(size).

    Args:
        size: Number of features that come out, a multiple of ``num_heads``.
        num_heads: Number of heads.
        dropout_ratio: Share of attention weights that are dropped in training.
        nobias: Leave out the biases.
        dtype: Floating dtype of the parameters.
        in_size: Number of features of x and context; by default the first call tells.
        initial_W: An initializer, to start all four W otherwise than Linear does.

    Raises:
        TypeError: A size is no integer, ``dtype`` is not floating, or ``initial_W`` is
            no initializer.
        ValueError: A size is below 1, ``num_heads`` does not divide ``size``, or
            ``dropout_ratio`` is outside [0, 1].
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        dropout_ratio: float = 0.0,
        nobias: bool = False,
        dtype: Any = np.float32,
        in_size: int | None = None,
        initial_W: Initializer | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.size = as_size(name, "size", size)
        self.num_heads = as_size(name, "num_heads", num_heads)
        if self.size % self.num_heads:
            raise ValueError(
                f"{name}: expected size divisible by num_heads={num_heads}, got {size}"
            )
        self.dropout_ratio = as_ratio(name, "dropout_ratio", dropout_ratio)
        self.query = Linear(size, nobias, dtype, in_size, initial_W)
        self.key = Linear(size, nobias, dtype, in_size, initial_W)
        self.value = Linear(size, nobias, dtype, in_size, initial_W)
        self.out = Linear(size, nobias, dtype, size, initial_W)

    def forward(
        self,
        x: ArrayLike,
        context: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
    ) -> Variable:
        """Let each place of ``x`` look at ``context``.

        Args:
            x: (..., Tq, in_size), in front usually one axis N.
            context: (..., Tk, its size); by default ``x`` itself: self-attention.
            mask: Broadcasts to (..., Tq, Tk), for all heads; True where a place may
                look. (N, 1, Tk) tells the padding of a batch. Numbers are added to the
                scores.
            causal: Look at places that are not later only.
            cache: Keys and values of the places before x, which x looks at too: Tk
                counts them as well. Those of x are added to it.

        Returns:
            Variable of shape (..., Tq, size).

        Raises:
            RuntimeError: ``cache`` is given where gradients are recorded.
            TypeError: It is no KeyValueCache.
            ValueError: The shapes do not fit, the cache is full, or both ``cache`` and
                ``context`` are given.
        """
        x = as_variable(x)
        if cache is not None:
            _check_cache(cache, context)
        context = x if context is None else as_variable(context)
        for name, v in ("x", x), ("context", context):
            if v.ndim < 2:
                raise ValueError(
                    f"MultiHeadAttention: expected {name} of shape (..., T, in_size), "
                    f"got {v.shape}"
                )
        q, k, v = self.query(x), self.key(context), self.value(context)
        if mask is not None:
            mask = as_variable(mask)
            if mask.ndim > 2:
                mask = F.expand_dims(mask, -3)  # (..., Tq, Tk) -> (..., 1, Tq, Tk)
        q, k, v = self._split(q), self._split(k), self._split(v)
        ratio = self.dropout_ratio
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, mask, causal, ratio)
        else:
            before = cache.length
            k, v = cache.append(k, v)
            try:
                y = F.scaled_dot_product_attention(q, k, v, mask, causal, ratio)
            except Exception:
                cache.length = before  # x would count twice in a second attempt
                raise
        # (..., heads, Tq, D/heads) -> (..., Tq, D)
        y = F.swapaxes(y, -3, -2)
        return self.out(F.reshape(y, (*y.shape[:-2], self.size)))

    def _split(self, x: Variable) -> Variable:
        """(..., T, D) -> (..., heads, T, D/heads)."""
        parts = self.num_heads, self.size // self.num_heads
        return F.swapaxes(F.reshape(x, (*x.shape[:-1], *parts)), -3, -2)


class TransformerBlock(Layer):
    """Self-attention, then two Linear layers at each place, both added to what came in.

    ``x = x + attention(norm1(x))``, ``y = x + fc2(activation(fc1(norm2(x))))``: the
    normalization stands before each part, which trains without a warm-up. Xiong et al.
    2020, arXiv:2002.04745.

    Layers:
        norm1, norm2: LayerNorm().
        attention: MultiHeadAttention(size, num_heads).
        fc1: Linear(hidden_size).
        fc2: Linear(size).

    Args:
        size: Number of features that go in and come out.
        num_heads: Number of heads, a divisor of ``size``.
        hidden_size: Number of features between ``fc1`` and ``fc2``; by default
            ``4 * size``.
        dropout_ratio: What is dropped in training: attention weights, and elements of
            what is added.
        causal: Look at places that are not later only.
        activation: The function between ``fc1`` and ``fc2``.
        dtype: Floating dtype of the parameters.
        initial_W: An initializer, to start the W of all Linear layers otherwise.

    Raises:
        TypeError: A size is no integer, ``activation`` is no function, ``dtype`` is
            not floating, or ``initial_W`` is no initializer.
        ValueError: As in :class:`MultiHeadAttention`.
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        hidden_size: int | None = None,
        dropout_ratio: float = 0.0,
        causal: bool = False,
        activation: Callable[[Any], Variable] = F.gelu,
        dtype: Any = np.float32,
        initial_W: Initializer | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        size = self.size = as_size(name, "size", size)
        if hidden_size is None:
            hidden_size = 4 * size
        hidden_size = as_size(name, "hidden_size", hidden_size)
        if not callable(activation):
            raise TypeError(
                f"{name}: expected activation to be a function, got "
                f"{type(activation).__name__}"
            )
        as_floating(name, dtype)
        self.causal, self.activation = bool(causal), activation
        self.dropout_ratio = as_ratio(name, "dropout_ratio", dropout_ratio)
        self.norm1 = LayerNorm(dtype=dtype, in_size=size)
        self.attention = MultiHeadAttention(
            size, num_heads, dropout_ratio, False, dtype, size, initial_W
        )
        self.norm2 = LayerNorm(dtype=dtype, in_size=size)
        self.fc1 = Linear(hidden_size, False, dtype, size, initial_W)
        self.fc2 = Linear(size, False, dtype, hidden_size, initial_W)

    def forward(
        self,
        x: ArrayLike,
        mask: ArrayLike | None = None,
        cache: KeyValueCache | None = None,
    ) -> Variable:
        """Map each place.

        Args:
            x: (..., T, size).
            mask: As in :class:`MultiHeadAttention`.
            cache: Likewise, in a causal block.

        Returns:
            Variable of shape (..., T, size).

        Raises:
            RuntimeError: ``cache`` is given where gradients are recorded.
            TypeError: It is no KeyValueCache.
            ValueError: The shapes do not fit, the cache is full, or the block is not
                causal and ``cache`` is given.
        """
        x = as_variable(x)
        if cache is not None and not self.causal:
            raise ValueError(
                "TransformerBlock: expected causal=True with a cache, got False: the "
                "places before would have to look at those of x"
            )
        y = self.attention(self.norm1(x), mask=mask, causal=self.causal, cache=cache)
        x = x + F.dropout(y, self.dropout_ratio)
        y = self.fc2(self.activation(self.fc1(self.norm2(x))))
        return x + F.dropout(y, self.dropout_ratio)


def _check_cache(cache: Any, context: Any) -> None:
    if not isinstance(cache, KeyValueCache):
        raise TypeError(
            "MultiHeadAttention: expected cache to be a KeyValueCache, got "
            f"{type(cache).__name__}"
        )
    if context is not None:
        raise ValueError(
            "MultiHeadAttention: expected cache or context, got both: what x looks at "
            "does not go on with x"
        )
