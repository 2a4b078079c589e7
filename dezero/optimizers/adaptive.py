"""Optimizers that give every element a step size of its own."""

from __future__ import annotations

import math
from typing import Any

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.optimizers.base import Optimizer, check_number


class Adam(Optimizer):
    """Adaptive moments: the mean of the gradient over the root of its mean square.

    ::

        m <- beta1 * m + (1 - beta1) * g
        v <- beta2 * v + (1 - beta2) * g**2
        p <- p - lr * (m / c1) / (sqrt(v / c2) + eps)

    with ``c1 = 1 - beta1**t`` and ``c2 = 1 - beta2**t`` in the t-th update of a
    parameter, which make up for moments that start from zero; without bias correction
    both are 1.
    Algorithm 1 of Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).

    Args:
        lr: Learning rate, at least 0 (0.001 by default).
        beta1: Share of the first moment that is kept, in [0, 1).
        beta2: Share of the second moment that is kept, in [0, 1).
        eps: Bounds the step where gradients are nearly zero; at least 0. With 0, an
            element whose gradient was never anything but zero becomes NaN.
        bias_correction: Divide by c1 and c2.
        alpha: Another name for ``lr``.

    Raises:
        TypeError: ``lr`` and ``alpha`` are both given.
        ValueError: A value is outside its range.
    """

    def __init__(
        self,
        lr: float | None = None,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        bias_correction: bool = True,
        *,
        alpha: float | None = None,
    ) -> None:
        super().__init__()
        if alpha is not None:
            if lr is not None:
                raise TypeError(
                    "Adam: expected lr or alpha, names of the same thing, got both"
                )
            lr = alpha
        self.lr = check_number(self, "lr", 0.001 if lr is None else lr)
        self.beta1 = check_number(self, "beta1", beta1, high=1)
        self.beta2 = check_number(self, "beta2", beta2, high=1)
        self.eps = check_number(self, "eps", eps)
        self.bias_correction = bias_correction

    @property
    def alpha(self) -> float:
        """Another name for ``lr``."""
        return self.lr

    @alpha.setter
    def alpha(self, value: float) -> None:
        self.lr = value

    def init_state(self, grad: Array) -> dict[str, Any]:
        """Both moments start from zero; ``t`` counts the updates."""
        xp = cuda.get_array_module(grad)
        zeros = [xp.zeros(grad.shape, grad.dtype) for _ in range(2)]
        return {"m": zeros[0], "v": zeros[1], "t": 0}

    def update_one(self, param: Variable) -> None:
        """Change the moments of ``param`` by its gradient, and take a step."""
        xp = cuda.get_array_module(param.data)
        state = self.state(param)
        state["t"] += 1
        lr, beta1, beta2 = float(self.lr), float(self.beta1), float(self.beta2)
        eps = float(self.eps)
        if self.bias_correction:
            # Two passes fewer over the arrays, because (m/c1) / (sqrt(v/c2) + eps)
            # is (sqrt(c2)/c1) * m / (sqrt(v) + sqrt(c2)*eps).
            root = math.sqrt(1 - beta2 ** state["t"])
            lr *= root / (1 - beta1 ** state["t"])
            eps *= root
        for p, g, m, v, tmp in self.blocks(param, state["m"], state["v"]):
            xp.multiply(g, 1 - beta1, out=tmp)
            m *= beta1
            m += tmp
            xp.multiply(g, g, out=tmp)
            tmp *= 1 - beta2
            v *= beta2
            v += tmp
            xp.sqrt(v, out=tmp)
            tmp += eps
            xp.divide(m, tmp, out=tmp)
            tmp *= lr
            p -= tmp
