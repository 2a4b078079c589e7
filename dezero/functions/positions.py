"""Encodings that tell a network where in a sequence an element stands."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.functions.dtypes import as_floating
from dezero.functions.shape import as_integer

__all__ = ["Rotary", "rotary_encoding", "sinusoidal_encoding"]


class Rotary(Function):
    """Turn each pair of numbers by an angle: linear, and undone by turning back."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, cos, sin):
        self.cos, self.sin = cos, sin  # (T, D/2)

    def forward(self, x):
        xp = cuda.get_array_module(x)
        u = as_floating(x)
        y = xp.empty(u.shape, u.dtype)
        even, odd = u[..., 0::2], u[..., 1::2]
        y[..., 0::2] = even * self.cos - odd * self.sin
        y[..., 1::2] = even * self.sin + odd * self.cos
        return y

    def backward(self, gy):
        return Rotary(self.cos, -self.sin)(gy)


def rotary_encoding(x: ArrayLike, base: float = 10000.0, offset: int = 0) -> Variable:
    """Turn pairs of elements by an angle that grows with the position.

    At position t the pair (x[2i], x[2i + 1]) is turned by ``t * base**(-2i / D)``. The
    product of a query and a key, both turned, depends on how far apart they stand, not
    on where. Su et al. 2021, arXiv:2104.09864, with the pairs side by side as there
    (some implementations pair i with i + D / 2).

    Args:
        x: (..., T, D), queries or keys, D even.
        base: Above 0.
        offset: The position of the first row: how many came before, in a cache.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``base`` is no number, or ``offset`` no integer.
        ValueError: ``x`` has less than two axes, D is odd, or ``base`` is not above 0.
    """
    x = as_variable(x)
    angles = _angles("rotary_encoding", x, base, offset)
    xp = cuda.get_array_module(x)
    dtype = as_floating(x.data[:0]).dtype
    return Rotary(xp.cos(angles).astype(dtype), xp.sin(angles).astype(dtype))(x)


def sinusoidal_encoding(
    x: ArrayLike, base: float = 10000.0, offset: int = 0
) -> Variable:
    """Add to each row sines and cosines of its position: ``y = x + P``.

    ``P[t, 2i] = sin(t * base**(-2i / D))`` and ``P[t, 2i + 1]`` is the cosine of the
    same angle. Vaswani et al. 2017, "Attention is all you need", arXiv:1706.03762.

    Args:
        x: (..., T, D), embeddings, D even.
        base: Above 0.
        offset: The position of the first row: how many came before, in a cache.

    Returns:
        Variable of the shape of ``x``; of zeros, it is the table P.

    Raises:
        TypeError: ``base`` is no number, or ``offset`` no integer.
        ValueError: ``x`` has less than two axes, D is odd, or ``base`` is not above 0.
    """
    x = as_variable(x)
    angles = _angles("sinusoidal_encoding", x, base, offset)
    xp = cuda.get_array_module(x)
    P = xp.empty(x.shape[-2:], as_floating(x.data[:0]).dtype)
    P[:, 0::2] = xp.sin(angles)
    P[:, 1::2] = xp.cos(angles)
    return x + P


def _angles(function: str, x: Variable, base: float, offset: int) -> Array:
    """The angles of all positions and pairs, in double precision: (T, D/2)."""
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(
            f"{function}: expected x of shape (..., T, D) with an even D, got {x.shape}"
        )
    base = as_number(function, "base", base, above=0)
    offset = as_integer(function, "offset", offset)
    T, D = x.shape[-2:]
    xp = cuda.get_array_module(x)
    positions = offset + xp.arange(T, dtype=np.float64)
    rates = base ** (-xp.arange(0, D, 2, dtype=np.float64) / max(D, 1))
    return positions[:, None] * rates
