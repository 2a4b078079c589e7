"""``cupy.random``: a state of its own, so that seeding NumPy's changes nothing here."""

import numpy as np

from .names import check_arguments, lacking
from .wrapping import DEVICES, current, unwrap, wrap


class RandomState:
    """Random numbers on a device. The state cannot be read."""

    def __init__(self, seed=None, method=100):
        self._state = np.random.RandomState(seed)

    def __getattr__(self, name):
        raise lacking("cupy.random.RandomState", name)

    def seed(self, seed=None):
        self._state.seed(seed)

    def shuffle(self, a):
        self._state.shuffle(unwrap(a))

    def permutation(self, a):
        return wrap(self._state.permutation(a if isinstance(a, int) else unwrap(a)))

    def random_sample(self, size=None, dtype=float):
        return _floats(self._state.random_sample(size), dtype)

    def rand(self, *size, dtype=float):
        return self.random_sample(size, dtype)

    def standard_normal(self, size=None, dtype=float):
        return _floats(self._state.standard_normal(size), dtype)

    def randn(self, *size, dtype=float):
        return self.standard_normal(size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        return _floats(self._state.normal(loc, scale, size), dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        return _floats(self._state.uniform(low, high, size), dtype)

    def standard_exponential(self, size=None, dtype=float):
        return _floats(self._state.standard_exponential(size), dtype)

    def randint(self, low, high=None, size=None, dtype="l"):
        return wrap(np.asarray(self._state.randint(low, high, size, dtype)))


def _floats(x, dtype):
    if np.dtype(dtype).char not in "fd":
        raise TypeError(f"cupy.random has float32 and float64 only, not {dtype}")
    return wrap(np.asarray(x).astype(dtype))


_states = [RandomState() for _ in range(DEVICES)]


def get_random_state():
    return _states[current.device]


def set_random_state(rs):
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be a RandomState, not {type(rs)}")
    _states[current.device] = rs


def drawn(name):
    """The function that draws from the state of the current device."""

    def draw(*args, **kwargs):
        check_arguments("cupy.random", name, args, kwargs)
        return getattr(get_random_state(), name)(*args, **kwargs)

    return draw


NAMES = [name for name in vars(RandomState) if not name.startswith("_")]
FUNCTIONS = {
    **{name: drawn(name) for name in NAMES},
    "random": drawn("random_sample"),
    "RandomState": RandomState,
    "get_random_state": get_random_state,
    "set_random_state": set_random_state,
}
