"""Products and quotients in gradients, where infinite slopes must do no harm.

Each has the value 0 at a place where the formula alone would give NaN; but NaN times or
by anything stays NaN.
"""

import numpy as np

from dezero import cuda
from dezero.functions.elementwise import Elementwise
from dezero.kernels import safe as kernels


class SafeMul(Elementwise):
    """``x0 * x1``, and 0 where ``x0`` is 0 even if ``x1`` is infinite.

    For gradients: where nothing depends on a value, its infinite slope does no harm.
    """

    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        if not isinstance(x1, np.ndarray) and _suit_kernel(x0, x1):
            return kernels.safe_mul(x0, x1)
        cast = None
        if _is_mask(x0) and x0.shape == x1.shape and x1.dtype.kind == "f":
            # In place it takes two thirds of the time of a product with booleans.
            cast = x0.astype(x1.dtype)
        return unless_invalid(
            "multiply", x0, x1, lambda: (x0 == 0) & (x1 == x1), cast=cast
        )

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        return (
            SafeMul()(gy, x1) if need0 else None,
            SafeMul()(x0, gy) if need1 else None,
        )


class SafeDiv(Elementwise):
    """``x0 / x1``, and 0 where ``x0`` is 0; or, for a kink, 0 where ``x1`` is 0.

    For gradients. The first form is the slope of log or sqrt: infinite at 0, unless
    nothing depends on the value. The second is a direction, as in the gradient of a
    length: at length 0 there is none, and none of its derivatives.
    """

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, kink=False):
        self.kink = kink

    def forward(self, x0, x1):
        if not isinstance(x1, np.ndarray) and _suit_kernel(x0, x1):
            return kernels.safe_div(x0, x1, self.kink)
        if self.kink:
            return unless_invalid(
                "divide", x0, x1, lambda: (x1 == 0) & (x0 == x0), divide="raise"
            )
        return unless_invalid("divide", x0, x1, lambda: (x0 == 0) & (x1 == x1))

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        gx0 = SafeDiv(self.kink)(gy, x1) if need0 else None
        if not need1:
            return gx0, None
        return gx0, -SafeDiv(self.kink)(SafeDiv(self.kink)(gy * x0, x1), x1)


def _suit_kernel(x0, x1):
    """Are they on a GPU, and the result has the dtype of ``x1``?"""
    on_gpu = cuda.get_array_module(x1) is not np
    return on_gpu and x1.dtype.kind == "f" and x0.dtype in (x1.dtype, np.dtype(bool))


def _is_mask(x):
    """Is it an array of booleans? (A comparison of 0-d arrays gives a scalar.)"""
    return isinstance(x, np.ndarray) and x.dtype.kind == "b"


def unless_invalid(name, x0, x1, is_zero, divide="ignore", cast=None):
    """The ufunc ``name`` of both, with zeros where ``is_zero()`` says so.

    ``cast`` may be a copy of ``x0`` in the dtype of the result, to be written over.

    The mask is only computed if the processor flagged an invalid operation (0 * inf,
    0 / 0), which costs nothing to find out. On a GPU there is no such flag.
    """
    xp = cuda.get_array_module(x0)
    ufunc = getattr(xp, name)
    if xp is np:
        try:
            with np.errstate(invalid="raise", divide=divide):
                return ufunc(x0 if cast is None else cast, x1, out=cast)
        except FloatingPointError:
            pass
    with np.errstate(invalid="ignore", divide="ignore"):
        y = ufunc(x0, x1)
    return xp.where(is_zero(), y.dtype.type(0), y)
