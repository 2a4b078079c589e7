"""Checks of the arguments of ``fit``: before training, not after hours of it."""

from __future__ import annotations

import importlib.util
import operator
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dezero import serializers
from dezero.core import Parameter
from dezero.layers import Layer
from dezero.optimizers import Optimizer, ReduceLROnPlateau, Schedule


def check_functions(model: Any, loss: Any, optimizer: Any) -> None:
    """The three things that training needs besides data.

    Raises:
        TypeError: One is of the wrong type.
        RuntimeError: The optimizer has no parameters, and ``model`` has none to give.
    """
    check_model_and_loss("fit", model, loss)
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"fit: expected optimizer to be an Optimizer, got {_kind(optimizer)}"
        )
    if optimizer.target is None:
        if not hasattr(model, "params"):
            raise RuntimeError(
                "fit: expected an optimizer that was set up, or a model with params() "
                f"to set it up with, got neither; write {type(optimizer).__name__}"
                "().setup([W, b])"
            )
        optimizer.setup(model)


def check_model_and_loss(function: str, model: Any, loss: Any) -> None:
    """Can the two be called as ``loss(model(x), t)``?

    Raises:
        TypeError: One cannot.
    """
    if not callable(model) or isinstance(model, type):
        hint = f"; write {model.__name__}()" if isinstance(model, type) else ""
        raise TypeError(
            f"{function}: expected model to be a Layer or a function of x, got "
            f"{_kind(model)}{hint}"
        )
    if not callable(loss) or isinstance(loss, type):
        raise TypeError(
            f"{function}: expected loss to be a function of (y, t), got {_kind(loss)}"
        )


def _kind(x: Any) -> str:
    return f"the class {x.__name__}" if isinstance(x, type) else type(x).__name__


def as_switch(name: str, value: Any) -> bool:
    """``value`` if it is True or False, or an integer that stands for one.

    Raises:
        TypeError: It is something else, which would count as True.
    """
    is_number = isinstance(value, (int, np.integer)) and value in (0, 1)
    if not isinstance(value, (bool, np.bool_)) and not is_number:
        hint = "; best= names a file" if name == "restore_best" else ""
        raise TypeError(
            f"fit: expected {name} to be True or False, got {type(value).__name__}"
            f"{hint}"
        )
    return bool(value)


