"""What a batch of a loader is: what the model gets, and what the loss compares with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dezero import cuda
from dezero.core import Variable
from dezero.datasets import ConcatDataset, Dataset, Subset, TensorDataset

WANTED = "batches (x, t), (x0, x1, ..., t) or dicts with the key 't'"


class Batch:
    """One batch, taken apart: ``model(*inputs, **named)`` is compared with ``t``.

    The last of a tuple is t, all before it are inputs by position. In a dict t stands
    under ``"t"``, and all others are inputs by name. ``size`` is the number of items:
    the rows of t, or of the first input where t has none.
    """

    __slots__ = ("inputs", "named", "size", "t")

    def __init__(self, function: str, batch: Any) -> None:
        self.named: dict[str, Any] = {}
        self.inputs: tuple[Any, ...] = ()
        if isinstance(batch, (tuple, list)) and len(batch) > 1:
            self.inputs, self.t = tuple(batch[:-1]), batch[-1]
        elif isinstance(batch, Mapping) and "t" in batch and len(batch) > 1:
            self.named = {name: x for name, x in batch.items() if name != "t"}
            self.t = batch["t"]
            if odd := [name for name in self.named if not isinstance(name, str)]:
                raise TypeError(
                    f"{function}: expected dicts of inputs by name, got the key "
                    f"{odd[0]!r}"
                )
        else:
            raise TypeError(f"{function}: expected {WANTED}, got {_described(batch)}")
        self.size = self._rows(function)

    def _rows(self, function: str) -> int:
        for x in (self.t, *self.inputs, *self.named.values()):
            shape = _shape(x)
            if shape:
                return shape[0]
            if shape == () or isinstance(x, (int, float)):
                raise ValueError(
                    f"{function}: expected batches of arrays with one row per item, "
                    "got a single number in one; a DataLoader makes batches of items"
                )
        raise TypeError(f"{function}: expected batches of arrays, got one without any")


def _shape(x: Any) -> tuple[int, ...] | None:
    """The shape of an array, or of the first one with an axis in what is nested."""
    if isinstance(x, Mapping):
        x = tuple(x.values())
    if isinstance(x, tuple):
        return next(filter(None, map(_shape, x)), None)
    return getattr(x, "shape", None)


def groups(function: str, batches: Iterator[Any], size: int) -> Iterator[list[Batch]]:
    """So many batches at a time, the last time perhaps fewer.

    The iterator is asked for no more once it has ended: one that goes on with another
    pass then, as that of many a loader does, gives one pass.
    """
    group: list[Batch] = []
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            break
        group.append(Batch(function, batch))
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _described(batch: Any) -> str:
    kind = type(batch).__name__
    if isinstance(batch, Mapping):
        return f"{kind} with the keys {', '.join(map(repr, batch))}"
    if isinstance(batch, (tuple, list)):
        return f"{kind} of length {len(batch)}"
    return kind


def check_loader(function: str, name: str, loader: Any, passes: int) -> None:
    """Refuse what is no loader, without reading a batch of it.

    Args:
        function: Who asks, for messages.
        name: The name of the argument.
        loader: Something that gives batches, again and again.
        passes: How often it will be looped over.

    Raises:
        TypeError: It is no iterable, a dataset, an array, a single batch, or an
            iterator that is used up by the first of several passes.
        ValueError: It is empty.
    """
    got = type(loader).__name__
    wanted = f"{function}: expected {name} to be a DataLoader or a list of batches"
    if isinstance(loader, type):
        raise TypeError(f"{wanted}, got the class {loader.__name__}")
    # Their items would be taken for batches, and trained on one by one.
    if isinstance(loader, (Dataset, TensorDataset, Subset, ConcatDataset)):
        raise TypeError(
            f"{wanted}, got the dataset {got}; write DataLoader({got}(...), batch_size)"
        )
    parts = isinstance(loader, (tuple, list))
    if parts and any([cuda.is_array(x) or isinstance(x, Variable) for x in loader]):
        raise TypeError(
            f"{wanted}, got a {got} of arrays; write [(x, t)] for one batch"
        )
    several = isinstance(loader, Iterable) or hasattr(loader, "__getitem__")
    if not several or isinstance(loader, (str, bytes, Mapping, Variable)):
        raise TypeError(f"{wanted}, got {got}")
    if cuda.is_array(loader):
        raise TypeError(f"{wanted}, got an array; write [(x, t)] for one batch")
    # Of classes of the user's own, one that is an iterator may start anew in __iter__.
    used_up = type(loader).__module__ in ("builtins", "itertools")
    if passes > 1 and used_up and isinstance(loader, Iterator):
        raise TypeError(
            f"{wanted}, which can be looped over in every epoch, got a {got}, which is "
            "used up by the first"
        )
    if length_of(loader) == 0:
        raise ValueError(f"{function}: expected {name} with batches, got an empty one")


def length_of(loader: Any) -> int | None:
    """How many batches there are in a pass, if it is known."""
    try:
        return len(loader)
    except TypeError:  # there is no such method, or it knows no answer
        return None
