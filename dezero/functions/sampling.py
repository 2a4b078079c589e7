"""Random samples that gradients pass through, to the parameters of a distribution."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.arguments import as_number
from dezero.functions.dtypes import as_variables
from dezero.functions.exponential import exp
from dezero.functions.noise import normal_like
from dezero.functions.probabilities import softmax
from dezero.functions.shape import as_axis

__all__ = ["OneHotOfMax", "gaussian", "gumbel_softmax"]


def gaussian(mean: ArrayLike, log_var: ArrayLike) -> Variable:
    """Sample of normal distributions: ``y = mean + exp(log_var / 2) * e``.

    e is drawn from N(0, 1) for each element, in test mode too; it follows
    ``np.random.seed``. The noise is a constant, so the gradient reaches mean and
    variance: the reparameterisation of Kingma, Welling 2013, arXiv:1312.6114.

    Args:
        mean: Any shape.
        log_var: Logarithm of the variance, any shape that broadcasts with that of
            ``mean``.

    Returns:
        Variable of the broadcast shape.
    """
    mean, log_var = as_variables(mean, log_var)
    std = exp(log_var * 0.5)
    xp = cuda.get_array_module(mean)
    shape = np.broadcast_shapes(mean.shape, std.shape)
    return mean + std * normal_like(xp.broadcast_to(std.data, shape))


class OneHotOfMax(Function):
    """One at the first greatest element, else 0; the gradient passes straight through.

    Bengio, Leonard, Courville 2013, arXiv:1308.3432.
    """

    reads_inputs = False
    reads_outputs = False

    def __init__(self, axis):
        self.axis = axis

    def forward(self, x):
        xp = cuda.get_array_module(x)
        along = [1] * x.ndim
        along[self.axis] = -1
        places = xp.arange(x.shape[self.axis]).reshape(along)
        best = x.argmax(axis=self.axis, keepdims=True)
        return (places == best).astype(x.dtype)

    def backward(self, gy):
        return gy


def gumbel_softmax(
    x: ArrayLike, temperature: float = 1.0, hard: bool = False, axis: int = 1
) -> Variable:
    """Almost a random choice by scores: ``y = softmax((x + g) / temperature)``.

    g is drawn from the Gumbel distribution, ``-log(-log(u))`` with u between 0 and 1,
    in test mode too; it follows ``np.random.seed``. The greatest element of y stands at
    class i with probability ``softmax(x)[i]``; the lower the temperature, the closer is
    y to one-hot. Jang, Gu, Poole 2016, arXiv:1611.01144; Maddison, Mnih, Teh 2016,
    arXiv:1611.00712.

    Args:
        x: Scores, any shape that has ``axis``.
        temperature: A number > 0.
        hard: Return the choice itself, zeros and a one. Its gradient is that of the
            soft form ("straight through").
        axis: The axis of the classes.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``temperature`` is no number.
        ValueError: It is not above 0, or ``x`` has no such axis.
    """
    x = as_variable(x)
    axis = as_axis("gumbel_softmax", axis, x.shape)
    temperature = as_number("gumbel_softmax", "temperature", temperature, above=0)
    xp = cuda.get_array_module(x)
    # -log(u) is exponentially distributed; it may be 0, with probability 2**-53.
    e = xp.maximum(xp.random.standard_exponential(x.shape), np.finfo(float).tiny)
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    y = softmax((x - xp.log(e).astype(dtype)) / temperature, axis)
    return OneHotOfMax(axis)(y) if hard and x.size else y
