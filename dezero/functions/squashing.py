"""Activations whose values stay between bounds, without exponentials."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.dtypes import cast
from dezero.functions.safe import SafeMul

__all__ = [
    "HardTanh",
    "Softsign",
    "hard_sigmoid",
    "hard_tanh",
    "relu6",
    "softsign",
]


class Softsign(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        xp = cuda.get_array_module(x)
        return x / (1 + xp.abs(x))

    def backward(self, gy):
        # Not gy * (1 - |y|)**2: for large x that is the square of a rounding error.
        r = 1 / (1 + abs(self.inputs[0]))
        return gy * r * r


def softsign(x: ArrayLike) -> Variable:
    """``y = x / (1 + |x|)``, as tanh between -1 and 1, but slow to get there.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    x = as_variable(x)
    return Softsign()(x if x.dtype.kind == "f" else cast(x, np.float64))


class HardTanh(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, low=-1, high=1):
        self.low, self.high = low, high

    def forward(self, x):
        return cuda.get_array_module(x).clip(x, self.low, self.high)

    def backward(self, gy):
        y = self.outputs[0]().data
        inside = (y > self.low) & (y < self.high)
        return SafeMul()(inside.astype(gy.dtype), gy)


def hard_tanh(x: ArrayLike) -> Variable:
    """Tanh in three straight lines: ``y = min(max(x, -1), 1)``.

    The gradient is 0 at -1 and 1 too, unlike that of :func:`clip`.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    x = as_variable(x)
    return HardTanh()(x if x.dtype.kind == "f" else cast(x, np.float64))


def relu6(x: ArrayLike) -> Variable:
    """Relu with an upper bound: ``y = min(max(x, 0), 6)``.

    The gradient is 0 at 0 and at 6. Krizhevsky 2010, "Convolutional deep belief
    networks on CIFAR-10".

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return HardTanh(0, 6)(as_variable(x))


def hard_sigmoid(x: ArrayLike) -> Variable:
    """Sigmoid in three straight lines: ``y = min(max(x + 3, 0), 6) / 6``.

    The gradient is 0 at -3 and 3 too. As in MobileNetV3: Howard et al. 2019,
    arXiv:1905.02244; others have taken the slope 1/5 where this has 1/6.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return relu6(as_variable(x) + 3.0) / 6
