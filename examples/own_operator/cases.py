"""What softclip must agree with, and on which inputs: `pytest --dezero-cases cases`."""

import numpy as np
from softclip import softclip

from dezero.testing import Case, arrays, broadcastable, positive


def reference(x, limit):
    """The formula in NumPy."""
    return limit * np.tanh(x / limit)


# Pairs of arrays whose shapes broadcast; the limit is drawn above 0.
INPUTS = broadcastable(2, elements=(arrays, positive))

CASES = [Case(softclip, INPUTS, reference=reference)]
