"""Arguments for every fused kernel, as the tests call it with and without a GPU."""

import inspect

import numpy as np

from dezero.kernels import (
    activation,
    depthwise,
    gated,
    gaussian_error,
    lookup,
    optimizers,
    safe,
    softmax,
    standardizing,
    windows,
)

SHAPE = 4, 7
T, N, H = 4, 3, 5
# What is a mean square, or a sum of squares, is not below 0.
NOT_NEGATIVE = {"v", "h", "u", "largest", "var", "total", "second"}


class Case:
    """A kernel, the numbers it takes, and the shapes of arrays that have another.

    ``axis`` and ``size`` are not of the kernel, but how it is called.
    """

    def __init__(self, kernel, axis=None, size=None, **given):
        self.kernel, self.given = kernel, given
        options = {"axis": axis, "size": size}
        self.options = {k: n for k, n in options.items() if n is not None}
        self.parameters = parameters_of(kernel)

    def __repr__(self):
        name = self.kernel.parts["name"].removeprefix("dezero_")
        flags = [k for k, x in self.given.items() if x is True]
        return "-".join([name, *flags])

    def arguments(self, dtype, rng):
        """The arguments by name, where the letters stand for ``dtype`` or its like."""
        working = np.dtype(np.float32) if dtype == np.float16 else dtype
        values = {}
        for name, letter in self.parameters.items():
            x = self.given.get(name, SHAPE)
            if isinstance(x, tuple):
                fixed = np.dtype(letter) if len(letter) > 1 else dtype
                if letter == "V":  # which of all taps won
                    values[name] = rng.integers(12, size=x).astype(np.uint8)
                    continue
                if letter == "I":  # a label
                    values[name] = rng.integers(7, size=x)
                    continue
                x = rng.standard_normal(x)
                x = x > 0 if fixed.kind == "b" else x
                x = np.asarray(x).astype(working if letter == "W" else fixed)
                if name in NOT_NEGATIVE:
                    x = abs(x)
            values[name] = x
        return values


def parameters_of(kernel):
    """Inputs and outputs: their types, or the letters of these, by name."""
    found = {}
    for text in kernel.parts["in_params"], kernel.parts["out_params"]:
        for parameter in text.split(","):
            *_, letter, name = parameter.split()
            found[name] = letter
    twin = list(inspect.signature(kernel.twin).parameters)
    assert twin == list(found) or "numbers_and" in twin[-1]
    return found


