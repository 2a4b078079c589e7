"""Random disturbances that make training robust."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.safe import SafeMul

__all__ = ["Dropout", "dropout"]

LEVELS = 1 << 16  # of a random number of 16 bits, which is fast to draw and exact


class Dropout(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, dropout_ratio=0.5):
        # Keep `kept` of LEVELS equally likely numbers, and at least one, so that
        # dividing by the probability restores the mean exactly.
        kept = round((1 - dropout_ratio) * LEVELS)
        self.kept = kept if dropout_ratio == 1 else max(kept, 1)
        self.scale = LEVELS / self.kept if self.kept else 0.0

    def forward(self, x):
        self.mask = _random_mask(x, self.kept)
        return SafeMul().forward(self._factors(x.dtype), x)

    def backward(self, gy):
        return SafeMul()(self._factors(gy.dtype), gy)

    def _factors(self, dtype):
        factors = self.mask.astype(dtype if dtype.kind == "f" else np.float64)
        factors *= self.scale
        return factors


def _random_mask(x: Array, kept: int) -> Array:
    """Booleans of the shape of ``x``, each True with probability ``kept / LEVELS``."""
    xp = cuda.get_array_module(x)
    if kept in (0, LEVELS):
        return xp.full(x.shape, kept == LEVELS)
    if xp is np:  # from NumPy's global state, four times as fast as random floats
        numbers = np.frombuffer(np.random.bytes(2 * x.size), np.uint16)
        return (numbers < kept).reshape(x.shape)
    return xp.random.random_sample(x.shape, dtype=np.float32) < kept / LEVELS


def dropout(x: ArrayLike, dropout_ratio: float = 0.5) -> Variable:
    """Set elements to 0 at random in training, and scale the others to keep the mean.

    Each element is kept with probability q = 1 - ``dropout_ratio`` (to 16 bits) and
    divided by q, independently of the others; the gradient of a dropped one is 0. In
    test mode ``x`` passes unchanged. Random numbers follow ``np.random.seed``.
    Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from
    overfitting".

    Args:
        x: Any shape.
        dropout_ratio: The share to drop, in [0, 1].

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``dropout_ratio`` is no number.
        ValueError: ``dropout_ratio`` is outside [0, 1].
    """
    if not isinstance(dropout_ratio, (int, float, np.integer, np.floating)):
        raise TypeError(
            "dropout: expected a number as dropout_ratio, "
            f"got {type(dropout_ratio).__name__}"
        )
    if not 0 <= dropout_ratio <= 1:
        raise ValueError(
            f"dropout: expected dropout_ratio in [0, 1], got {dropout_ratio}"
        )
    x = as_variable(x)
    if not Config.train or dropout_ratio == 0:
        return x
    return Dropout(dropout_ratio)(x)
