"""What attention remembers of a sequence that goes on, place by place."""

from __future__ import annotations

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, as_variable
from dezero.cuda import Array
from dezero.layers.arguments import as_size


class KeyValueCache:
    """Keys and values of the places so far, for :class:`MultiHeadAttention`.

    Where no place looks ahead, one that was computed stays as it is: those that follow
    need its keys and values, and nothing else of it. So each step computes the places
    that are new, with a cache for each attention::

        caches = [L.KeyValueCache(100) for _ in blocks]
        with dz.no_grad():
            for x in parts:  # (N, T, size): the beginning, then what follows it
                for block, cache in zip(blocks, caches):
                    x = block(x, cache=cache)

    It holds arrays without a graph, and what it holds is right for as long as the
    inputs before stay as they are, the numbers of their places included.

    Args:
        capacity: How many places there can be at most.

    Attributes:
        length: How many there are.

    Raises:
        TypeError: ``capacity`` is no integer.
        ValueError: It is below 1.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = as_size(type(self).__name__, "capacity", capacity)
        self.length = 0
        self._keys: Array | None = None
        self._values: Array | None = None

    def append(self, keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
        """Take in what is new, and give back all there is.

        Args:
            keys: (..., T, D), of the places that follow those before.
            values: (..., T, Dv).

        Returns:
            All keys (..., length, D) and values (..., length, Dv) up to now, as views,
            which later calls leave as they are.

        Raises:
            RuntimeError: A gradient would be wanted of them, which the cache cuts off.
            ValueError: There is no room for so many, or the other axes are not those
                of the places before.
        """
        keys, values = as_variable(keys), as_variable(values)
        if Config.enable_backprop and (keys.requires_grad or values.requires_grad):
            raise RuntimeError(
                "KeyValueCache: expected to be used under no_grad(), got keys or "
                "values with a graph, which no gradient could follow out of the cache"
            )
        k, v = keys.data, values.data
        if min(k.ndim, v.ndim) < 2 or k.shape[-2] != v.shape[-2]:
            raise ValueError(
                "KeyValueCache: expected keys (..., T, D) and values (..., T, Dv), got "
                f"shapes {k.shape} and {v.shape}"
            )
        end = self.length + k.shape[-2]
        if end > self.capacity:
            raise ValueError(
                f"KeyValueCache: expected at most {self.capacity} places, got "
                f"{self.length} and {k.shape[-2]} more"
            )
        if self._keys is None or self._values is None:
            self._keys, self._values = self._room(k), self._room(v)
        for name, x, room in ("keys", k, self._keys), ("values", v, self._values):
            if x.shape[:-2] != room.shape[:-2] or x.shape[-1] != room.shape[-1]:
                raise ValueError(
                    f"KeyValueCache: expected {name} of shape "
                    f"{(*room.shape[:-2], x.shape[-2], room.shape[-1])}, as before, "
                    f"got {x.shape}"
                )
        self._keys = _wide_enough(self._keys, k)
        self._values = _wide_enough(self._values, v)
        self._keys[..., self.length : end, :] = k
        self._values[..., self.length : end, :] = v
        self.length = end
        return self._keys[..., :end, :], self._values[..., :end, :]

    def _room(self, x: Array) -> Array:
        shape = (*x.shape[:-2], self.capacity, x.shape[-1])
        return cuda.get_array_module(x).empty(shape, x.dtype)

    def __repr__(self) -> str:
        return f"KeyValueCache({self.capacity}), {self.length} places used"


def _wide_enough(room: Array, x: Array) -> Array:
    """``room``, in a dtype that holds ``x`` as well: that of both in one array."""
    return room.astype(np.result_type(room.dtype, x.dtype), copy=False)
