"""Random states, given back as they were."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def unchanged_random_states() -> Iterator[None]:
    """Give the states of NumPy and Python back as they were, whatever is drawn inside.

    That of a GPU cannot be read, so it moves on.
    """
    numbers, python = np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        np.random.set_state(numbers)
        random.setstate(python)
