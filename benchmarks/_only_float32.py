"""Refuse float64 on the way: it would halve the speed and not show in the result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from dezero import Function


@contextlib.contextmanager
def only_float32() -> Iterator[None]:
    """Refuse any other dtype, in what each forward and each backward returns.

    The engine casts a gradient back to the dtype of its input, so the gradients that
    are left tell nothing.
    """
    call = Function.__call__
    backwards: dict[Any, Any] = {}  # of every class that was called

    def refuse_others(function: Function, method: str, results: Any) -> Any:
        for y in results if isinstance(results, tuple) else (results,):
            if y is not None and y.dtype != np.float32:
                name = type(function).__name__
                raise AssertionError(f"{name}.{method} returned {y.dtype}")
        return results

    def checked_call(self: Function, *inputs: Any) -> Any:
        cls: Any = type(self)
        if cls not in backwards:
            backward = backwards[cls] = cls.backward

            def checked_backward(f: Function, *gys: Any) -> Any:
                return refuse_others(f, "backward", backward(f, *gys))

            cls.backward = checked_backward
        return refuse_others(self, "forward", call(self, *inputs))

    engine: Any = Function  # its methods are exchanged, which mypy would not have
    engine.__call__ = checked_call
    try:
        yield
    finally:
        engine.__call__ = call
        for owner, backward in backwards.items():
            owner.backward = backward
