"""An operator of one's own: softclip, which no part of DeZero has."""

from dezero import Variable, cuda
from dezero import functions as F
from dezero.functions.elementwise import Elementwise


class Softclip(Elementwise):
    """``y = limit * tanh(x / limit)``; broadcasts, as it derives from Elementwise."""

    def forward(self, x, limit):
        """Compute on arrays, of NumPy or CuPy."""
        xp = cuda.get_array_module(x)
        return limit * xp.tanh(x / limit)

    def backward(self, gy):
        """Compute on Variables, so that it can be differentiated again.

        With u = x / limit and t = tanh(u): dy/dx = 1 - t**2, and by the product rule
        dy/dlimit = t - u * (1 - t**2).
        """
        x, limit = self.inputs
        u = x / limit
        t = F.tanh(u)
        slope = 1 - t * t
        return gy * slope, gy * (t - u * slope)


def softclip(x, limit) -> Variable:
    """Keep ``x`` within ``(-limit, limit)``, smoothly: ``y = limit * tanh(x / limit)``.

    Near 0 it is x itself; far away it is limit with the sign of x.

    Args:
        x: Any shape.
        limit: Above 0, of a shape that broadcasts with that of ``x``.

    Returns:
        Variable of the shape that both broadcast to.
    """
    return Softclip()(x, limit)
