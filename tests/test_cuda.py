"""The backend shim, as far as it goes without a device."""

import random

import numpy as np
import pytest

import dezero as dz


@pytest.mark.parametrize("n", [3, np.int64(3), np.uint8(3)])
def test_seed_makes_runs_repeat(n):
    dz.seed(3)
    expected = random.random(), np.random.rand()
    dz.seed(n)
    assert (random.random(), np.random.rand()) == expected


@pytest.mark.parametrize("n", ["3", 3.5, None])
def test_seed_takes_integers(n):
    state = random.getstate()
    with pytest.raises(TypeError, match=r"seed: expected an integer in \[0, 2\*\*32\)"):
        dz.seed(n)
    assert random.getstate() == state


@pytest.mark.parametrize("n", [-1, 2**32])
def test_seed_takes_what_numpy_takes(n):
    with pytest.raises(
        ValueError, match=r"seed: expected an integer in \[0, 2\*\*32\)"
    ):
        dz.seed(n)
