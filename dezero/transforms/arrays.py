"""Transforms of arrays, and the chain of several transforms."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array


class Compose:
    """One transform after the other; with none of them, x stays as it is.

    Its state is that of those among them that have one, so that a checkpoint takes the
    chain as a whole: ``save_checkpoint(path, transform=compose)``.

    Args:
        transforms: Callables of one argument, in the order in which they apply.

    Raises:
        TypeError: One of them cannot be called.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]] = ()) -> None:
        self.transforms = list(transforms)
        for transform in self.transforms:
            if not callable(transform):
                raise TypeError(
                    "Compose: expected transforms that can be called, "
                    f"got {type(transform).__name__}"
                )

    def __call__(self, x: Any) -> Any:
        """Apply all of them to x."""
        for transform in self.transforms:
            x = transform(x)
        return x

    def _with_state(self) -> dict[str, Any]:
        """The transforms that have a state, by their places, as text."""
        methods = ("state_dict", "load_state_dict")
        return {
            str(i): transform
            for i, transform in enumerate(self.transforms)
            if not isinstance(transform, type)
            and all([hasattr(transform, name) for name in methods])
        }

    def state_dict(self) -> dict[str, Any]:
        """The states of the transforms that have one, by place: ``"0"``, ``"1"``."""
        return {place: f.state_dict() for place, f in self._with_state().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from where :meth:`state_dict` was.

        Raises:
            TypeError: ``state`` is no dict.
            ValueError: It has the states of transforms at other places.
            Exception: What a transform raises that refuses its state; all of them are
                as before then.
        """
        if not isinstance(state, Mapping):
            raise TypeError(
                "Compose.load_state_dict: expected a dict that state_dict gave, got "
                f"{type(state).__name__}"
            )
        transforms = self._with_state()
        if set(state) != set(transforms):
            raise ValueError(
                "Compose.load_state_dict: expected the states of transforms at the "
                f"places {_listed(transforms)}, got those at {_listed(state)}"
            )
        before = copy.deepcopy(self.state_dict())  # one may give what it goes on using
        changed = []
        try:
            for place, transform in transforms.items():
                changed.append(place)
                transform.load_state_dict(state[place])
        except BaseException:
            for place in changed:
                # What cannot be undone hides neither the error nor the other ones.
                with contextlib.suppress(Exception):
                    transforms[place].load_state_dict(before[place])
            raise

    def __repr__(self) -> str:
        return f"Compose({self.transforms!r})"


def _listed(places: Iterable[Any]) -> str:
    return ", ".join(map(str, places)) or "none"


def require_array(name: str, x: Any) -> Array:
    """``x`` if it is an array; otherwise a TypeError says how to make one of it."""
    if cuda.is_array(x):
        return x
    remedy = "; ToArray() makes one of a picture" if hasattr(x, "getbands") else ""
    raise TypeError(f"{name}: expected an array, got {type(x).__name__}{remedy}")


class Normalize:
    """``(x - mean) / std``, for each channel or for all alike.

    Args:
        mean: A number, or one per channel (the first axis of x).
        std: Likewise.

    Raises:
        TypeError: x is no array.
        ValueError: ``std`` has a zero or is no finite number, or x has another number
            of channels.
    """

    def __init__(self, mean: Any = 0, std: Any = 1) -> None:
        self.mean = mean
        self.std = std
        for key, value in ("mean", mean), ("std", std):
            values = np.asarray(value)
            if values.dtype.kind not in "iuf" or values.ndim > 1 or not values.size:
                raise ValueError(
                    f"Normalize: expected {key} to be a number or one per channel, "
                    f"got {value!r}"
                )
        if not np.all(np.isfinite(std)) or not np.all(std):
            raise ValueError(f"Normalize: expected std other than zero, got {std!r}")

    def __call__(self, array: Array) -> Array:
        """Shift and scale an array (C, ...) or of any shape."""
        x = require_array("Normalize", array)
        if x.dtype.kind != "f":
            x = x.astype(np.float32)  # uint8 minus its mean would wrap around
        return (x - self._fit(self.mean, x)) / self._fit(self.std, x)

    def _fit(self, value: Any, x: Array) -> Array:
        """``value`` as an array that broadcasts to x, and leaves its dtype alone."""
        if isinstance(value, (int, float)):  # weak; the common case, and a fast one
            return value
        values = cuda.get_array_module(x).asarray(value, dtype=x.dtype)
        if values.size == 1:
            return values.reshape(())
        if x.ndim == 0 or x.shape[0] != values.size:
            raise ValueError(
                f"Normalize: expected {values.size} channels along the first axis, "
                f"got x of shape {x.shape}"
            )
        return values.reshape(-1, *[1] * (x.ndim - 1))  # (C,) -> (C, 1, 1)


class Flatten:
    """All elements of an array in one row, as a copy."""

    def __call__(self, array: Array) -> Array:
        """Give the elements of an array of any shape, (size,)."""
        return require_array("Flatten", array).flatten()


class AsType:
    """An array, or a number, as one of another dtype.

    Args:
        dtype: Of the result.
    """

    def __init__(self, dtype: Any = np.float32) -> None:
        self.dtype = np.dtype(dtype)

    def __call__(self, array: Any) -> Array:
        """Cast an array or a number."""
        if isinstance(array, (bool, int, float, np.generic)):  # a label, for instance
            return self.dtype.type(array)
        return require_array(type(self).__name__, array).astype(self.dtype)


class ToFloat(AsType):
    """float32, or the floating dtype that is given."""


class ToInt(AsType):
    """Integers; fractions are cut off.

    Args:
        dtype: Of the result.
    """

    def __init__(self, dtype: Any = int) -> None:
        super().__init__(dtype)
