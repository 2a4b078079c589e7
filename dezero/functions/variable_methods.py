"""The one table that gives Variable its operators and methods."""

from typing import Any

import dezero.functions as F
from dezero.core import Variable
from dezero.functions import numpy_protocol


def _reflected(function: Any) -> Any:
    """``function`` with its operands the other way round."""

    def reflected(x1: Variable, x0: Any) -> Variable:
        return function(x0, x1)

    return reflected


def _identity(x: Variable) -> Variable:
    """``+x``."""
    return x


def _reshape(x: Variable, *shape: Any) -> Variable:
    """``x.reshape(2, 3)`` is ``x.reshape((2, 3))``."""
    return F.reshape(x, _unpacked(shape))


def _transpose(x: Variable, *axes: Any) -> Variable:
    """``x.transpose(1, 0)`` is ``x.transpose((1, 0))``; no axes reverses them."""
    return F.transpose(x, _unpacked(axes) if axes else None)


def _unpacked(items: tuple[Any, ...]) -> Any:
    if len(items) == 1 and (items[0] is None or isinstance(items[0], (tuple, list))):
        return items[0]
    return items


# Operators are the functions themselves: a call in between costs more than the check of
# its result that it could make.
METHODS: dict[str, Any] = {
    "__add__": F.add,
    "__radd__": F.add,
    "__sub__": F.sub,
    "__rsub__": F.rsub,
    "__mul__": F.mul,
    "__rmul__": F.mul,
    "__truediv__": F.div,
    "__rtruediv__": F.rdiv,
    "__floordiv__": F.floor_divide,
    "__rfloordiv__": _reflected(F.floor_divide),
    "__mod__": F.mod,
    "__rmod__": _reflected(F.mod),
    "__pow__": F.pow,
    "__rpow__": F.rpow,
    "__matmul__": F.matmul,
    "__rmatmul__": _reflected(F.matmul),
    "__neg__": F.neg,
    "__pos__": _identity,
    "__abs__": F.abs,
    "__getitem__": F.get_item,
    "__array_ufunc__": numpy_protocol.array_ufunc,
    "__array_function__": numpy_protocol.array_function,
    "__cupy_override_elementwise_kernel__": numpy_protocol.override_kernel,
    "T": property(F.transpose),
    "abs": F.abs,
    "all": F.all,
    "any": F.any,
    "argmax": F.argmax,
    "argmin": F.argmin,
    "astype": F.cast,
    "clip": F.clip,
    "cos": F.cos,
    "cumprod": F.cumprod,
    "cumsum": F.cumsum,
    "diagonal": F.diagonal,
    "dot": F.dot,
    "exp": F.exp,
    "log": F.log,
    "matmul": F.matmul,
    "max": F.max,
    "mean": F.mean,
    "min": F.min,
    "prod": F.prod,
    "ravel": F.ravel,
    "repeat": F.repeat,
    "reshape": _reshape,
    "sin": F.sin,
    "sqrt": F.sqrt,
    "squeeze": F.squeeze,
    "std": F.std,
    "sum": F.sum,
    "swapaxes": F.swapaxes,
    "take": F.take,
    "tanh": F.tanh,
    "trace": F.trace,
    "transpose": _transpose,
    "var": F.var,
}


def setup_variable() -> None:
    """Attach the table's functions to Variable; doing so again changes nothing."""
    for name, function in METHODS.items():
        setattr(Variable, name, function)
