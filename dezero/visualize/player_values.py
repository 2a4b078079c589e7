"""Arrays as the backward player shows them: the numbers, or what sums them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array

LARGEST_SHOWN = 12  # elements; of a larger array a summary is shown


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What an array was at one moment of a pass.

    Attributes:
        shape: Its shape.
        dtype: The name of its dtype.
        values: A copy on the CPU, of a small array only.
        mean, low, high: Of its finite elements; None if there are none.
        faults: How many elements are NaN, and how many are infinite.
    """

    shape: tuple[int, ...]
    dtype: str
    values: np.ndarray | None
    mean: float | None
    low: Any
    high: Any
    faults: tuple[int, int]

    @classmethod
    def of(cls, x: Array) -> Snapshot:
        """Take one of an array of either library."""
        x = np.asarray(cuda.as_numpy(x))
        values = x.copy() if x.size <= LARGEST_SHOWN else None
        finite = x[np.isfinite(x)]
        mean = low = high = None
        if finite.size:
            low, high = finite.min(), finite.max()
            with np.errstate(over="ignore"):  # a sum of float64 may be out of range
                mean = float(finite.mean(dtype=np.float64))
        nans = int(np.isnan(x).sum())
        faults = nans, int(x.size - finite.size - nans)
        return cls(x.shape, x.dtype.name, values, mean, low, high, faults)

    def short(self) -> str:
        """A few characters, for the drawing: a number, or the shape."""
        if self.values is None or self.values.size != 1:
            return shape_text(self.shape)
        text = number(self.values.reshape(())[()], 4)
        return "[" * len(self.shape) + text + "]" * len(self.shape)

    def brief(self) -> str:
        """What fits into a sentence: up to three numbers, or shape and mean."""
        if self.values is not None and 0 < self.values.size <= 3:
            return nested(self.values)
        text = f"{self.dtype} {shape_text(self.shape)}"
        if faults := self._faults():
            return f"{text} with {' and '.join(faults)}"
        return text if self.mean is None else f"{text} of mean {number(self.mean, 4)}"

    def text(self) -> str:
        """All numbers of a small array; shape, mean and range of a large one."""
        if self.values is not None and self.values.size:
            return nested(self.values)
        parts = [f"{self.dtype} {shape_text(self.shape)}"]
        if self.mean is not None:
            parts.append(f"mean {number(self.mean)}")
            parts.append(f"from {number(self.low)} to {number(self.high)}")
        parts += self._faults()
        return ", ".join(parts)

    def _faults(self) -> list[str]:
        nans, infinities = self.faults
        counts = ((nans, "NaN"), (infinities, "infinite"))
        return [f"{count} {what}" for count, what in counts if count]


def number(x: Any, digits: int = 6) -> str:
    """One number; float16 has no more than four digits to show."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return str(x.item())
    return format(x.item(), f".{4 if x.dtype.char == 'e' else digits}g")


def nested(x: np.ndarray) -> str:
    """The numbers of an array in brackets, on one line."""
    if x.ndim == 0:
        return number(x[()])
    return "[" + ", ".join([nested(row) for row in x]) + "]"


def shape_text(shape: tuple[int, ...]) -> str:
    """``(2, 3)`` as ``2 × 3``; a shape without axes is that of a number."""
    return " \u00d7 ".join([str(n) for n in shape]) if shape else "a number"


def same(x: Array, y: Array) -> bool:
    """Whether two arrays hold the same numbers; NaN is the same as NaN."""
    x, y = cuda.as_numpy(x), cuda.as_numpy(y)
    return x.shape == y.shape and bool(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f" and y.dtype.kind == "f")
    )


def close(a: Snapshot, b: Snapshot) -> bool:
    """Whether two Snapshots agree, but for the rounding of sums in another order."""
    if a.shape != b.shape or a.faults != b.faults:
        return False
    coarse = "float16" in (a.dtype, b.dtype)
    rtol = 1e-2 if coarse else 1e-5
    if a.values is not None and b.values is not None:
        return bool(np.allclose(a.values, b.values, rtol, 0, equal_nan=True))
    ours, theirs = [
        [0.0 if x is None else float(x) for x in (s.mean, s.low, s.high)]
        for s in (a, b)
    ]
    scale = max([abs(x) for x in ours + theirs])
    return bool(np.allclose(ours, theirs, 0, rtol * scale))
