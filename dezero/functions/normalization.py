"""Normalization within each sample: by layer, by group, by root mean square, by length.

Batch normalization, which goes across the samples, has its own file.
"""

import math

import numpy as np

from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.comparison import maximum
from dezero.functions.norms import norm
from dezero.functions.shape import as_axis, as_integer
from dezero.functions.standardizing import Standardize, as_eps, by_channel

__all__ = ["group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]


def layer_norm(
    x: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    eps: float = 1e-5,
) -> Variable:
    """Give each row mean 0 and variance 1, then each place in it its scale and shift.

    ``y = gamma * (x - mean) / sqrt(var + eps) + beta``, with the mean and the (biased)
    variance of the last axis. A row of equal numbers gives ``beta``. Ba, Kiros, Hinton
    2016, arXiv:1607.06450.

    Args:
        x: (..., D).
        gamma: (D,), or None for 1.
        beta: (D,), or None for 0.
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``eps`` is no number.
        ValueError: ``x`` is 0-d, ``gamma`` or ``beta`` has another shape, or ``eps`` is
            not above 0.
    """
    return _rows("layer_norm", x, gamma, beta, eps, center=True)


def rms_norm(
    x: ArrayLike, gamma: ArrayLike | None = None, eps: float = 1e-5
) -> Variable:
    """Divide each row by its root mean square: ``y = gamma * x / sqrt(ms + eps)``.

    ``ms`` is the mean of ``x**2`` over the last axis: :func:`layer_norm` without the
    mean and the shift. Zhang, Sennrich 2019, arXiv:1910.07467.

    Args:
        x: (..., D).
        gamma: (D,), or None for 1.
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``eps`` is no number.
        ValueError: ``x`` is 0-d, ``gamma`` has another shape, or ``eps`` is not above
            0.
    """
    return _rows("rms_norm", x, gamma, None, eps, center=False)


def _rows(function, x, gamma, beta, eps, center):
    x = as_variable(x)
    eps = as_eps(function, eps)
    if x.ndim == 0:
        raise ValueError(f"{function}: expected at least one axis, got x of shape ()")
    *rows, D = x.shape
    M = math.prod(rows)
    gamma = by_channel(function, "gamma", gamma, D)
    beta = by_channel(function, "beta", beta, D)
    return Standardize((1, M, D), (M, D, 1), eps, center)(x, gamma, beta)


def group_norm(
    x: ArrayLike,
    num_groups: int,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    eps: float = 1e-5,
) -> Variable:
    """Give each group of channels of each sample mean 0 and variance 1.

    ``y = gamma * (x - mean) / sqrt(var + eps) + beta``, with the mean and the (biased)
    variance of the C / ``num_groups`` neighbouring channels of one sample, at all
    positions; scale and shift go by channel. With one group all of a sample is
    normalized at once. Wu, He 2018, arXiv:1803.08494.

    Args:
        x: (N, C, ...).
        num_groups: How many groups; C is a multiple of it.
        gamma: (C,), or None for 1.
        beta: (C,), or None for 0.
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``num_groups`` is no integer, or ``eps`` no number.
        ValueError: ``x`` has less than two axes, C is no multiple of ``num_groups``,
            ``gamma`` or ``beta`` has another shape, or ``eps`` is not above 0.
    """
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(
            f"group_norm: expected x of shape (N, C, ...), got shape {x.shape}"
        )
    num_groups = as_integer("group_norm", "num_groups", num_groups)
    if num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(
            f"group_norm: expected a number of groups that divides C = {x.shape[1]}, "
            f"got {num_groups}"
        )
    return _groups("group_norm", x, num_groups, gamma, beta, eps)


def instance_norm(
    x: ArrayLike,
    gamma: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    eps: float = 1e-5,
) -> Variable:
    """Give each channel of each sample mean 0 and variance 1.

    ``y = gamma * (x - mean) / sqrt(var + eps) + beta``, with the mean and the (biased)
    variance over the positions: :func:`group_norm` with a group for each channel.
    Ulyanov, Vedaldi, Lempitsky 2016, arXiv:1607.08022.

    Args:
        x: (N, C, L), (N, C, H, W) or more axes of positions.
        gamma: (C,), or None for 1.
        beta: (C,), or None for 0.
        eps: Above 0; keeps the division safe.

    Returns:
        Variable of the shape of ``x``. Half precision is computed in single precision.

    Raises:
        TypeError: ``eps`` is no number.
        ValueError: ``x`` has less than three axes, ``gamma`` or ``beta`` has another
            shape, or ``eps`` is not above 0.
    """
    x = as_variable(x)
    if x.ndim < 3:
        raise ValueError(
            "instance_norm: expected x of shape (N, C, L) or more axes, got shape "
            f"{x.shape}"
        )
    return _groups("instance_norm", x, x.shape[1], gamma, beta, eps)


def _groups(function, x, num_groups, gamma, beta, eps):
    eps = as_eps(function, eps)
    N, C, *positions = x.shape
    L = math.prod(positions)
    gamma = by_channel(function, "gamma", gamma, C)
    beta = by_channel(function, "beta", beta, C)
    layout = 1, N * num_groups, C // max(num_groups, 1) * L
    return Standardize(layout, (N, C, L), eps)(x, gamma, beta)


def normalize(x: ArrayLike, axis: int = 1, eps: float = 1e-12) -> Variable:
    """Divide by the length along an axis: ``y = x / max(norm(x), eps)``.

    The norm is the root of the sum of squares. A vector of zeros stays one; its slope
    is 1 / eps.

    Args:
        x: Any shape that has ``axis``.
        axis: The axis along which vectors get the length 1.
        eps: Above 0; keeps the division safe. At least the least normal number of the
            dtype of ``x`` is taken.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``eps`` is no number.
        ValueError: ``x`` has no such axis, or ``eps`` is not above 0.
    """
    x = as_variable(x)
    axis = as_axis("normalize", axis, x.shape)
    eps = as_eps("normalize", eps)
    if x.dtype.kind == "f":
        eps = max(eps, float(np.finfo(x.dtype).tiny))
    return x / maximum(norm(x, axis=axis, keepdims=True), eps)
