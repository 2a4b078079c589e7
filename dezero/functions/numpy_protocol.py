"""What NumPy's (and CuPy's) own functions do when they are given a Variable.

There are three kinds. A function with a counterpart among ours runs that one and
records it: ``np.sin(x)``, ``array * x``, ``np.concatenate([x, y])``. A query, or a
function that is constant between its jumps so that its derivative is zero, works on the
data and returns what NumPy returns: ``np.shape(x)``, ``np.isnan(x)``, ``np.floor(x)``.
So does whatever writes into a plain array (``array -= x``, ``out=array``), for that
records nothing. All else is a TypeError that says so, never a silent way out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dezero.core import Variable
from dezero.functions.numpy_counterparts import (
    BY_DATA,
    METHOD_HINTS,
    RECORDED,
    RECORDED_UFUNCS,
    REDUCE,
    UFUNCS_BY_DATA,
    WRITERS,
    raw,
)

# =============================================================================
# NumPy's protocols
# =============================================================================


def array_ufunc(
    self: Variable, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    """What ``__array_ufunc__`` of Variable does: see the module's first lines.

    Raises:
        TypeError: There is no counterpart that could record the call, it has keyword
            arguments that the counterpart does not take, or ``out`` is a Variable.
    """
    record = RECORDED_UFUNCS.get(ufunc)
    if method == "__call__" and not kwargs and record is not None:  # the hot path
        return record(*inputs)
    name = f"np.{ufunc.__name__}"
    if method != "__call__":
        name += f".{method}"
    out = kwargs.get("out", ())
    if any([isinstance(x, Variable) for x in out]):
        raise _no_output(name)
    if out or ufunc in UFUNCS_BY_DATA:
        return getattr(ufunc, method)(*raw(inputs), **raw(kwargs))
    if method == "at" and not isinstance(inputs[0], Variable):  # writes into an array
        return ufunc.at(*raw(inputs), **raw(kwargs))
    if method == "reduce" and ufunc in REDUCE:
        kwargs.setdefault("axis", 0)  # where F.sum has None
        return _call(name, RECORDED[REDUCE[ufunc]], inputs, kwargs)
    if method != "__call__":
        raise TypeError(f"{name}: cannot be recorded; {METHOD_HINTS[method]}")
    if record is None:
        raise _no_counterpart(name)
    raise _no_keywords(name, kwargs)


def array_function(
    self: Variable, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    """What ``__array_function__`` of Variable does: see the module's first lines.

    Raises:
        TypeError: There is no counterpart that could record the call, it has arguments
            that the counterpart does not take, or ``out`` is a Variable.
    """
    name = f"{func.__module__.replace('numpy', 'np')}.{func.__name__}"
    if isinstance(kwargs.get("out"), Variable):
        raise _no_output(name)
    if func in BY_DATA or kwargs.get("out") is not None:
        return func(*raw(args), **raw(kwargs))
    if func in WRITERS:
        if isinstance([*args, *kwargs.values()][0], Variable):
            raise _no_output(name)
        return func(*raw(args), **raw(kwargs))
    record = RECORDED.get(func)
    if record is None:
        raise _no_counterpart(name)
    return _call(name, record, args, kwargs)


# =============================================================================
# CuPy
# =============================================================================


def override_kernel(self: Variable, kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """What CuPy calls in place of its own ``kernel`` where an argument is a Variable.

    ``cupy_array * x`` comes through NumPy's protocol, but ``cupy_array *= x`` and
    ``cupy.sin(x)`` come here. ``__cupy_get_ndarray__`` is left undefined on purpose:
    with it CuPy would compute ``cupy_array * x`` by itself and leave the graph.

    Raises:
        TypeError: As for NumPy's functions.
    """
    name = kernel.name.removeprefix("cupy_")
    ufunc = getattr(np, name, None)
    outputs = args[kernel.nin :]
    if any([isinstance(x, Variable) for x in outputs]):
        raise _no_output(f"cupy.{name}")
    if outputs or kwargs.get("out") is not None:
        if isinstance(kwargs.get("out"), Variable):
            raise _no_output(f"cupy.{name}")
        return kernel(*raw(args), **raw(kwargs))
    if ufunc in UFUNCS_BY_DATA:
        return kernel(*raw(args), **raw(kwargs))
    if ufunc in RECORDED_UFUNCS:
        if kwargs:
            raise _no_keywords(f"cupy.{name}", kwargs)
        return RECORDED_UFUNCS[ufunc](*args)
    raise _no_counterpart(f"cupy.{name}")


# =============================================================================
# Their common parts
# =============================================================================


def _call(name: str, record: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        _signature(record).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(
            f"{name}: {error}; that is what it takes with a Variable: "
            f"{_signature(record)}. Use {name}(x.data, ...) outside the graph"
        ) from None
    return record(*args, **kwargs)


_signature = functools.cache(inspect.signature)


def _no_output(name: str) -> TypeError:
    return TypeError(
        f"{name}: expected out to be a plain array, got a Variable, whose value may be "
        "recorded; use the result instead"
    )


def _no_counterpart(name: str) -> TypeError:
    return TypeError(
        f"{name}: has no counterpart in dezero.functions that could record it; "
        f"use {name} on x.data outside the graph"
    )


def _no_keywords(name: str, kwargs: Any) -> TypeError:
    return TypeError(
        f"{name}: expected no keyword arguments with a Variable, got "
        f"{', '.join(kwargs)}; use {name}(x.data, ...) outside the graph"
    )
