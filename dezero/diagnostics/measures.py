"""Numbers about arrays, taken in a precision that does not overflow, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array

# Names and parameters, each once.
Named = list[tuple[str, Variable]]


def norm(x: Array) -> float:
    """The L2 norm, of half and single precision in double."""
    xp = cuda.get_array_module(x)
    x = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        size = float(xp.sqrt(xp.square(x).sum()))
        if 1e-140 < size < np.inf:
            return size
        # The squares may have left the range of float64 though the norm does not.
        largest = float(abs(x).max()) if x.size else 0.0
        if not 0 < largest < np.inf:
            return size
        return largest * float(xp.sqrt(xp.square(x / largest).sum()))


def is_finite(x: Array) -> bool:
    """No NaN and no infinity."""
    return x.dtype.kind != "f" or bool(cuda.get_array_module(x).isfinite(x).all())


def named_parameters(function: str, model: Any) -> Named:
    """The parameters of a model by name, each once.

    Args:
        function: Who asks, for messages.
        model: A Layer, or an iterable of Parameters, which are named by number or by
            their own names.

    Raises:
        TypeError: ``model`` is neither.
        ValueError: It has no parameters.
    """
    if hasattr(model, "named_params") and not isinstance(model, type):
        named = list(model.named_params())
    else:
        wanted = f"{function}: expected a Layer or an iterable of Parameters"
        if isinstance(model, Variable):
            raise TypeError(f"{wanted}, got a single {type(model).__name__}")
        try:
            params = dict.fromkeys(model)
        except TypeError:
            got = "a class" if isinstance(model, type) else type(model).__name__
            raise TypeError(f"{wanted}, got {got}") from None
        for p in params:
            if not isinstance(p, Variable):
                raise TypeError(f"{wanted}, got {type(p).__name__} among them")
        named = [(p.name or str(i), p) for i, p in enumerate(params)]
    if not named:
        raise ValueError(
            f"{function}: expected parameters, got {type(model).__name__} without any"
        )
    return named
