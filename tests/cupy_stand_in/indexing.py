"""Indexing as CuPy does it: indices out of bounds wrap, masks make the host wait."""

import numpy as np

from .transfers import count
from .wrapping import is_array, unwrap


def get(x, slices):
    """``x[slices]`` of NumPy arrays, after the index was made what CuPy makes of it."""
    index = prepared(slices)
    masks = [s for s in index if isinstance(s, np.ndarray) and s.dtype.kind == "b"]
    if len(masks) > 1:
        raise ValueError("CuPy does not take several boolean arrays as an index")
    for _ in masks:
        count(to_host=1, why="how many elements does a mask take?")
    index = wrapped(x, index)
    y = x[index]
    # One element is a view too, which can be written to.
    return x[(*index, ...)] if isinstance(y, np.generic) else y


def scatter(x, slices, value, function):
    """``x[slices] = value``, or ``function.at(x, slices, value)`` if there is one."""
    index = prepared(slices)
    arrays = [s for s in index if isinstance(s, np.ndarray)]
    for s in arrays:
        if s.dtype.kind == "b":
            count(to_host=1, why="how many elements does a mask take?")
    if is_array(value):
        value = unwrap(value)
    elif not np.isscalar(value):
        # Of an array of NumPy's, the index decides: in places of its own it is copied
        # there, but a part of an array takes arrays of the device and numbers only.
        if np.ndim(value) and not arrays:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        value = np.asarray(value, x.dtype)
        if value.ndim:
            count(to_device=1, why="values to be put into an array")
    index = wrapped(x, index)
    with np.errstate(all="ignore"):
        if function is None:
            x[index] = value
        else:
            function.at(x, index, value)


def prepared(slices):
    """The index as a tuple with NumPy arrays for the arrays in it."""
    index = []
    for s in slices if isinstance(slices, tuple) else (slices,):
        if is_array(s):
            s = unwrap(s)
        elif not (
            s is None or s is Ellipsis or isinstance(s, (slice, int, np.generic))
        ) or isinstance(s, (bool, np.bool_)):
            s = np.asarray(s)
            if s.ndim:
                count(to_device=1, why="an index")
            if not s.size:
                s = s.astype(np.int32)
        if isinstance(s, np.ndarray) and s.dtype.kind not in "biu":
            raise IndexError(
                "arrays used as indices must be of integer or boolean type, "
                f"got {s.dtype}"
            )
        index.append(s)
    return tuple(index)


def wrapped(x, index):
    """Integer arrays modulo the size of their axis: CuPy does not check them."""
    if not any(isinstance(s, np.ndarray) for s in index):
        return index
    taken = sum([axes_of(s) for s in index])
    if Ellipsis not in [s for s in index if s is Ellipsis]:
        index = (*index, Ellipsis)
    axis, result = 0, []
    for s in index:
        if s is Ellipsis:
            axis += x.ndim - taken
        elif isinstance(s, np.ndarray) and s.dtype.kind != "b" and axis < x.ndim:
            n = x.shape[axis]
            result.append(s.astype(np.intp) % n if n else s)
            axis += 1
            continue
        else:
            axis += axes_of(s)
        result.append(s)
    return tuple(result)


def axes_of(s):
    """How many axes a part of an index uses up."""
    if s is None or s is Ellipsis:
        return 0
    return s.ndim if isinstance(s, np.ndarray) and s.dtype.kind == "b" else 1
