"""Batch normalization: each channel by the mean and variance of the whole batch."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.functions.dtypes import cast, working_dtypes
from dezero.functions.elementary import sqrt
from dezero.functions.shape import reshape
from dezero.functions.standardizing import Standardize, as_eps, by_channel
from dezero.kernels import standardizing as kernels

__all__ = ["batch_norm", "batch_nrom", "fixed_batch_norm"]


def batch_norm(
    x: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    mean: Variable | Array,
    var: Variable | Array,
    decay: float = 0.9,
    eps: float = 2e-5,
) -> Variable:
    """Give each channel mean 0 and variance 1, then a scale and a shift of its own.

    In training ``y = gamma * (x - m) / sqrt(v + eps) + beta``, where m and v are mean
    and (biased) variance of a channel over the batch and all positions; and the running
    statistics follow, in place: ``mean = decay * mean + (1 - decay) * m``, likewise
    ``var`` with the unbiased variance ``v * n / (n - 1)`` of the n elements. In test
    mode it is :func:`fixed_batch_norm` with the running statistics as constants. Ioffe,
    Szegedy 2015, arXiv:1502.03167.

    A single element per channel (n = 1) is its own mean: y is ``beta`` and x gets no
    gradient. It says nothing about the variance, so ``var`` stays as it is.

    Args:
        x: (N, C), (N, C, L), (N, C, H, W) or more axes: axis 1 is the channel.
        gamma: (C,), or None for 1.
        beta: (C,), or None for 0.
        mean: (C,), an array or the Variable of one; changed in training.
        var: (C,), likewise.
        decay: How much of the running statistics a batch leaves, in [0, 1].
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``mean`` or ``var`` is no floating array, or ``decay`` or ``eps`` no
            number.
        ValueError: A shape does not fit, there is no element per channel in training,
            a running array is read-only, ``decay`` is outside [0, 1], or ``eps`` is not
            above 0.
    """
    x, layout, eps = _with_layout("batch_norm", x, eps)
    decay = as_number("batch_norm", "decay", decay)
    if not 0 <= decay <= 1:
        raise ValueError(f"batch_norm: expected decay in [0, 1], got {decay:g}")
    mean = _running("mean", mean, layout[1])
    var = _running("var", var, layout[1])
    if not Config.train:
        return _fixed("batch_norm", x, gamma, beta, mean, var, eps)
    n = layout[0] * layout[2]
    if n == 0:
        raise ValueError(
            "batch_norm: expected at least one element per channel in training, got x "
            f"of shape {x.shape}"
        )
    gamma = by_channel("batch_norm", "gamma", gamma, layout[1])
    beta = by_channel("batch_norm", "beta", beta, layout[1])
    f = Standardize(layout, layout, eps)
    y = f(x, gamma, beta)
    if not isinstance(x.data, np.ndarray):
        m, rest, v = [a.reshape(-1) for a in (f.mean, f.rest, f.var)]
        unbiased = (1 - decay) * n / (n - 1) if n > 1 else 0.0
        kernels.running(m, rest, v, decay, 1 - decay, unbiased, mean, var)
        return y
    m, v = f.mean[:, 0], f.var[:, 0]
    if f.rest is not None:
        m = m + f.rest[:, 0]
    new_mean = _moved(mean, m, decay)
    new_var = _moved(var, v * (n / (n - 1)), decay) if n > 1 else var
    # Only now, when nothing can fail any more: both or none.
    mean[...], var[...] = new_mean, new_var
    return y


def _moved(average: Array, new: Array, decay: float) -> Array:
    """``decay * average + (1 - decay) * new`` in the dtype of ``average``."""
    return average * decay + ((1 - decay) * new).astype(average.dtype, copy=False)


batch_nrom = batch_norm  # the name in DeZero 0.0.13


def fixed_batch_norm(
    x: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    mean: ArrayLike,
    var: ArrayLike,
    eps: float = 2e-5,
) -> Variable:
    """Batch normalization by given statistics, whatever the mode.

    ``y = gamma * (x - mean) / sqrt(var + eps) + beta``, differentiable by all five.

    Args:
        x: (N, C), (N, C, L), (N, C, H, W) or more axes: axis 1 is the channel.
        gamma: (C,), or None for 1.
        beta: (C,), or None for 0.
        mean: (C,).
        var: (C,), not negative.
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``eps`` is no number.
        ValueError: A shape does not fit, or ``eps`` is not above 0.
    """
    x, _, eps = _with_layout("fixed_batch_norm", x, eps)
    return _fixed("fixed_batch_norm", x, gamma, beta, mean, var, eps)


def _fixed(
    function: str,
    x: Variable,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    mean: ArrayLike,
    var: ArrayLike,
    eps: float,
) -> Variable:
    C = x.shape[1]
    given = {"gamma": gamma, "beta": beta, "mean": mean, "var": var}
    p: dict[str, Any] = {k: by_channel(function, k, a, C) for k, a in given.items()}
    gamma, beta = p["gamma"], p["beta"]
    # In the dtype of x, whatever that of the statistics; half precision as single.
    dtype, work = working_dtypes(x, gamma, beta)
    column = C, *[1] * (x.ndim - 2)
    factor = 1 / sqrt(cast(p["var"], work) + eps)
    if gamma is not None:
        factor = factor * gamma
    # The difference first: of a product with a large x, most digits would cancel.
    y = (cast(x, work) - reshape(cast(p["mean"], work), column)) * reshape(
        factor, column
    )
    if beta is not None:
        y = y + reshape(beta, column)
    return cast(y, dtype)


def _with_layout(
    function: str, x: ArrayLike, eps: float
) -> tuple[Variable, tuple[int, int, int], float]:
    """``x``, its shape as (N, C, L), all positions in one axis, and ``eps``."""
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(
            f"{function}: expected x of shape (N, C) or (N, C, ...), got {x.shape}"
        )
    eps = as_eps(function, eps)
    N, C, *positions = x.shape
    return x, (N, C, math.prod(positions)), eps


def _running(name: str, a: Any, C: int) -> Array:
    """The array of a running statistic, fit to be changed in place."""
    if isinstance(a, Variable):
        a = a.data
    if not cuda.is_array(a) or a.dtype.kind != "f":
        what = f"dtype {a.dtype}" if cuda.is_array(a) else type(a).__name__
        raise TypeError(f"batch_norm: expected a floating array as {name}, got {what}")
    if a.shape != (C,):
        raise ValueError(f"batch_norm: expected {name} of shape ({C},), got {a.shape}")
    if Config.train and isinstance(a, np.ndarray) and not a.flags.writeable:
        raise ValueError(
            f"batch_norm: expected {name} to be changed in place, got a read-only array"
        )
    return a
