"""Running a model for a picture such that nothing of it, or of a graph, remains."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, no_grad, test_mode
from dezero.diagnostics.states import unchanged_random_states
from dezero.layers import Layer


def copied(function: str, model: Any) -> Any:
    """A copy of a Layer, to be run in its place; any other function itself.

    Raises:
        TypeError: ``model`` is a class or no function.
    """
    if isinstance(model, type) or not callable(model):
        got = f"the class {model.__name__}" if isinstance(model, type) else None
        raise TypeError(
            f"{function}: expected model to be a Layer or a function of x, got "
            f"{got or type(model).__name__}"
        )
    return copy.deepcopy(model) if isinstance(model, Layer) else model


def layers_by_name(function: str, model: Any) -> dict[str, Layer]:
    """The layers of a model, itself left out, by their names in it.

    Raises:
        TypeError: ``model`` is no Layer.
    """
    if not isinstance(model, Layer):
        got = f"the class {model.__name__}" if isinstance(model, type) else None
        raise TypeError(
            f"{function}: expected model to be a Layer, got "
            f"{got or type(model).__name__}"
        )
    return {name: layer for name, layer in model.named_layers() if name}


def find_layer(function: str, layers: dict[str, Layer], name: str) -> Layer:
    """The layer of that name.

    Raises:
        ValueError: There is none; the message lists those that there are.
    """
    if name not in layers:
        raise ValueError(
            f"{function}: expected the name of a layer, one of "
            f"{', '.join(layers) or '(there is none)'}; got {name!r}"
        )
    return layers[name]


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """In test mode, without a graph; random states end as they were."""
    with unchanged_random_states(), no_grad(), test_mode():
        yield


def watch(layer: Any, note: Callable[[Any], None]) -> None:
    """Give ``note`` what ``layer``, part of a copy, puts out from now on.

    Python looks ``__call__`` up in the class, so this one object gets its own.
    """
    cls: Any = type(layer)

    def call(self: Any, *inputs: Any, **options: Any) -> Any:
        outputs = cls.__call__(self, *inputs, **options)
        note(outputs)
        return outputs

    watched = type(cls.__name__, (cls,), {"__call__": call})
    object.__setattr__(layer, "__class__", watched)


def as_input(function: str, x: Any) -> Any:
    """What a model is given: an array where it is, or a list; floats as float32.

    Raises:
        TypeError: It is no array, Variable or list of numbers.
    """
    if isinstance(x, Variable):
        x = x.data
    if cuda.is_array(x):
        return x
    x = np.asarray(x)
    if x.dtype.kind not in "fiub":
        raise TypeError(f"{function}: expected x to hold numbers, got dtype {x.dtype}")
    return x.astype(np.float32) if x.dtype.kind == "f" else x
