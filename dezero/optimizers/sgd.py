"""Gradient descent: plain, with momentum, and by the sign of the momentum."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import optimizers as kernels
from dezero.optimizers.base import Optimizer
from dezero.optimizers.gathering import ends_with_launch


class SGD(Optimizer):
    """Stochastic gradient descent: ``p <- p - lr * g``.

    Args:
        lr: Learning rate, at least 0.

    Raises:
        ValueError: ``lr`` is negative or not finite.
    """

    def __init__(self, lr: float = 0.01) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Take one step against the gradient of ``param``."""
        xp = cuda.get_array_module(param.data)
        lr = float(self.lr)  # a NumPy scalar would compute in float64
        if xp is not np:
            self.launch(kernels.sgd, param, [], lr)
            return
        for p, g, tmp in self.blocks(param):
            xp.multiply(g, lr, out=tmp)
            p -= tmp


class MomentumSGD(Optimizer):
    """Gradient descent with momentum: ``v <- momentum * v - lr * g``, ``p <- p + v``.

    The classical momentum of Polyak (1964), as written by Sutskever et al., "On the
    importance of initialization and momentum in deep learning" (2013). Nesterov's
    takes the gradient where the velocity is about to lead; in terms of that place the
    second half is ``p <- p + momentum * v - lr * g`` (Bengio, Boulanger-Lewandowski
    and Pascanu, "Advances in Optimizing Recurrent Networks", 2013, equation 7).

    Args:
        lr: Learning rate, at least 0.
        momentum: Share of the velocity that is kept, in [0, 1).
        nesterov: Nesterov's momentum in place of the classical one.

    Raises:
        ValueError: A value is outside its range.
    """

    below = {"momentum": 1}

    def __init__(
        self, lr: float = 0.01, momentum: float = 0.9, nesterov: bool = False
    ) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)
        self.momentum = self.number("momentum", momentum)
        self.nesterov = nesterov

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The velocity ``v`` starts from zero."""
        xp = cuda.get_array_module(grad)
        return {"v": xp.zeros(grad.shape, grad.dtype)}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Change the velocity of ``param`` by its gradient, and move by it."""
        xp = cuda.get_array_module(param.data)
        lr, momentum = float(self.lr), float(self.momentum)
        velocity = self.state(param)["v"]
        if xp is not np:
            numbers = lr, momentum, bool(self.nesterov)
            self.launch(kernels.momentum_sgd, param, [velocity], *numbers)
            return
        for p, g, v, tmp in self.blocks(param, velocity):
            xp.multiply(g, lr, out=tmp)
            v *= momentum
            v -= tmp
            if self.nesterov:
                p -= tmp
                xp.multiply(v, momentum, out=tmp)
                p += tmp
            else:
                p += v


class Lion(Optimizer):
    """Steps of one size, in the direction of the sign of the momentum.

    ::

        c <- beta1 * m + (1 - beta1) * g
        p <- p - lr * (sign(c) + weight_decay * p)
        m <- beta2 * m + (1 - beta2) * g

    Algorithm 2 of Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023).
    It wants a learning rate three to ten times smaller than Adam's.

    Args:
        lr: Learning rate, the size of every step; at least 0.
        beta1: Weight of the momentum in the direction, in [0, 1).
        beta2: Share of the momentum that is kept, in [0, 1).
        weight_decay: Strength of the decay, at least 0.

    Raises:
        ValueError: A value is outside its range.
    """

    below = {"beta1": 1, "beta2": 1}

    def __init__(
        self,
        lr: float = 1e-4,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)
        self.beta1 = self.number("beta1", beta1)
        self.beta2 = self.number("beta2", beta2)
        self.weight_decay = self.number("weight_decay", weight_decay)

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The momentum ``m`` starts from zero."""
        xp = cuda.get_array_module(grad)
        return {"m": xp.zeros(grad.shape, grad.dtype)}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Take a step by the sign, then change the momentum of ``param``."""
        xp = cuda.get_array_module(param.data)
        lr, beta1, beta2 = float(self.lr), float(self.beta1), float(self.beta2)
        shrink = lr * float(self.weight_decay)
        mean = self.state(param)["m"]
        if xp is not np:
            self.launch(kernels.lion, param, [mean], lr, beta1, beta2, shrink)
            return
        for p, g, m, tmp in self.blocks(param, mean):
            if shrink:
                # In the dtype of tmp: half precision would round the shrinkage away.
                xp.multiply(p, shrink, out=tmp, dtype=tmp.dtype)
                p -= tmp
            # beta * m + (1 - beta) * g as g + beta * (m - g): no second scratch array
            xp.subtract(m, g, out=tmp)
            tmp *= beta1
            tmp += g
            xp.sign(tmp, out=tmp)
            tmp *= lr
            p -= tmp
            m -= g
            m *= beta2
            m += g