# Three axes, all numbers different: sizes, kernel, stride, pads, dilation and places.
NUMBERS = [[4, 5, 6], [2, 3, 2], [1, 2, 3], [1, 1, 0], [2, 1, 3], [4, 3, 1]]
WINDOW = dict(zip(windows.NAMES, sum(NUMBERS, []), strict=True))
# The same without padding, for any tap may win.
BARE = dict(WINDOW, PD=0, PH=0, OD=2, OH=2)
ONE_BY_ONE = WINDOW | {"C": 3, "images": 1}
BESIDE = WINDOW | {"C": 3, "images": 2}
EACH, SIX = {"C": 3, "each": 2}, (2, 6, 4, 3, 1)
FEW = 2, 3, 2, 2, 1
IMAGE, PLACES, TAPS = (2, 3, 4, 5, 6), (2, 3, 4, 3, 1), (2, 3, 2, 3, 2, 4, 3, 1)
ADAM = {"beta1": 0.9, "rest1": 0.1, "beta2": 0.99, "rest2": 0.01, "eps": 1e-3}
RMSPROP = {"lr": 0.1, "rho": 0.9, "rest": 0.1, "eps": 0.1}
COLUMN = {"mean": (4, 1)}
TWO = {"first": SHAPE[:1], "second": SHAPE[:1]}
ROW = dict.fromkeys(["rest", "var", "inv"], SHAPE[:1])
STATISTICS = COLUMN | {"rest": (4, 1), "inv": (4, 1), "gamma": SHAPE[1:]}
SUMS = {"m": SHAPE[:1], "total": SHAPE[:1]}
LOSS = {"C": 7, "n": 4, "total": (4,), "y": (4,)}
GRAD = {"C": 7, "n": 4, "t": (4, 1), "m": (4, 1), "total": (4, 1)}
IDS = {"id": (4, 1), "D": 7}  # of which one may be no row
FLAGS = False, True
STATES, KEPT, STATE = (T + 1, N, H), (T, N, H), (N, H)
SEQUENCE = {"size": N * H, "t": 2, "H": H, "mask": (T, N), "h": STATES, "c": STATES}
SEQUENCE |= dict.fromkeys(["z", "un", "gy"], KEPT)
SEQUENCE |= dict.fromkeys(["gh", "gc", "rest"], STATE)
RNN, LSTM, GRU = [
    {"product": (N, n * H), "a": (T, N, n * H), "ga": (T, N, n * H)} for n in (1, 4, 3)
]
GRU |= {"bh": (3 * H,), "gu": (T, N, 3 * H)}
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
    Case(optimizers.scaled, scale=(1,)),
    Case(optimizers.decayed, rate=0.3),
    Case(optimizers.nonfinite, axis=1, y=SHAPE[:1]),
    Case(optimizers.bounded, limit=0.5),
    Case(optimizers.averaged, share=0.1),
    Case(standardizing.deviations, axis=1, **COLUMN, **TWO),
    Case(standardizing.deviations, axis=1, mean=0.0, **TWO),
    Case(standardizing.variance, axis=1, n=7, eps=1e-3, center=True, **ROW),
    Case(standardizing.variance, axis=1, n=7, eps=1e-3, center=False, **ROW),
    Case(standardizing.standardized, **STATISTICS, beta=SHAPE[1:]),
    Case(standardizing.standardized, **STATISTICS, beta=0.0),
    Case(
        standardizing.gradient_sums,
        axis=1,
        **STATISTICS,
        dot=SHAPE[:1],
        total=SHAPE[:1],
    ),
    Case(
        standardizing.standardized_grad,
        **STATISTICS,
        dot=(4, 1),
        total=(4, 1),
        n=7,
        scale=0.5,
    ),
    Case(standardizing.running, decay=0.9, fresh=0.1, unbiased=0.2),
    Case(standardizing.running, rest=0.0, decay=0.9, fresh=0.1, unbiased=0.0),
    Case(softmax.softmax_sums, axis=1, open=True, bias=0.0, partly=False, **SUMS),
    Case(softmax.softmax_sums, axis=1, open=SHAPE, bias=SHAPE, partly=True, **SUMS),
    Case(softmax.softmax, open=SHAPE, bias=SHAPE[1:], m=(4, 1), total=(4, 1)),
    Case(softmax.softmax, open=True, bias=0.0, m=(4, 1), total=(4, 1)),
    Case(softmax.softmax_dot, axis=1, dot=SHAPE[:1]),
    Case(softmax.softmax_grad, dot=(4, 1)),
    Case(softmax.cross_entropy, **LOSS, t=(4,), m=(4,), mean=0.0, smoothing=0.0),
    Case(softmax.cross_entropy, **LOSS, t=(4,), m=(4,), mean=(4,), smoothing=0.1),
    Case(softmax.cross_entropy_grad, **GRAD, gy=(), smoothing=0.0),
    Case(softmax.cross_entropy_grad, **GRAD, gy=(4, 1), smoothing=0.1),
    Case(safe.safe_mul),
    Case(safe.masked, scale=2.0),
    Case(safe.safe_div, kink=False),
    Case(safe.safe_div, kink=True),
    Case(windows.fill_columns, size=72, x=IMAGE, **ONE_BY_ONE, column=TAPS),
    Case(windows.fill_columns, size=72, x=IMAGE, **BESIDE, column=TAPS),
    Case(windows.add_columns, column=TAPS, **ONE_BY_ONE, fresh=False, x=IMAGE),
    Case(windows.add_columns, column=TAPS, **BESIDE, fresh=True, x=IMAGE),
    Case(depthwise.depthwise, x=IMAGE, W=(6, 12), **WINDOW, **EACH, y=SIX),
    Case(depthwise.depthwise_transposed, y=SIX, W=(6, 12), **WINDOW, **EACH, x=IMAGE),
    Case(depthwise.depthwise_kernel, x=IMAGE, y=SIX, **WINDOW, **EACH, W=(2, 6, 12)),
    Case(windows.max_pool, x=IMAGE, **WINDOW, y=PLACES),
    Case(windows.first_maxima, x=IMAGE, y=PLACES, **WINDOW, winner=PLACES),
    Case(windows.pick, x=IMAGE, winner=FEW, **BARE, y=FEW),
    Case(windows.give, gy=FEW, winner=FEW, **BARE, gx=IMAGE),
    Case(windows.average_pool, x=IMAGE, counts=(1,), **WINDOW, y=PLACES),
    Case(windows.average_pool, x=IMAGE, counts=(12,), **WINDOW, y=PLACES),
    Case(windows.give_equally, gy=PLACES, counts=(1,), **WINDOW, gx=IMAGE),
    Case(windows.give_equally, gy=PLACES, counts=(12,), **WINDOW, gx=IMAGE),
    Case(lookup.look_up, W=(6, 7), **IDS, V=6, missing=float("nan")),
    Case(lookup.add_rows, **IDS, V=6, gW=(6, 7)),
    Case(lookup.one_hot, **IDS, n=7, missing=0.0),
    Case(activation.sigmoid),
    Case(activation.sigmoid_grad),
    Case(activation.tanh_grad),
    Case(activation.relu_grad),
    Case(gaussian_error.gelu, approximate=False),
    Case(gaussian_error.gelu, approximate=True),
    Case(gaussian_error.gelu_grad, approximate=False),
    Case(gaussian_error.gelu_grad, approximate=True),
    *[Case(gated.rnn, **SEQUENCE, **RNN, masked=masked) for masked in FLAGS],
    *[Case(gated.rnn_back, **SEQUENCE, **RNN, masked=masked) for masked in FLAGS],
    *[Case(gated.lstm, **SEQUENCE, **LSTM, masked=masked) for masked in FLAGS],
    *[Case(gated.lstm_back, **SEQUENCE, **LSTM, masked=masked) for masked in FLAGS],
    *[Case(gated.gru, **SEQUENCE, **GRU, masked=masked) for masked in FLAGS],
    *[Case(gated.gru_back, **SEQUENCE, **GRU, masked=masked) for masked in FLAGS],
]
