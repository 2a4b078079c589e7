"""Adam and AdamW: momentum, and a step size of its own for every element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import optimizers as kernels
from dezero.optimizers.base import Optimizer
from dezero.optimizers.gathering import ends_with_launch


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
    With ``amsgrad`` the largest v so far stands in place of v in the last line, so that
    a step size never grows again: Reddi, Kale and Kumar, "On the Convergence of Adam
    and Beyond" (2018), which leaves the corrections out; here they stay.

    Args:
        lr: Learning rate, at least 0 (0.001 by default).
        beta1: Share of the first moment that is kept, in [0, 1).
        beta2: Share of the second moment that is kept, in [0, 1).
        eps: Bounds the step where gradients are nearly zero; at least 0. With 0, an
            element whose gradient was never anything but zero becomes NaN.
        bias_correction: Divide by c1 and c2.
        amsgrad: Never let a step size grow again.
        alpha: Another name for ``lr``.

    Raises:
        TypeError: ``lr`` and ``alpha`` are both given.
        ValueError: A value is outside its range.
    """

    below = {"beta1": 1, "beta2": 1}
    made_late = ("largest",)  # where amsgrad was switched on since the last update

    def __init__(
        self,
        lr: float | None = None,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        bias_correction: bool = True,
        amsgrad: bool = False,
        *,
        alpha: float | None = None,
    ) -> None:
        super().__init__()
        if alpha is not None:
            if lr is not None:
                raise TypeError(
                    f"{type(self).__name__}: expected lr or alpha, names of the same "
                    "thing, got both"
                )
            lr = alpha
        self.lr = self.number("lr", 0.001 if lr is None else lr)
        self.beta1 = self.number("beta1", beta1)
        self.beta2 = self.number("beta2", beta2)
        self.eps = self.number("eps", eps)
        self.bias_correction = bias_correction
        self.amsgrad = amsgrad

    @property
    def alpha(self) -> float:
        """Another name for ``lr``."""
        return self.lr

    @alpha.setter
    def alpha(self, value: float) -> None:
        self.lr = value

    def init_state(self, grad: Array) -> dict[str, Any]:
        """Both moments start from zero; ``t`` counts the updates."""
        names = ["m", "v", "largest"] if self.amsgrad else ["m", "v"]
        xp = cuda.get_array_module(grad)
        return {**{name: xp.zeros(grad.shape, grad.dtype) for name in names}, "t": 0}

    @ends_with_launch
    def update_one(self, param: Variable) -> None:
        """Change the moments of ``param`` by its gradient, and take a step."""
        xp = cuda.get_array_module(param.data)
        state = self.state(param)
        state["t"] += 1
        lr, beta1, beta2 = float(self.lr), float(self.beta1), float(self.beta2)
        eps = float(self.eps)
        shrink = self.shrinkage()
        if self.bias_correction:
            # Two passes fewer over the arrays, because (m/c1) / (sqrt(v/c2) + eps)
            # is (sqrt(c2)/c1) * m / (sqrt(v) + sqrt(c2)*eps).
            root = math.sqrt(1 - beta2 ** state["t"])
            lr *= root / (1 - beta1 ** state["t"])
            eps *= root
        if self.amsgrad and "largest" not in state:  # switched on between two updates
            with cuda.on_device_of(state["v"]):
                state["largest"] = state["v"].copy()
        # With amsgrad, the largest v so far divides; else v itself.
        moments = [state[k] for k in ("m", "v", "largest" if self.amsgrad else "v")]
        if xp is not np:
            self.launch(
                kernels.adam, param, moments, beta1, 1 - beta1, beta2, 1 - beta2, eps,
                lr, shrink, bool(self.amsgrad),
            )  # fmt: skip
            return
        for p, g, m, v, largest, tmp in self.blocks(param, *moments):
            xp.multiply(g, 1 - beta1, out=tmp)
            m *= beta1
            m += tmp
            xp.multiply(g, g, out=tmp)
            tmp *= 1 - beta2
            v *= beta2
            v += tmp
            if self.amsgrad:
                xp.maximum(largest, v, out=largest)
            if shrink:
                # In the dtype of tmp: half precision would round the shrinkage away.
                xp.multiply(p, shrink, out=tmp, dtype=tmp.dtype)
                p -= tmp
            xp.sqrt(largest, out=tmp)
            tmp += eps
            xp.divide(m, tmp, out=tmp)
            tmp *= lr
            p -= tmp

    def shrinkage(self) -> float:
        """The share of itself that every parameter loses before its step."""
        return 0.0


class AdamW(Adam):
    """Adam with weight decay that the moments do not see.

    ``p <- p - lr * weight_decay * p``, then the step of :class:`Adam`. The hook
    ``WeightDecay`` adds to the gradient instead, where Adam divides it by the root of
    the mean square: weights with large gradients would hardly decay.
    Algorithm 2 of Loshchilov and Hutter, "Decoupled Weight Decay Regularization"
    (2019), with the learning rate as the multiplier of its schedule.

    Args:
        lr: Learning rate, at least 0 (0.001 by default).
        beta1: Share of the first moment that is kept, in [0, 1).
        beta2: Share of the second moment that is kept, in [0, 1).
        eps: Bounds the step where gradients are nearly zero; at least 0.
        weight_decay: Strength of the decay, at least 0. To spare biases and the like,
            give ``setup`` groups.
        bias_correction: Make up for moments that start from zero.
        amsgrad: Never let a step size grow again.
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
        weight_decay: float = 0.01,
        bias_correction: bool = True,
        amsgrad: bool = False,
        *,
        alpha: float | None = None,
    ) -> None:
        super().__init__(lr, beta1, beta2, eps, bias_correction, amsgrad, alpha=alpha)
        self.weight_decay = self.number("weight_decay", weight_decay)

    def shrinkage(self) -> float:
        """``lr * weight_decay``."""
        return float(self.lr) * float(self.weight_decay)
