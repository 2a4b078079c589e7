"""Between the arrays of the stand-in and the NumPy arrays that they keep inside."""

import threading

import numpy as np

from .names import VERSION

DEVICES = 2
DTYPES = set("?bBhHiIlLqQefdFD")


class _Current(threading.local):
    device = 0


current = _Current()
_array_type = [object]


def register_array_type(cls):
    """The module of the arrays tells its class: it imports this one."""
    _array_type[0] = cls


def is_array(x):
    """Is ``x`` an array of the stand-in?"""
    return isinstance(x, _array_type[0])


def wrap(x):
    """NumPy's result as CuPy would give it: arrays, 0-d ones for single numbers."""
    if isinstance(x, (np.ndarray, np.generic)):
        return _array_type[0]._of(np.asarray(x))
    if isinstance(x, tuple) and hasattr(x, "_fields"):  # results of numpy.linalg
        return type(x)(*[wrap(y) for y in x])
    if isinstance(x, (tuple, list)):
        return type(x)([wrap(y) for y in x])
    return x


def unwrap(x):
    """The NumPy array inside, of an argument; NumPy's own arrays are refused."""
    if is_array(x):
        if x._device != current.device:
            raise ValueError(
                f"The device where the array resides ({x._device}) is different from "
                f"the current device ({current.device})."
            )
        return x._inside
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}: CuPy takes no NumPy array here")
    if isinstance(x, (tuple, list)):
        return type(x)([unwrap(y) for y in x])
    return x


def check_dtype(dtype):
    """A dtype that CuPy supports; float64 and the like, no longdouble and objects."""
    dtype = np.dtype(dtype)
    if dtype.char not in DTYPES:
        raise ValueError(f"Unsupported dtype {dtype} (CuPy {VERSION})")
    return dtype
