"""What the normalizations share: mean 0, variance 1, then a scale and a shift.

An array of any shape is seen here in a layout (N, C, L): C channels, of N * L elements
each, and numbers that go by channel have the shape (C, 1). Statistics and parameters
may go by different channels: in a layer norm of M rows of D the layouts are (1, M, D)
and (M, D, 1).
"""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions import standardizing_on_gpu as on_gpu
from dezero.functions.arguments import as_number
from dezero.functions.dtypes import cast, working_dtypes
from dezero.functions.elementary import sqrt
from dezero.functions.recomputing import recorded_gradients
from dezero.functions.reduction import mean
from dezero.functions.shape import reshape

__all__ = ["Standardize"]


def _total(x: Array) -> Array:
    """Sum of each channel: (N, C, L) -> (C, 1)."""
    if x.shape[2] == 1:
        return x[:, :, 0].sum(axis=0)[:, None]
    # Over short rows einsum is up to three times as fast as sum.
    return cuda.get_array_module(x).einsum("ncl->nc", x).sum(axis=0)[:, None]


def _dot(x: Array, y: Array) -> Array:
    """Sum of ``x * y`` over each channel: (N, C, L) -> (C, 1)."""
    xp = cuda.get_array_module(x)
    if x.shape[2] == 1:
        return xp.einsum("nc,nc->c", x[:, :, 0], y[:, :, 0])[:, None]
    return xp.einsum("ncl,ncl->nc", x, y).sum(axis=0)[:, None]


class Standardize(Function):
    """``y = gamma * (x - mean) / sqrt(var + eps) + beta``; gamma and beta may be None.

    Mean and variance go by the channels of ``layout``, gamma and beta by those of
    ``parameters``. Without ``center`` the mean counts as 0. Of the arrays as large as x
    only x itself is kept.
    """

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, layout, parameters, eps, center=True):
        self.layout, self.parameters = layout, parameters
        self.eps, self.center = eps, center
        # Channels without elements have variance 0, not 0 / 0.
        self.n = max(layout[0] * layout[2], 1)

    def forward(self, x, gamma, beta):
        dtype, work = working_dtypes(x, gamma, beta)
        xp = cuda.get_array_module(x)
        self.mean: Any = None
        self.rest: Any = None
        if xp is not np and x.size:
            self.axes = on_gpu.axes_of(self.layout, self.parameters)
            result = on_gpu.standardize(
                x, gamma, beta, self.axes, self.eps, self.center, (dtype, work)
            )
            _, self.mean, self.rest, self.var, self.inv = result
            return result.y
        u = x.astype(work, copy=False).reshape(self.layout)
        if self.center:
            self.mean = _total(u) / self.n
            y = u - self.mean
            self.var = _dot(y, y) / self.n
            # The mean is rounded. Far from 0 that is much, compared with the
            # deviations, but they are exact: what is left of their mean can go.
            far = self.mean * self.mean > 256 * (self.var + self.eps)
            if xp is not np or far.any():
                self.rest = _total(y) / self.n
                y -= self.rest
                self.var = _dot(y, y) / self.n
        else:
            self.var = _dot(u, u) / self.n
        self.inv = 1 / xp.sqrt(self.var + self.eps)
        factor = self.inv
        if gamma is not None:
            gamma = gamma.astype(work, copy=False)[:, None]
            if self.layout == self.parameters:
                factor, gamma = factor * gamma, None
        if self.center:
            y *= factor
        else:
            y = u * factor
        y = y.reshape(self.parameters)
        if gamma is not None:
            y *= gamma
        if beta is not None:
            y += beta[:, None]
        return y.reshape(x.shape).astype(dtype, copy=False)

    def backward(self, gy):
        if Config.enable_backprop:
            return recorded_gradients(
                lambda *inputs: (self.compose(*inputs),),
                self.inputs,
                self.needs_grad,
                (gy,),
            )
        x, gamma, _ = [v if v is None else v.data for v in self.inputs]
        return self._fused(gy.data, x, gamma)

    def _fused(self, gy, x, gamma):
        xp = cuda.get_array_module(x)
        work = self.inv.dtype
        need_x, need_gamma, need_beta = self.needs_grad
        if xp is not np and x.size:
            result = on_gpu.Result(gy, self.mean, self.rest, self.var, self.inv)
            return on_gpu.gradients(gy, x, gamma, self.axes, result, self.needs_grad)
        u = x.astype(work, copy=False).reshape(self.layout)
        g = gy.astype(work, copy=False).reshape(self.parameters)
        # First the standardized x, then in its place the gradient by x.
        y = u - self.mean if self.center else u * self.inv
        if self.center:
            if self.rest is not None:
                y -= self.rest
            y *= self.inv
        same = self.layout == self.parameters
        dot = total = ggamma = gbeta = None
        if need_gamma or (need_x and same):
            dot = _dot(g, y.reshape(self.parameters))
            ggamma = dot[:, 0] if need_gamma else None
        if need_beta or (need_x and same and self.center):
            total = _total(g)
            gbeta = total[:, 0] if need_beta else None
        if not need_x:
            return None, ggamma, gbeta
        # gx = inv * (g - mean(g) - y * mean(g * y)), g the gradient before the scale.
        factor = self.inv
        if same:
            factor = factor if gamma is None else factor * gamma[:, None]
        else:
            g = g if gamma is None else g * gamma.astype(work, copy=False)[:, None]
            g = g.reshape(self.layout)
            dot = _dot(g, y)
            total = _total(g) if self.center else None
        y *= dot / self.n
        if self.center:
            y += total / self.n
        xp.subtract(g, y, out=y)
        y *= factor
        return y.reshape(x.shape), ggamma, gbeta

    def compose(self, x, gamma, beta):
        """The same, put together from functions."""
        dtype, work = working_dtypes(x, gamma, beta)
        d = reshape(cast(x, work), self.layout)
        if self.center and x.size:
            if self.rest is not None:
                d = d - self.mean  # a constant: the next line takes the gradient of all
            d = d - mean(d, (0, 2), keepdims=True)
        if x.size:
            d = d / sqrt(mean(d * d, (0, 2), keepdims=True) + self.eps)
        y = reshape(d, self.parameters)
        column = self.parameters[1], 1
        if gamma is not None:
            y = y * reshape(cast(gamma, work), column)
        if beta is not None:
            y = y + reshape(cast(beta, work), column)
        return cast(reshape(y, x.shape), dtype)


def as_eps(function: str, eps: float) -> float:
    """``eps`` as a number that keeps a constant channel from dividing by zero.

    Raises:
        TypeError: It is no number.
        ValueError: It is not above 0.
    """
    return as_number(function, "eps", eps, above=0)


def by_channel(function: str, name: str, p: Any, C: int) -> Variable | None:
    """A parameter as a Variable, or None.

    Raises:
        ValueError: Its shape is not (C,).
    """
    if p is None:
        return None
    p = as_variable(p)
    if p.shape != (C,):
        raise ValueError(f"{function}: expected {name} of shape ({C},), got {p.shape}")
    return p
