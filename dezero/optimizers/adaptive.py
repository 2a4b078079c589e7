"""Optimizers that give every element a step size of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import optimizers as kernels
from dezero.optimizers.base import Optimizer
from dezero.optimizers.gathering import ends_with_launch


class AdaGrad(Optimizer):
    """The step size falls with the squares of all gradients so far.

    ``h <- h + g**2``, then ``p <- p - lr * g / (sqrt(h) + eps)``.
    Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
    Stochastic Optimization" (2011), the diagonal form; eps stands outside the root.

    Args:
        lr: Learning rate, at least 0.
        eps: Keeps the divisor from zero; at least 0. With 0, an element whose gradient
            was never anything but zero becomes NaN.

    Raises:
        ValueError: A value is outside its range.
    """

    def __init__(self, lr: float = 0.001, eps: float = 1e-8) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)
        self.eps = self.number("eps", eps)

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The sum of squares ``h`` starts from zero."""
        xp = cuda.get_array_module(grad)
        return {"h": xp.zeros(grad.shape, grad.dtype)}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Add the square of the gradient of ``param``, and take a step."""
        xp = cuda.get_array_module(param.data)
        lr, eps = float(self.lr), float(self.eps)
        total = self.state(param)["h"]
        if xp is not np:
            self.launch(kernels.adagrad, param, [total], lr, eps)
            return
        for p, g, h, tmp in self.blocks(param, total):
            xp.multiply(g, g, out=tmp)
            h += tmp
            xp.sqrt(h, out=tmp)
            tmp += eps
            xp.divide(g, tmp, out=tmp)
            tmp *= lr
            p -= tmp


class AdaDelta(Optimizer):
    """Steps as large as the steps so far: no learning rate has to be found.

    ::

        v <- rho * v + (1 - rho) * g**2
        d <- sqrt(u + eps) / sqrt(v + eps) * g
        u <- rho * u + (1 - rho) * d**2
        p <- p - lr * d

    Algorithm 1 of Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012), where
    lr is 1.

    Args:
        rho: Share of both mean squares that is kept, in [0, 1).
        eps: Sets the size of the first steps; above 0.
        lr: Multiplies every step, at least 0; there for schedules.

    Raises:
        ValueError: A value is outside its range.
    """

    below = {"rho": 1}

    def __init__(self, rho: float = 0.95, eps: float = 1e-6, lr: float = 1.0) -> None:
        super().__init__()
        self.rho = self.number("rho", rho)
        self.eps = self.number("eps", eps)
        if self.eps == 0:
            raise ValueError(f"AdaDelta: expected eps to be positive, got {eps}")
        self.lr = self.number("lr", lr)

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The mean squares of gradients ``v`` and of steps ``u`` start from zero."""
        xp = cuda.get_array_module(grad)
        return {name: xp.zeros(grad.shape, grad.dtype) for name in ("v", "u")}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Take a step, and keep the mean squares of gradient and step."""
        xp = cuda.get_array_module(param.data)
        rho, eps, lr = float(self.rho), float(self.eps), float(self.lr)
        state = self.state(param)
        arrays = [state["v"], state["u"]]
        if xp is not np:
            self.launch(kernels.adadelta, param, arrays, rho, 1 - rho, eps, lr)
            return
        for p, g, v, u, tmp in self.blocks(param, *arrays):
            d = self.scratch(tmp)
            xp.multiply(g, g, out=tmp)
            tmp *= 1 - rho
            v *= rho
            v += tmp
            xp.add(u, eps, out=d)
            xp.add(v, eps, out=tmp)
            d /= tmp
            xp.sqrt(d, out=d)
            d *= g
            xp.multiply(d, d, out=tmp)
            tmp *= 1 - rho
            u *= rho
            u += tmp
            d *= lr
            p -= d


class RMSprop(Optimizer):
    """The step size falls with the root of the mean square of the latest gradients.

    ::

        v <- rho * v + (1 - rho) * g**2
        s <- v,  or v - a**2 with a <- rho * a + (1 - rho) * g  if centered
        d <- momentum * d + g / (sqrt(s) + eps)
        p <- p - lr * d

    Tieleman and Hinton, "Neural Networks for Machine Learning", lecture 6.5 (2012);
    centered: Graves, "Generating Sequences With Recurrent Neural Networks" (2013),
    except that eps stands outside the root in both.

    Args:
        lr: Learning rate, at least 0.
        rho: Share of the means that is kept, in [0, 1).
        eps: Keeps the divisor from zero; at least 0. With 0, an element whose gradient
            was never anything but zero becomes NaN.
        momentum: Share of the step that is kept, in [0, 1).
        centered: Divide by the standard deviation in place of the root mean square.

    Raises:
        ValueError: A value is outside its range.
    """

    below = {"rho": 1, "momentum": 1}
    made_late = ("a", "d")  # where they were switched on since the last update

    def __init__(
        self,
        lr: float = 0.01,
        rho: float = 0.99,
        eps: float = 1e-8,
        momentum: float = 0.0,
        centered: bool = False,
    ) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)
        self.rho = self.number("rho", rho)
        self.eps = self.number("eps", eps)
        self.momentum = self.number("momentum", momentum)
        self.centered = centered

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The mean square ``v`` and, where asked for, ``a`` and ``d`` start from 0."""
        xp = cuda.get_array_module(grad)
        names = ["v", *["a"] * bool(self.centered), *["d"] * bool(self.momentum)]
        return {name: xp.zeros(grad.shape, grad.dtype) for name in names}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Change the means by the gradient of ``param``, and take a step."""
        xp = cuda.get_array_module(param.data)
        lr, rho, eps = float(self.lr), float(self.rho), float(self.eps)
        momentum = float(self.momentum)
        state = self.state(param)
        for name, wanted in ("a", self.centered), ("d", momentum):
            if wanted and name not in state:  # switched on between two updates
                with cuda.on_device_of(state["v"]):
                    state[name] = xp.zeros_like(state["v"])
        # Where the rule needs no mean or no step, v takes their place, unused.
        arrays = [state.get(name, state["v"]) for name in ("v", "a", "d")]
        if xp is not np:
            numbers = lr, rho, 1 - rho, eps, momentum, bool(self.centered)
            self.launch(kernels.rmsprop, param, arrays, *numbers)
            return
        for p, g, v, a, d, tmp in self.blocks(param, *arrays):
            xp.multiply(g, g, out=tmp)
            tmp *= 1 - rho
            v *= rho
            v += tmp
            if self.centered:
                xp.multiply(g, 1 - rho, out=tmp)
                a *= rho
                a += tmp
                xp.multiply(a, a, out=tmp)
                xp.subtract(v, tmp, out=tmp)
                xp.maximum(tmp, 0, out=tmp)  # rounding makes a variance of 0 negative
                xp.sqrt(tmp, out=tmp)
            else:
                xp.sqrt(v, out=tmp)
            tmp += eps
            xp.divide(g, tmp, out=tmp)
            if momentum:
                d *= momentum
                d += tmp
                xp.multiply(d, lr, out=tmp)
            else:
                tmp *= lr
            p -= tmp
