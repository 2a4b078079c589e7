"""Arguments for every fused kernel, as the tests call it with and without a GPU."""

import inspect

import numpy as np

from dezero.kernels import gated, gaussian_error, optimizers

SHAPE = 4, 7
N, H = 3, 5
# What is a mean square, or a sum of squares, is not below 0.
NOT_NEGATIVE = {"v", "h", "u", "largest"}


class Case:
    """A kernel, the numbers it takes, and the shapes of arrays that have another.

    ``axis`` is not of the kernel, but how a reduction is called.
    """

    def __init__(self, kernel, axis=None, **given):
        self.kernel, self.given = kernel, given
        self.options = {} if axis is None else {"axis": axis}
        self.parameters = parameters_of(kernel)

    def __repr__(self):
        name = self.kernel.parts["name"].removeprefix("dezero_")
        flags = [k for k, x in self.given.items() if x is True]
        return "-".join([name, *flags])

    def arguments(self, dtype, rng):
        """The arguments by name, where the letters stand for ``dtype`` or its like."""
        working = np.dtype(np.float32) if dtype == np.float16 else dtype
        values = {}
        for name, (kind, letter) in self.parameters.items():
            x = self.given.get(name, SHAPE)
            if isinstance(x, tuple):
                fixed = np.dtype(letter) if len(letter) > 1 else dtype
                x = rng.standard_normal(x).astype(working if letter == "W" else fixed)
                if kind == "state" and name in NOT_NEGATIVE:
                    x = abs(x)
            values[name] = x
        return values


def parameters_of(kernel):
    """By name: is it an input or an output (``state``), and its type."""
    found = {}
    for kind, text in ("input", "in_params"), ("state", "out_params"):
        for parameter in kernel.parts[text].split(","):
            *_, letter, name = parameter.split()
            found[name] = kind, letter
    assert list(found) == list(inspect.signature(kernel.twin).parameters)
    return found


ADAM = {"beta1": 0.9, "rest1": 0.1, "beta2": 0.99, "rest2": 0.01, "eps": 1e-3}
RMSPROP = {"lr": 0.1, "rho": 0.9, "rest": 0.1, "eps": 0.1}
FOUR, THREE, STATE = (N, 4 * H), (N, 3 * H), (N, H)
CASES = [
    Case(optimizers.sgd, lr=0.1),
    Case(optimizers.momentum_sgd, lr=0.1, momentum=0.9, nesterov=False),
    Case(optimizers.momentum_sgd, lr=0.1, momentum=0.9, nesterov=True),
    Case(optimizers.lion, lr=0.1, beta1=0.9, beta2=0.99, shrink=0.01),
    Case(optimizers.adam, **ADAM, lr=0.1, shrink=0.01, amsgrad=False),
    Case(optimizers.adam, **ADAM, lr=0.1, shrink=0.0, amsgrad=True),
    Case(optimizers.adagrad, lr=0.1, eps=1e-3),
    Case(optimizers.adadelta, rho=0.9, rest=0.1, eps=1e-3, lr=1.0),
    Case(optimizers.rmsprop, **RMSPROP, momentum=0.0, centered=False),
    Case(optimizers.rmsprop, **RMSPROP, momentum=0.5, centered=True),
    Case(optimizers.square_sum, axis=1, y=SHAPE[:1]),
    Case(optimizers.clipping_scale, total=(), max_norm=0.1, scale=()),
    Case(gaussian_error.gelu, approximate=False),
    Case(gaussian_error.gelu, approximate=True),
    Case(gaussian_error.gelu_grad, approximate=False),
    Case(gaussian_error.gelu_grad, approximate=True),
    Case(gated.lstm, u=FOUR, c0=STATE, H=H, a=FOUR, h=STATE, c=STATE, z=STATE),
    Case(gated.lstm_back, a=FOUR, c0=STATE, z=STATE, gh=STATE, H=H, gc=STATE, ga=FOUR),
    Case(gated.gru, u=THREE, h0=STATE, H=H, a=THREE, h=STATE, un=STATE),
    Case(
        gated.gru_back, a=THREE, h0=STATE, un=STATE, H=H, gh=STATE, ga=THREE, gu=THREE
    ),
]
