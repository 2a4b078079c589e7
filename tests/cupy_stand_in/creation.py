"""Arrays from nothing, from the host and from other arrays."""

import numpy as np

from .arrays import ndarray, poisoned
from .transfers import count
from .wrapping import check_dtype, current, is_array, unwrap, wrap


def array(
    obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False
):
    if is_array(obj):
        if obj._device != current.device:  # from another device, in one go
            obj = wrap(obj._inside.copy())
        x = unwrap(obj)
        same = dtype is None or x.dtype == dtype
        if same and not copy and x.ndim >= ndmin and _has(order, x):
            return obj
        with np.errstate(all="ignore"):
            return wrap(np.array(x, dtype, order=order, ndmin=ndmin))
    if isinstance(obj, (list, tuple)) and holds_arrays(obj):
        return wrap(np.array(_nested(obj), dtype, ndmin=ndmin))
    x = np.array(obj, dtype, order=order, ndmin=ndmin)
    if x.dtype.char not in "?bBhHiIlLqQefdFD":
        raise ValueError(f"Unsupported dtype {x.dtype}")
    if x.ndim:  # one number travels with the call of a kernel
        count(to_device=1, why="array")
    return wrap(x)


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return array(a, dtype, copy, order or "K", blocking=blocking)


asanyarray = asarray


def ascontiguousarray(a, dtype=None):
    if not is_array(a):  # unlike asarray it moves nothing
        raise TypeError(f"Argument 'a' has incorrect type (got {type(a).__name__})")
    if a.ndim and a.flags.c_contiguous and dtype in (None, a.dtype):
        return a  # wherever it is
    with np.errstate(all="ignore"):
        return wrap(np.ascontiguousarray(unwrap(a), dtype))


def _has(order, x):
    return order in ("K", "A", None) or x.flags[f"{order}_CONTIGUOUS"]


def holds_arrays(obj):
    """Are there arrays of the device in nested lists?"""
    if isinstance(obj, (list, tuple)):
        return any([holds_arrays(x) for x in obj])
    return is_array(obj)


def _nested(obj):
    if isinstance(obj, (list, tuple)):
        return [_nested(x) for x in obj]
    if not is_array(obj):
        raise TypeError(f"Unsupported type {type(obj)} beside arrays of CuPy in a list")
    return unwrap(obj)


def empty(shape, dtype=float, order="C"):
    return ndarray(shape, dtype, order=order)


def zeros(shape, dtype=float, order="C"):
    return wrap(np.zeros(shape, check_dtype(dtype), order))


def ones(shape, dtype=float, order="C"):
    return wrap(np.ones(shape, check_dtype(dtype), order))


def full(shape, fill_value, dtype=None, order="C"):
    if dtype is None:
        dtype = (
            fill_value.dtype
            if isinstance(fill_value, (ndarray, np.ndarray, np.generic))
            else np.array(fill_value).dtype
        )
    x = empty(shape, dtype, order)
    x.fill(fill_value)
    return x


def like(make):
    def make_like(a, *args, **kwargs):
        return wrap(make(unwrap(a), *[unwrap(x) for x in args], **kwargs))

    return make_like


def empty_like(*args, **kwargs):
    x = like(np.empty_like)(*args, **kwargs)
    poisoned(x._inside)
    return x


# What wants no arrays at all, or only numbers.
FUNCTIONS = {
    "array": array,
    "asarray": asarray,
    "asanyarray": asanyarray,
    "ascontiguousarray": ascontiguousarray,
    "empty": empty,
    "zeros": zeros,
    "ones": ones,
    "full": full,
    "empty_like": empty_like,
}
