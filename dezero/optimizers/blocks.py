"""Work in blocks: pieces of the arrays of a rule that stay in the cache together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.optimizers.states import working_dtype

# Elements per block: a piece of a parameter, its gradient and its state stay in the
# cache of one core while a rule makes its several passes over them.
BLOCK = 32768


class Blocks:
    """What a rule walks its arrays with; :class:`Optimizer` is one."""

    def __init__(self) -> None:
        self._scratch: dict[Any, Array] = {}

    def blocks(self, param: Variable, *states: Array) -> Iterator[tuple[Array, ...]]:
        """Walk a parameter in flat pieces that fit the cache.

        What is written into the pieces of the parameter and of the states stays. For a
        rule that works element by element it does not matter where the cuts are.

        Args:
            param: With a gradient of its shape.
            states: C-contiguous arrays of its shape, from :meth:`state`.

        Yields:
            (p, g, *s, tmp), pieces of data, gradient and states, and scratch memory,
            all 1-d and of the same size. All but p have the dtype to compute in.
        """
        data = param.data
        assert param.grad is not None
        xp = cuda.get_array_module(data)
        dtype = working_dtype(data)
        writable = getattr(data.flags, "writeable", True)
        in_place = data.flags.c_contiguous and writable
        # flatten copies: for arrays that have no flat view or cannot be written to
        p = data.reshape(-1) if in_place else data.flatten()
        g = param.grad.data.reshape(-1)
        flat = [s.reshape(-1) for s in states]
        # one launch serves a whole GPU array
        step = BLOCK if xp is np else max(p.size, 1)
        tmp = self._room(data, dtype, min(step, p.size), 0)
        for i in range(0, p.size, step):
            s = slice(i, i + step)
            piece = p[s]
            gradient = g[s].astype(dtype, copy=False)
            yield piece, gradient, *[x[s] for x in flat], tmp[: piece.size]
        if not in_place:
            p = p.reshape(data.shape)
            if writable:
                data[...] = p
            else:
                param.data = p

    def scratch(self, tmp: Array) -> Array:
        """Scratch memory like the ``tmp`` of :meth:`blocks`, for a rule that needs two.

        Every call gives the same memory.
        """
        return self._room(tmp, tmp.dtype, tmp.size, 1)[: tmp.size]

    def _room(self, like: Array, dtype: np.dtype, size: int, place: int) -> Array:
        device = None if isinstance(like, np.ndarray) else like.device.id
        room = self._scratch.get((device, dtype, place))
        if room is None or room.size < size:
            room = cuda.get_array_module(like).empty(size, dtype)
            self._scratch[device, dtype, place] = room
        return room

    def __getstate__(self) -> dict[str, Any]:
        # Scratch memory holds nothing to keep.
        return {**vars(self), "_scratch": {}}
