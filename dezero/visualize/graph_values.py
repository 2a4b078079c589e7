"""Arrays, names and shapes as the short lines that stand in a drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function

_FEW = 8  # elements that are written out
_LONG_NAME = 40
_SEEN = ("inputs", "generation", "shape")  # elsewhere in the drawing


def shorten(text: str, length: int = _LONG_NAME) -> str:
    """``text`` on one line of at most ``length`` characters, all of them printable."""
    text = "".join([c if c.isprintable() else repr(c)[1:-1] for c in text])
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-(length - 1 - half) :]}"


def shape_text(shape: tuple[int, ...] | None, dtype: Any) -> str:
    """``(3, 4) float32``."""
    return "shape not known yet" if shape is None else f"{shape} {dtype}"


def value_lines(x: Any) -> list[str]:
    """The elements of a small array, else their mean and range."""
    data = np.asarray(cuda.as_numpy(x))
    if data.size == 0:
        return ["empty"]
    if data.size == 1:
        return [_number(data.ravel()[0], 6)]
    if data.size <= _FEW and data.ndim <= 2:
        rows = np.atleast_2d(data)
        return ["  ".join([_number(v) for v in row]) for row in rows]
    if data.dtype.kind == "b":
        return [f"{int(data.sum()):,} of {data.size:,} true"]
    good = data[np.isfinite(data)] if data.dtype.kind == "f" else data
    lines = []
    if good.size:
        low, mean, high = good.min(), good.mean(dtype=np.float64), good.max()
        lines = [f"mean {_number(mean)}", f"{_number(low)} … {_number(high)}"]
    if good.size < data.size:
        lines.append(f"{data.size - good.size:,} not finite")
    return lines


def _number(x: Any, digits: int = 4) -> str:
    return f"{x:.{digits}g}" if np.asarray(x).dtype.kind == "f" else str(x)


def setting_lines(f: Function | None) -> list[str]:
    """What a Function was made with and keeps in public: ``axis=1``."""
    lines = []
    for name, value in (vars(f) if hasattr(f, "__dict__") else {}).items():
        if name.startswith("_") or name in _SEEN or value is None or value is False:
            continue
        parts = value if isinstance(value, tuple) else (value,)
        if all([isinstance(v, (bool, int, float, str)) for v in parts]):
            lines.append(f"{name}={shorten(str(value), 24)}")
    return lines
