"""Normalization layers: mean 0, variance 1, then a scale and a shift to be learned."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.functions.arguments import as_number
from dezero.layers.arguments import (
    as_floating,
    as_ratio,
    as_size,
    as_size_or_none,
    call_text,
)
from dezero.layers.base import Layer


class _Normalization(Layer):
    """What the normalizations share: parameters as long as one axis of x.

    Running statistics (``avg_...``) are no parameters to be trained, and in single
    precision at least: small changes to them would be lost in half.
    """

    gamma: Parameter
    beta: Parameter

    axis = 1  # the axis that parameters go by
    size_name = "in_channels"
    names: tuple[str, ...] = ("gamma", "beta")
    default_eps = 1e-5

    def __init__(self, size: int | None, eps: float, dtype: Any) -> None:
        super().__init__()
        name = type(self).__name__
        self.eps = as_number(name, "eps", eps, above=0)
        self.dtype = None if dtype is None else as_floating(name, dtype)
        size = as_size_or_none(name, self.size_name, size)
        for parameter in self.names:
            trained = not parameter.startswith("avg")
            setattr(self, parameter, Parameter(None, parameter, trained))
        if size is not None:
            self._fill(size, np.dtype(self.dtype or np.float32), np)

    def _fill(self, size: int, dtype: np.dtype, xp: Any) -> None:
        """Give those that have no data yet their first values."""
        for name in self.names:
            p = getattr(self, name)
            if p.data is None:
                running = name.startswith("avg")
                kind = np.result_type(dtype, np.float32) if running else dtype
                p.data = xp.full(size, name in ("gamma", "avg_var"), kind)

    def _prepare(self, x: ArrayLike) -> Variable:
        """``x`` as a Variable that fits the parameters; made now, if need be."""
        x = as_variable(x)
        if x.ndim <= max(self.axis, 0):
            what = f"at least {self.axis + 1} axes" if self.axis > 0 else "an axis"
            raise ValueError(f"{self!r}: expected x with {what}, got shape {x.shape}")
        size = x.shape[self.axis]
        parameters = [getattr(self, name) for name in self.names]
        if any([p.data is None for p in parameters]):
            if size == 0:
                raise ValueError(
                    f"{self!r}: expected x with at least one element along axis "
                    f"{self.axis}, got shape {x.shape}"
                )
            dtype = self.dtype or (x.dtype if x.dtype.kind == "f" else np.float32)
            self._fill(size, np.dtype(dtype), cuda.get_array_module(x))
        for p in parameters:
            if p.shape != (size,):
                raise ValueError(
                    f"{self!r}: expected x of size {p.shape[0] if p.ndim else 1} along "
                    f"axis {self.axis}, as {p.name} has, got shape {x.shape}"
                )
        return x

    def __repr__(self) -> str:
        size = None if self.gamma.data is None else len(self.gamma.data)
        return call_text(self, *self._arguments(), **self._shown(size))

    def _arguments(self) -> tuple[Any, ...]:
        return ()

    def _shown(self, size: int | None) -> dict[str, tuple[Any, Any]]:
        return {
            "eps": (self.eps, self.default_eps),
            "dtype": (self.dtype, None),
            self.size_name: (size, None),
        }


class BatchNorm(_Normalization):
    """Normalize each channel over the batch: :func:`dezero.functions.batch_norm`.

    In training by the mean and variance of the batch, which the running ones follow; in
    test mode by those.

    Parameters:
        gamma: (C,), ones.
        beta: (C,), zeros.
        avg_mean: (C,), zeros: the running mean. Saved with the others, never trained.
        avg_var: (C,), ones: the running (unbiased) variance, likewise.

    Args:
        decay: How much of the running statistics a batch leaves, in [0, 1].
        eps: Above 0; keeps the division safe.
        dtype: Floating dtype of the parameters; by default that of the first input.
            Running statistics are in single precision at least.
        in_channels: C. By default the first call tells.

    Raises:
        TypeError: An argument is no number, or ``dtype`` is not floating.
        ValueError: A number is out of range.
    """

    default_eps = 2e-5
    names = ("avg_mean", "avg_var", "gamma", "beta")
    avg_mean: Parameter
    avg_var: Parameter

    def __init__(
        self,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: Any = None,
        in_channels: int | None = None,
    ) -> None:
        self.decay = as_ratio("BatchNorm", "decay", decay)
        super().__init__(in_channels, eps, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Normalize ``x``, (N, C) or (N, C, ...); the result has the same shape.

        Raises:
            ValueError: ``x`` has another number of channels, or in training none.
        """
        x = self._prepare(x)
        return F.batch_norm(
            x, self.gamma, self.beta, self.avg_mean, self.avg_var, self.decay, self.eps
        )

    def _shown(self, size: int | None) -> dict[str, tuple[Any, Any]]:
        return {"decay": (self.decay, 0.9)} | super()._shown(size)


