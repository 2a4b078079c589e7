"""What :mod:`dezero.functions.standardizing` computes, in fused kernels for a GPU.

Each pass over an array as large as x is one launch. Sums over the batch are made in two
stages: a GPU is busy with many sums only, and there may be no more than channels.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dezero import cuda
from dezero.cuda import Array
from dezero.kernels import standardizing as kernels

Shape = tuple[int, ...]
Layout = tuple[int, int, int]
STAGES = 64  # at most: sums of parts of the batch, before these are added up


class Axes(NamedTuple):
    """Five axes in which both layouts fit: the batch in two, groups, channels, rest."""

    whole: Shape  # of x
    statistics: Shape
    parameters: Shape
    over: Shape  # the axes over which statistics are sums
    parameters_over: Shape  # and the gradients of parameters


@functools.lru_cache(maxsize=512)
def axes_of(layout: Layout, parameters: Layout) -> Axes:
    """The axes of two layouts (N, C, L): of statistics, and of parameters."""
    N, C, L = parameters
    stages = math.gcd(N, STAGES)
    if layout == parameters:
        whole = (stages, N // stages, 1, C, L)
        columns = (1, 1, 1, C, 1)
        return Axes(whole, columns, columns, (0, 1, 2, 4), (0, 1, 2, 4))
    G = layout[1] // N  # groups of channels; one in a layer norm
    whole = (stages, N // stages, G, C // G, L)
    return Axes(whole, (*whole[:3], 1, 1), (1, 1, *whole[2:4], 1), (3, 4), (0, 1, 4))


class Result(NamedTuple):
    """The standardized array, and what its gradient needs; numbers go (C, 1)."""

    y: Array
    mean: Array | None  # but for its rounding, ``rest``; both None without center
    rest: Array | None
    var: Array
    inv: Array


def standardize(
    x: Array,
    gamma: Array | None,
    beta: Array | None,
    axes: Axes,
    eps: float,
    center: bool,
    dtypes: tuple[Any, Any],
) -> Result:
    """``y = gamma * (x - mean) / sqrt(var + eps) + beta``, for arrays with elements.

    Args:
        x: Of any shape.
        gamma: (C,) or None.
        beta: (C,) or None.
        axes: Of both layouts.
        eps: Above 0.
        center: Without, the mean counts as 0.
        dtypes: Of the result, and to compute in.
    """
    xp = cuda.get_array_module(x)
    dtype, work = dtypes
    u = x.reshape(axes.whole)
    n = u.size / math.prod(axes.statistics)
    mean: Any = 0.0
    if center:
        inner, outer = _stages(axes.over)
        mean = u.sum(inner, dtype=work, keepdims=True)
        mean = mean.sum(outer, keepdims=True) if outer else mean
        mean /= n
    first, second = _two_sums(kernels.deviations, (u, mean), axes, axes.over, work)
    rest, var, inv = [xp.empty(axes.statistics, work) for _ in range(3)]
    arguments = first, second, n, eps, center, rest, var, inv
    kernels.variance(*arguments, axis=axes.over, keepdims=True)
    factor, shift = _column(gamma, 1.0, axes, work), _column(beta, 0.0, axes, work)
    y = xp.empty(axes.whole, dtype)
    kernels.standardized(u, mean, rest, inv, factor, shift, y)
    rows = [a.reshape(-1, 1) if cuda.is_array(a) else a for a in (mean, rest, var, inv)]
    if not center:
        rows[:2] = None, None
    return Result(y.reshape(x.shape), *rows)


def gradients(
    gy: Array,
    x: Array,
    gamma: Array | None,
    axes: Axes,
    result: Result,
    needs_grad: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """The gradients of x, gamma and beta, those that are needed; others are None.

    Args:
        gy: Of the shape of ``x``.
        x: As for :func:`standardize`, which has made ``result`` of it.
        gamma: Likewise.
        axes: Likewise.
        result: Its ``y`` is not used.
        needs_grad: For x, gamma and beta.
    """
    work = result.inv.dtype
    need_x, need_gamma, need_beta = needs_grad
    g, u = gy.reshape(axes.whole), x.reshape(axes.whole)
    statistics = [
        0.0 if a is None else a.reshape(axes.statistics)
        for a in (result.mean, result.rest, result.inv)
    ]
    factor = _column(gamma, 1.0, axes, work)
    same = axes.statistics == axes.parameters
    gx = None
    ggamma: Any = None
    gbeta: Any = None

    def sums(factor: Any, over: Shape) -> list[Array]:
        found = _two_sums(
            kernels.gradient_sums, (g, u, *statistics, factor), axes, over, work
        )
        outer = _stages(over)[1]
        return [a.sum(outer, keepdims=True) if outer else a for a in found]

    if need_gamma or need_beta or (need_x and same):
        ggamma, gbeta = sums(1.0, axes.parameters_over)
    if need_x:
        dot, total = (ggamma, gbeta) if same else sums(factor, axes.over)
        # Where gamma goes by the same channels, it comes last.
        factor, scale = (1.0, factor) if same else (factor, 1.0)
        total = 0.0 if result.mean is None else total
        n = u.size / math.prod(axes.statistics)
        arguments = g, u, *statistics, factor, dot, total, n, scale
        gx = kernels.standardized_grad(*arguments).reshape(x.shape)
    return (
        gx,
        ggamma.reshape(-1) if need_gamma else None,
        gbeta.reshape(-1) if need_beta else None,
    )


def _stages(over: Shape) -> tuple[Shape, Shape]:
    """The axes of the first sum, and of that over its results; () for none."""
    return tuple([d for d in over if d]), (0,) if 0 in over else ()


def _two_sums(
    kernel: Any, inputs: tuple[Any, ...], axes: Axes, over: Shape, work: Any
) -> list[Array]:
    """The first stage of the two sums that ``kernel`` makes."""
    xp = cuda.get_array_module(inputs[0])
    inner, _ = _stages(over)
    shape = [1 if d in inner else n for d, n in enumerate(axes.whole)]
    found = [xp.empty(shape, work) for _ in range(2)]
    kernel(*inputs, *found, axis=inner, keepdims=True)
    return found


def _column(p: Array | None, otherwise: float, axes: Axes, dtype: Any) -> Any:
    """A parameter to broadcast, or the number that stands in its place."""
    if p is None:
        return otherwise
    return p.astype(dtype, copy=False).reshape(axes.parameters)