def as_count(name: str, value: Any, low: int) -> int:
    """``value`` if it is an integer of at least ``low``.

    Raises:
        TypeError: It is no integer.
        ValueError: It is below.
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"fit: expected {name} to be an integer, got {type(value).__name__}"
        ) from None
    if count < low:
        raise ValueError(f"fit: expected {name} >= {low}, got {count}")
    return count


def as_norm(value: Any) -> float | None:
    """``value`` if it is a length to clip gradients at, or None.

    Raises:
        TypeError: It is no number.
        ValueError: It is not above 0.
    """
    if value is None:
        return None
    kinds = (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise TypeError(
            f"fit: expected clip_norm to be a number, got {type(value).__name__}"
        )
    if not 0 < value <= sys.float_info.max:  # an integer may be larger, and finite
        raise ValueError(f"fit: expected a finite clip_norm above 0, got {value}")
    return float(value)


def check_schedule(schedule: Any, every: Any, optimizer: Optimizer, mode: str) -> None:
    """Does the schedule belong to the optimizer, and step when it can?

    Raises:
        TypeError: ``schedule`` is no Schedule.
        ValueError: It is of another optimizer, steps at moments that there are not, or
            looks for the opposite of what ``mode`` says.
    """
    if every not in ("epoch", "step"):
        raise ValueError(
            f"fit: expected schedule_every to be 'epoch' or 'step', got {every!r}"
        )
    if schedule is None:
        return
    if not isinstance(schedule, Schedule):
        raise TypeError(
            f"fit: expected schedule to be a Schedule, made with the optimizer, "
            f"got {_kind(schedule)}"
        )
    if schedule.optimizer is not optimizer:
        raise ValueError(
            "fit: expected a schedule of the optimizer that is given, got one of "
            "another"
        )
    if not isinstance(schedule, ReduceLROnPlateau):
        return
    if every == "step":
        raise ValueError(
            "fit: expected schedule_every='epoch' with ReduceLROnPlateau, which looks "
            "at the numbers of an epoch, got 'step'"
        )
    if schedule.mode != mode:
        raise ValueError(
            f"fit: expected ReduceLROnPlateau with mode {mode!r}, as monitor has, got "
            f"{schedule.mode!r}"
        )


def check_file(name: str, path: Any) -> None:
    """Can a file be put there, as far as the folder tells?

    Raises:
        FileNotFoundError: There is no such folder.
        ImportError: The suffix asks for a package that is not installed.
        IsADirectoryError: A folder is at its place.
        TypeError: ``path`` is no path.
        ValueError: It is empty.
    """
    if path is None:
        return
    path = _as_path(name, path)
    for place in (path, file_of(name, path)):
        if os.path.isdir(place):
            raise IsADirectoryError(f"fit: expected {name} to be a file, got {place!r}")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"fit: expected the folder of {name} to be there, got {path!r}"
        )
    is_wanted = name == "best" and path.endswith(".safetensors")
    if is_wanted and not importlib.util.find_spec("safetensors"):
        raise ImportError(
            f"fit: expected the package safetensors for {name}={path!r}, got none; "
            "pip install safetensors"
        )


def file_of(name: str, path: str) -> str:
    """The name that a file gets: those of arrays have a suffix of their own."""
    is_whole = name == "csv" or path.endswith(".npz")
    if is_whole or (name == "best" and path.endswith(".safetensors")):
        return path
    return f"{path}.npz"


def check_places(paths: Mapping[str, Any]) -> None:
    """Every file needs a place of its own.

    Raises:
        ValueError: Two have the same one, and each would replace the other.
    """
    names: dict[str, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        place = os.path.realpath(file_of(name, os.fsdecode(path)))
        if place in names:
            raise ValueError(
                f"fit: expected {names[place]} and {name} to be two files, got "
                f"{place!r} for both"
            )
        names[place] = name


def check_folder(name: str, path: Any) -> None:
    """Can a folder be made or used there?

    Raises:
        NotADirectoryError: A file is at its place.
        TypeError: ``path`` is no path.
        ValueError: It is empty.
    """
    if path is not None:
        path = _as_path(name, path)
        if os.path.exists(path) and not os.path.isdir(path):
            raise NotADirectoryError(
                f"fit: expected {name} to be a folder, got the file {path!r}"
            )


def _as_path(name: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"fit: expected {name} to be the path of a file, got {type(path).__name__}"
        )
    if not os.fsdecode(path):
        raise ValueError(f"fit: expected {name} to be the path of a file, got ''")
    return os.fsdecode(path)


def check_layer(name: str, model: Any) -> None:
    """Weights are saved by name, which takes a Layer.

    Raises:
        TypeError: ``model`` is none.
    """
    if not isinstance(model, Layer):
        raise TypeError(
            f"fit: expected model to be a Layer, whose weights have names, for {name}, "
            f"got {type(model).__name__}"
        )


def as_callbacks(callbacks: Any) -> list[Any]:
    """The functions in a list.

    Raises:
        TypeError: It is no iterable of functions.
    """
    if callbacks is None:
        return []
    if not isinstance(callbacks, Iterable) or isinstance(callbacks, (str, Parameter)):
        hint = "; write callbacks=[f]" if callable(callbacks) else ""
        raise TypeError(
            "fit: expected callbacks to be a list of functions of the history, got "
            f"{type(callbacks).__name__}{hint}"
        )
    found = list(callbacks)
    for f in found:
        if not callable(f):
            raise TypeError(
                "fit: expected callbacks to be a list of functions of the history, got "
                f"{type(f).__name__} among them"
            )
    return found


def path_of(path: serializers.Path | None) -> str | None:
    """An absolute path: the working directory may change while training runs."""
    return None if path is None else os.path.abspath(os.fsdecode(path))
