"""The slope of a model's loss: by its gradient, and by differences in float64."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, no_grad
from dezero.layers import Layer

DIRECTIONS = 3
# Relative to the size of the weights. A third of the digits of float64 are lost to
# rounding at such a step, and as many to what the difference leaves out.
STEP = 1e-5
STEP_SINGLE = 1e-2  # if something inside computes in single precision
# Errors up to here are rounding; in float64 they are 1e-7 or less in general.
RIGHT, RIGHT_SINGLE = 1e-5, 1e-3
KINK = 1e-3  # how far slopes at two steps may differ

# Gives the loss of a model that it may change.
LossOf = Callable[[Layer], Any]


@dataclass(frozen=True)
class Slope:
    """One directional derivative by the parameters, in two ways.

    Attributes:
        analytic: From the gradients.
        numeric: From differences.
        error: Their difference, by ``sum |g_i d_i|``.
        kink: Do differences with two steps disagree?
        double: Was the loss computed in float64 throughout, as far as can be seen?
        dtype: The dtype of the loss.
        limit: Up to here the error is rounding.
    """

    analytic: float
    numeric: float
    error: float
    kink: bool
    double: bool
    dtype: str
    limit: float


def in_float64(x: Any) -> Any:
    """Arrays in float64 where they are floating, in tuples and lists too; or a Layer.

    A Layer is changed itself, and returned.
    """
    if isinstance(x, Layer):
        for p in x.params():
            if p.data is not None and p.data.dtype.kind == "f":
                p.data = p.data.astype(np.float64)
                p.cleargrad()
        return x
    if isinstance(x, (tuple, list)):
        return type(x)([in_float64(item) for item in x])
    if isinstance(x, Variable):
        return Variable(in_float64(x.data), requires_grad=x.requires_grad)
    if cuda.is_array(x) and x.dtype.kind == "f":
        return x.astype(np.float64)
    return x


def directional_slopes(model: Layer, loss: LossOf) -> list[Slope]:
    """Slopes along random directions in which all parameters move."""
    rng = np.random.default_rng(0)
    base, grads = _gradients(model, loss)
    double = base.dtype == np.float64
    step = STEP if double else STEP_SINGLE
    slopes = []
    for _ in range(DIRECTIONS):
        ds = [_direction(rng, p) for p, _ in grads]
        terms = [
            d * g.data for d, (_, g) in zip(ds, grads, strict=True) if g is not None
        ]
        analytic = sum([float(term.sum()) for term in terms])
        scale = sum([float(abs(term).sum()) for term in terms])
        coarse, numeric = [_difference(model, loss, ds, h) for h in (step, step / 4)]
        # What rounding of the loss itself makes of a difference. Divided by the limit,
        # it reads as that limit at most, even where the gradient is 0.
        eps = float(np.finfo(base.dtype).eps)
        noise = 8 * eps * max(abs(base.item()), 1e-3) / (step / 4)
        limit = RIGHT if double else RIGHT_SINGLE
        error = abs(analytic - numeric) / (scale + noise / limit)
        kink = abs(coarse - numeric) > KINK * (scale + noise) + noise
        slopes.append(
            Slope(analytic, numeric, error, kink, double, str(base.dtype), limit)
        )
    return slopes


def falls(model: Layer, loss: LossOf) -> tuple[float, float]:
    """The loss before and after a small step down the gradient.

    It is as long as makes a straight line fall by a thousandth of the loss; shorter,
    where that would move the parameters by more than a thousandth of their norm.
    """
    base, grads = _gradients(model, loss)
    known = [(p, g) for p, g in grads if g is not None]
    square = sum([float((g.data**2).sum()) for _, g in known])
    size = sum([float((p.data**2).sum()) for p, _ in known])
    if not square:
        return base.item(), base.item()
    rate = 1e-3 * (abs(base.item()) or 1.0) / square
    rate = min(rate, 1e-3 * (size or 1.0) ** 0.5 / square**0.5)
    ds = [
        -g.data if g is not None else cuda.get_array_module(p.data).zeros_like(p.data)
        for p, g in grads
    ]
    return base.item(), _moved(model, loss, ds, rate)


def _gradients(
    model: Layer, loss: LossOf
) -> tuple[Any, list[tuple[Any, Variable | None]]]:
    """The loss, and the trained parameters with their gradients."""
    used = copy.deepcopy(model)
    used.cleargrads()
    y = loss(used)
    y.backward()
    pairs = zip(model.params(), used.params(), strict=True)
    return y.data, [
        (p, twin.grad)
        for p, twin in pairs
        if p.requires_grad and p.data is not None and p.data.dtype.kind == "f"
    ]


def _difference(model: Layer, loss: LossOf, ds: list[Any], h: float) -> float:
    return (_moved(model, loss, ds, h) - _moved(model, loss, ds, -h)) / (2 * h)


def _moved(model: Layer, loss: LossOf, ds: list[Any], h: float) -> float:
    """The loss of a copy whose parameters are moved by ``h`` times ``ds``."""
    moved = copy.deepcopy(model)
    trained = [
        p
        for p in moved.params()
        if p.requires_grad and p.data is not None and p.data.dtype.kind == "f"
    ]
    for p, d in zip(trained, ds, strict=True):
        p.data = p.data + h * d
    with no_grad():
        return float(loss(moved).item())


def _direction(rng: np.random.Generator, p: Any) -> Any:
    """Random, of the size of the parameter: where that is zero, of the size 1."""
    xp = cuda.get_array_module(p.data)
    d = xp.asarray(rng.standard_normal(p.shape))
    size = float(abs(p.data).max()) if p.size else 0.0
    return d * (size or 1.0)
