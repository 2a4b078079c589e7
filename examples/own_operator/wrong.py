"""Five ways to get softclip wrong, and what the report says: `python wrong.py`.

`pytest --dezero-cases wrong` shows which property catches each of them.
"""

import numpy as np
from cases import INPUTS, reference
from softclip import Softclip

from dezero import Function
from dezero import functions as F
from dezero.testing import Case, check_gradients


class Sign(Softclip):
    """The gradient by the limit has the wrong sign."""

    def backward(self, gy):
        """Subtract in the wrong order."""
        x, limit = self.inputs
        u = x / limit
        t = F.tanh(u)
        slope = 1 - t * t
        return gy * slope, gy * (u * slope - t)


class Factor(Softclip):
    """The gradient by x is twice what it should be."""

    def backward(self, gy):
        """Take the derivative of t**2 for that of t."""
        x, limit = self.inputs
        u = x / limit
        t = F.tanh(u)
        slope = 1 - t * t
        return 2 * gy * slope, gy * (t - u * slope)


class MissingSumTo(Function):
    """Broadcasts, but derives from Function: nobody sums the gradients back."""

    forward = Softclip.forward
    backward = Softclip.backward


class Dtype(Softclip):
    """Float32 goes in and float64 comes out."""

    def forward(self, x, limit):
        """Make the result without saying of which dtype."""
        y = np.empty(np.broadcast_shapes(x.shape, limit.shape))
        y[...] = limit * np.tanh(x / limit)
        return y


class InPlace(Softclip):
    """The incoming gradient is used as scratch memory; it belongs to others too."""

    def backward(self, gy):
        """Save an array at the wrong end."""
        x, limit = self.inputs
        u = x / limit
        t = F.tanh(u)
        slope = 1 - t * t
        by_limit = gy * (t - u * slope)
        gy.data *= slope.data
        return gy, by_limit


WRONG = [Sign, Factor, MissingSumTo, Dtype, InPlace]


def function_of(cls):
    """A function, named after the class, that applies it."""

    def function(x, limit):
        return cls()(x, limit)

    function.__name__ = cls.__name__
    return function


CASES = [Case(function_of(cls), INPUTS, reference=reference) for cls in WRONG]


def report_on(cls):
    """Check one of them at float32 inputs that broadcast."""
    rng = np.random.RandomState(0)
    x = rng.uniform(-2, 2, (2, 3)).astype(np.float32)
    limit = rng.uniform(0.5, 2, 3).astype(np.float32)
    return check_gradients(function_of(cls), x, limit)


def main():
    """Print the failure of each."""
    for cls in WRONG:
        print(f"{cls.__name__}: {cls.__doc__}\n")
        try:
            report_on(cls).assert_ok()
        except AssertionError as error:
            print(error)
        else:
            raise SystemExit(f"{cls.__name__} was not found out")
        print()


if __name__ == "__main__":
    main()
