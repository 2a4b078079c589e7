"""Functions on arrays: NumPy's, with the arguments that CuPy's have."""

import functools

import numpy as np
import scipy.special

from . import creation
from .names import check_arguments, lacking, names_of
from .transfers import count
from .ufuncs import make_ufunc, ufunc
from .wrapping import is_array, unwrap, wrap

# What returns no array, and takes what the host knows.
ON_THE_HOST = {
    *["result_type", "can_cast", "promote_types", "min_scalar_type", "common_type"],
    *["isscalar", "broadcast_shapes", "dtype", "finfo", "iinfo", "ndim", "shape"],
    *["size", "may_share_memory", "shares_memory", "issubdtype", "index_exp", "s_"],
}
# How many elements will there be? The host must wait for the answer.
WAITS = {
    *["nonzero", "flatnonzero", "argwhere", "unique", "extract", "compress"],
    *["array_equal", "allclose"],
}


def make_function(path, name):
    """The function ``name`` of the module ``path``; AttributeError if CuPy has none."""
    if name not in names_of(path):
        raise lacking(path, name)
    entry = names_of(path)[name]
    if path == "cupy" and name in FUNCTIONS:
        return _checked(path, name, FUNCTIONS[name])
    if isinstance(entry, dict):
        return make_ufunc(path, name)
    where = scipy.special if path.startswith("cupyx") else np
    for part in path.split(".")[1:] if where is np else ():
        where = getattr(where, part)
    function = getattr(where, name, None)
    if function is None:
        raise lacking(path, name)
    if entry in ("value", "class", "module"):
        return function
    return _checked(path, name, on_arrays(name, function))


def _checked(path, name, function):
    @functools.wraps(function)
    def checked(*args, **kwargs):
        check_arguments(path, name, args, kwargs)
        return function(*args, **kwargs)

    return checked


def on_arrays(name, function):
    """NumPy's function on what is inside the arrays."""

    def apply(*args, **kwargs):
        if name in ON_THE_HOST:
            return function(*_described(args), **kwargs)
        if name in WAITS:
            count(to_host=1, why=name)
        out = kwargs.pop("out", None)
        with np.errstate(all="ignore"):
            y = function(
                *[unwrap(x) for x in args], **{k: unwrap(x) for k, x in kwargs.items()}
            )
        if out is None:
            return wrap(y)
        if out.shape != np.shape(y):
            raise ValueError(f"{name}: out has shape {out.shape}, not {np.shape(y)}")
        unwrap(out)[...] = y
        return out

    return apply


def _described(args):
    return [
        x._inside if is_array(x) else _described(x) if isinstance(x, tuple) else x
        for x in args
    ]


# =============================================================================
# What is not NumPy's in more than its arguments
# =============================================================================


def where(condition, x=None, y=None):
    if x is None or y is None:
        count(to_host=1, why="where")
        return wrap(np.where(unwrap(condition)))
    if not is_array(condition):
        raise TypeError(f"where: Unsupported type {type(condition)} as condition")
    return _where(condition.astype("?", copy=False), x, y)


CHARS = "?bBhHiIlLqQefdFD"
_where = ufunc(
    "cupy",
    "where",
    np.where,
    {"inputs": 3, "loops": ["???->?", *[f"?{c}{c}->{c}" for c in CHARS[1:]]]},
)
_clip = ufunc(
    "cupy",
    "clip",
    lambda x, low, high: np.minimum(np.maximum(x, low), high),
    {"inputs": 3, "loops": [f"{c}{c}{c}->{c}" for c in CHARS[:-2]]},
)


def clip(a, a_min=None, a_max=None, out=None):
    if isinstance(a, np.ndarray):
        raise TypeError(f"clip: Unsupported type {type(a)}")
    limits = np.finfo if a.dtype.kind == "f" else np.iinfo
    if a_min is None:
        a_min = a.dtype.type("-inf") if limits is np.finfo else limits(a.dtype).min
    if a_max is None:
        a_max = a.dtype.type("inf") if limits is np.finfo else limits(a.dtype).max
    return _clip(a, a_min, a_max, out=out)


def take(a, indices, axis=None, out=None):
    if not is_array(indices):
        indices = np.asarray(indices, dtype=int)
        if indices.ndim:
            count(to_device=1, why="take")
    else:
        indices = unwrap(indices)
    x = unwrap(a)
    n = x.size if axis is None else x.shape[axis]
    if n:  # out of bounds wraps
        indices = indices % n
    y = np.take(x, indices, axis)
    if out is None:
        return wrap(y)
    out[...] = wrap(y)
    return out


def take_along_axis(a, indices, axis=-1):
    if indices.ndim != a.ndim:
        raise ValueError("`indices` and `a` must have the same number of dimensions")
    x, index = unwrap(a), unwrap(indices)
    n = x.size if axis is None else x.shape[axis]
    return wrap(np.take_along_axis(x, index % n if n else index, axis))


def bincount(x, weights=None, minlength=None):
    count(to_host=1, why="bincount: how long will the result be?")
    weights = None if weights is None else unwrap(weights)
    return wrap(np.bincount(unwrap(x), weights, minlength or 0))


def repeat(a, repeats, axis=None):
    if is_array(repeats):
        count(to_host=1, why="repeat")
    return on_arrays("repeat", np.repeat)(a, repeats, axis)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    if is_array(a):
        return a.get(order=order, out=out)
    return np.asarray(a, order=order)


def get_array_module(*args):
    from .modules import MODULES

    return MODULES["cupy"] if any(map(is_array, args)) else np


def copyto(dst, src, casting="same_kind", where=None):
    mask = True if where is None else unwrap(where)
    np.copyto(unwrap(dst), unwrap(src), casting, where=mask)


def matmul(*args, out=None, dtype=None, **kwargs):
    for x in args:
        if not is_array(x):
            raise TypeError(f"matmul: Unsupported type {type(x)}")
    return on_arrays("matmul", np.matmul)(*args, out=out, dtype=dtype, **kwargs)


def ptp(a, axis=None, out=None, keepdims=False):
    return on_arrays("ptp", np.ptp)(a, axis, out=out, keepdims=keepdims)


FUNCTIONS = {
    **creation.FUNCTIONS,
    "where": where,
    "clip": clip,
    "take": take,
    "take_along_axis": take_along_axis,
    "bincount": bincount,
    "repeat": repeat,
    "asnumpy": asnumpy,
    "get_array_module": get_array_module,
    "copyto": copyto,
    "matmul": matmul,
    "ptp": ptp,
}
