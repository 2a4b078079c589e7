"""The operators of the array, and methods that are NumPy's with CuPy's arguments."""

import functools

import numpy as np

from .arrays import ndarray
from .functions import FUNCTIONS
from .modules import find
from .names import check_arguments
from .wrapping import unwrap, wrap

BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "matmul": "matmul",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "divmod": "divmod",
    "pow": "power",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
COMPARE = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
METHODS = [
    *["all", "any", "argmax", "argmin", "argpartition", "argsort", "clip", "conj"],
    *["cumprod", "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min"],
    *["prod", "ptp", "ravel", "repeat", "round", "searchsorted", "squeeze", "std"],
    *["sum", "swapaxes", "trace", "transpose", "var", "nonzero", "compress"],
]


def defers_to(x, y):
    """Shall ``x op y`` be left to ``y``? By NEP 13, and by priority as CuPy has it."""
    if hasattr(y, "__array_ufunc__"):
        return y.__array_ufunc__ is None
    return x.__array_priority__ < getattr(y, "__array_priority__", 0)


def _binary(name, reflected=False):
    def operate(self, other):
        if not isinstance(other, ndarray):
            if defers_to(self, other):
                return NotImplemented
            # Through NumPy, which asks the other's __array_ufunc__ too.
            function = getattr(np, name)
        else:
            function = find("cupy", name)
        return function(other, self) if reflected else function(self, other)

    return operate


def _equality(name, nothing):
    def compare(self, other):
        if not isinstance(other, ndarray):
            if defers_to(self, other):
                return NotImplemented
            if other is None or type(other).__eq__ is object.__eq__:
                return wrap(np.full(self.shape, nothing))
        return _binary(name)(self, other)

    return compare


def _in_place(name):
    def operate(self, other):
        return find("cupy", name)(self, other, self)

    return operate


def _unary(name):
    def operate(self):
        return find("cupy", name)(self)

    return operate


def _method(name):
    def method(self, *args, **kwargs):
        check_arguments("cupy.ndarray", name, (self, *args), kwargs)
        if name in FUNCTIONS:
            return FUNCTIONS[name](self, *args, **kwargs)
        return call(getattr(np.ndarray, name), self, args, kwargs)

    return method


def call(function, x, args, kwargs):
    """NumPy's method on what is inside, and the result as an array of ours."""
    out = kwargs.pop("out", None)
    with np.errstate(all="ignore"):
        y = function(
            unwrap(x),
            *[unwrap(a) for a in args],
            **{k: unwrap(a) for k, a in kwargs.items()},
        )
    if out is None:
        return wrap(y)
    out[...] = wrap(y)
    return out


def _attach():
    for name, function in BINARY.items():
        setattr(ndarray, f"__{name}__", _binary(function))
        setattr(ndarray, f"__r{name}__", _binary(function, reflected=True))
        if name not in ("matmul", "divmod"):
            setattr(ndarray, f"__i{name}__", _in_place(function))
    for name, function in COMPARE.items():
        setattr(ndarray, f"__{name}__", _binary(function))
    ndarray.__eq__ = _equality("equal", False)
    ndarray.__ne__ = _equality("not_equal", True)
    for name, function in UNARY.items():
        setattr(ndarray, f"__{name}__", _unary(function))
    for name in METHODS:
        setattr(ndarray, name, functools.wraps(getattr(np, name, len))(_method(name)))


_attach()