class LayerNorm(_Normalization):
    """Normalize each row, the last axis: :func:`dezero.functions.layer_norm`.

    Parameters:
        gamma: (D,), ones.
        beta: (D,), zeros.

    Args:
        eps: Above 0; keeps the division safe.
        dtype: Floating dtype of the parameters; by default that of the first input.
        in_size: D. By default the first call tells.

    Raises:
        TypeError: An argument is no number, or ``dtype`` is not floating.
        ValueError: A number is out of range.
    """

    axis = -1
    size_name = "in_size"

    def __init__(
        self, eps: float = 1e-5, dtype: Any = None, in_size: int | None = None
    ) -> None:
        super().__init__(in_size, eps, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Normalize ``x``, (..., D); the result has the same shape.

        Raises:
            ValueError: ``x`` has another last axis.
        """
        return F.layer_norm(self._prepare(x), self.gamma, self.beta, self.eps)


class RMSNorm(_Normalization):
    """Divide each row by its root mean square: :func:`dezero.functions.rms_norm`.

    Parameters:
        gamma: (D,), ones.

    Args:
        eps: Above 0; keeps the division safe.
        dtype: Floating dtype of gamma; by default that of the first input.
        in_size: D. By default the first call tells.

    Raises:
        TypeError: As in :class:`LayerNorm`.
        ValueError: Likewise.
    """

    axis = -1
    size_name = "in_size"
    names = ("gamma",)

    def __init__(
        self, eps: float = 1e-5, dtype: Any = None, in_size: int | None = None
    ) -> None:
        super().__init__(in_size, eps, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Normalize ``x``, (..., D); the result has the same shape.

        Raises:
            ValueError: ``x`` has another last axis.
        """
        return F.rms_norm(self._prepare(x), self.gamma, self.eps)


class GroupNorm(_Normalization):
    """Normalize groups of channels of each sample: :func:`dezero.functions.group_norm`.

    Parameters:
        gamma: (C,), ones.
        beta: (C,), zeros.

    Args:
        num_groups: How many groups; C is a multiple of it.
        eps: Above 0; keeps the division safe.
        dtype: Floating dtype of the parameters; by default that of the first input.
        in_channels: C. By default the first call tells.

    Raises:
        TypeError: An argument is no number, or ``dtype`` is not floating.
        ValueError: A number is out of range, or C is no multiple of ``num_groups``.
    """

    def __init__(
        self,
        num_groups: int,
        eps: float = 1e-5,
        dtype: Any = None,
        in_channels: int | None = None,
    ) -> None:
        self.num_groups = as_size("GroupNorm", "num_groups", num_groups)
        super().__init__(in_channels, eps, dtype)

    def _fill(self, size: int, dtype: np.dtype, xp: Any) -> None:
        if size % self.num_groups:
            raise ValueError(
                f"GroupNorm: expected a number of channels divisible by num_groups="
                f"{self.num_groups}, got {size}"
            )
        super()._fill(size, dtype, xp)

    def forward(self, x: ArrayLike) -> Variable:
        """Normalize ``x``, (N, C, ...); the result has the same shape.

        Raises:
            ValueError: ``x`` has another number of channels.
        """
        x = self._prepare(x)
        return F.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def _arguments(self) -> tuple[Any, ...]:
        return (self.num_groups,)


class InstanceNorm(_Normalization):
    """Normalize each channel of each sample: :func:`dezero.functions.instance_norm`.

    Parameters:
        gamma: (C,), ones.
        beta: (C,), zeros.

    Args:
        eps: Above 0; keeps the division safe.
        dtype: Floating dtype of the parameters; by default that of the first input.
        in_channels: C. By default the first call tells.

    Raises:
        TypeError: As in :class:`LayerNorm`.
        ValueError: Likewise.
    """

    def __init__(
        self, eps: float = 1e-5, dtype: Any = None, in_channels: int | None = None
    ) -> None:
        super().__init__(in_channels, eps, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Normalize ``x``, (N, C, L) or more axes; the result has the same shape.

        Raises:
            ValueError: ``x`` has another number of channels, or no axis after them.
        """
        return F.instance_norm(self._prepare(x), self.gamma, self.beta, self.eps)
