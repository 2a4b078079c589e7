"""Gradient descent, plain and with momentum."""

from __future__ import annotations

from typing import Any

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.optimizers.base import Optimizer, check_number


class SGD(Optimizer):
    """Stochastic gradient descent: ``p <- p - lr * g``.

    Args:
        lr: Learning rate, at least 0.

    Raises:
        ValueError: ``lr`` is negative or not finite.
    """

    def __init__(self, lr: float = 0.01) -> None:
        super().__init__()
        self.lr = check_number(self, "lr", lr)

    def update_one(self, param: Variable) -> None:
        """Take one step against the gradient of ``param``."""
        xp = cuda.get_array_module(param.data)
        lr = float(self.lr)  # a NumPy scalar would compute in float64
        for p, g, tmp in self.blocks(param):
            xp.multiply(g, lr, out=tmp)
            p -= tmp


class MomentumSGD(Optimizer):
    """Gradient descent with momentum: ``v <- momentum * v - lr * g``, ``p <- p + v``.

    The classical momentum of Polyak (1964), as written by Sutskever et al., "On the
    importance of initialization and momentum in deep learning" (2013).

    Args:
        lr: Learning rate, at least 0.
        momentum: Share of the velocity that is kept, in [0, 1).

    Raises:
        ValueError: A value is outside its range.
    """

    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None:
        super().__init__()
        self.lr = check_number(self, "lr", lr)
        self.momentum = check_number(self, "momentum", momentum, high=1)

    def init_state(self, grad: Array) -> dict[str, Any]:
        """The velocity ``v`` starts from zero."""
        xp = cuda.get_array_module(grad)
        return {"v": xp.zeros(grad.shape, grad.dtype)}

    def update_one(self, param: Variable) -> None:
        """Change the velocity of ``param`` by its gradient, and move by it."""
        xp = cuda.get_array_module(param.data)
        lr, momentum = float(self.lr), float(self.momentum)
        for p, g, v, tmp in self.blocks(param, self.state(param)["v"]):
            xp.multiply(g, lr, out=tmp)
            v *= momentum
            v -= tmp
            p += v
