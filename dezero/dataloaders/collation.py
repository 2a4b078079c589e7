"""How items become a batch: arrays with one axis more, in front."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array


def collate(items: Sequence[Any]) -> Any:
    """Put items together as one batch.

    Args:
        items: N items of one kind: pairs ``(x, t)``, tuples of another length, or
            dicts with the same keys, which may hold dicts in turn. All values at one
            place have one shape, or all are None.

    Returns:
        For pairs the arrays x of shape (N, ...) and t of shape (N, ...), or None for
        t. For other tuples a tuple, and for dicts a dict, of such arrays.

    Raises:
        TypeError: An item is none of these, or not made of numbers or text.
        ValueError: The shapes, lengths or keys differ, or there is no item.
    """
    if not items:
        raise ValueError("collate: expected at least one item, got none")
    if isinstance(items[0], Mapping):
        return _collate_dicts("", items)
    for item in items:
        sized = hasattr(item, "__len__")
        if not isinstance(item, tuple) and (not sized or len(item) != 2):
            got = type(item).__name__ + (f" of length {len(item)}" if sized else "")
            raise TypeError(
                f"collate: expected pairs (x, t), other tuples or dicts, got {got}"
            )
    lengths = sorted({len(item) for item in items})
    if len(lengths) > 1:
        raise ValueError(
            f"collate: expected items of one length, got {lengths[0]} and {lengths[-1]}"
        )
    names = ["x", "t"] if lengths[0] == 2 else map(str, range(lengths[0]))
    columns = zip(*items, strict=True)
    return tuple([_column(n, values) for n, values in zip(names, columns, strict=True)])


def _collate_dicts(name: str, items: Sequence[Any]) -> dict[Any, Any]:
    keys = list(items[0]) if isinstance(items[0], Mapping) else []
    for item in items:
        if not isinstance(item, Mapping) or set(item) != set(keys):
            got = list(item) if isinstance(item, Mapping) else type(item).__name__
            raise ValueError(
                f"collate: expected every item to be a dict with the keys {keys}, "
                f"got {got}"
            )
    return {key: _column(f"{name}{key}", [item[key] for item in items]) for key in keys}


def _column(name: str, values: Sequence[Any]) -> Any:
    """What the items have at one place, as one."""
    if all([value is None for value in values]):
        return None
    if isinstance(values[0], Mapping):
        return _collate_dicts(f"{name}/", values)
    return _stack(name, values)


def _stack(name: str, values: Sequence[Any]) -> Array:
    shapes = {np.shape(value) for value in values}
    if len(shapes) > 1:
        raise ValueError(
            f"collate: expected every {name} of a batch to have one shape, "
            f"got {' and '.join(map(str, sorted(shapes)[:2]))}"
        )
    if cuda.is_array(values[0]):
        return cuda.get_array_module(values[0]).stack(values)
    batch = np.array(values)
    if batch.dtype == object:
        kinds = sorted({type(value).__name__ for value in values})
        raise TypeError(
            f"collate: expected every {name} of a batch to be numbers or an array, "
            f"got {' and '.join(kinds)}"
        )
    return batch


def map_arrays(function: Callable[[Any], Any], batch: Any) -> Any:
    """A batch with ``function`` applied to each of its arrays, text and None left."""
    if isinstance(batch, Mapping):
        return {key: map_arrays(function, value) for key, value in batch.items()}
    if isinstance(batch, (tuple, list)):
        return tuple([map_arrays(function, value) for value in batch])
    if not cuda.is_array(batch) or batch.dtype.kind in "US":
        return batch
    return function(batch)
