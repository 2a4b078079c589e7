"""The parameters of a layer as named arrays, to and from memory and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dezero import cuda, serializers
from dezero.core import Parameter
from dezero.cuda import Array

if TYPE_CHECKING:
    from dezero.layers.base import Layer

# What a lazy Parameter is in an .npz file: text, which no Parameter holds.
_LAZY = np.array("shape not known yet")
_SAFETENSORS = ".safetensors"
# The array that marks a file of dezero.checkpoints, which stands above this module.
_CHECKPOINT = "dezero checkpoint"


class LoadedKeys(NamedTuple):
    """What did not match by name when weights were loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def state_dict(layer: Layer) -> dict[str, np.ndarray | None]:
    """The work of :meth:`Layer.state_dict`."""
    return {
        name: None if p.data is None else np.array(cuda.as_numpy(p.data))
        for name, (p, _) in _by_name(layer, "state_dict").items()
    }


def load_state_dict(
    layer: Layer, state: Mapping[str, Array | None], strict: bool
) -> LoadedKeys:
    """The work of :meth:`Layer.load_state_dict`."""
    function = f"{type(layer).__name__}.load_state_dict"
    if not isinstance(state, Mapping):
        raise TypeError(
            f"{function}: expected a dict of arrays, got {type(state).__name__}"
        )
    for name, x in state.items():
        if x is not None and not cuda.is_array(x):
            raise TypeError(
                f"{function}: expected an array or None for each name, "
                f"got {type(x).__name__} for {name!r}"
            )
    expected = f"{function}: expected the weights of this layer"
    params = _by_name(layer, "load_state_dict")
    return _load(params, state, strict, expected, copy=True)


def save_weights(layer: Layer, path: serializers.Path) -> None:
    """The work of :meth:`Layer.save_weights`."""
    arrays = {name: p.data for name, (p, _) in _by_name(layer, "save_weights").items()}
    if not _is_safetensors(path):
        lazy = {name: _LAZY for name, x in arrays.items() if x is None}
        serializers.save_npz(path, {**arrays, **lazy})
        return
    if lazy_names := [name for name, x in arrays.items() if x is None]:
        raise ValueError(
            f"{type(layer).__name__}.save_weights: expected parameters whose shapes "
            f"are known, got {', '.join(lazy_names)} without; call the layer once, or "
            "save as .npz"
        )
    serializers.save_safetensors(path, arrays)


def load_weights(layer: Layer, path: serializers.Path, strict: bool) -> LoadedKeys:
    """The work of :meth:`Layer.load_weights`."""
    state: dict[str, np.ndarray | None]
    if _is_safetensors(path):
        state = {**serializers.load_safetensors(path)}
    else:
        state = {
            name: None if x.dtype.kind == "U" and x.ndim == 0 else x
            for name, x in serializers.load_npz(path).items()
        }
    if _CHECKPOINT in state:
        raise ValueError(
            f"{type(layer).__name__}.load_weights: expected a file that save_weights "
            f"wrote, got the checkpoint {str(path)!r}; dz.load_checkpoint(path, "
            "strict=False, name=model) brings back the model of that name in it"
        )
    expected = (
        f"{type(layer).__name__}.load_weights: expected in {str(path)!r} the weights "
        "of this layer"
    )
    return _load(_by_name(layer, "load_weights"), state, strict, expected, copy=False)


def _is_safetensors(path: serializers.Path) -> bool:
    # What is no path at all, serializers refuse.
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    return os.fsdecode(path).endswith(_SAFETENSORS)


def _load(
    params: dict[str, tuple[Parameter, Layer]],
    state: Mapping[str, Array | None],
    strict: bool,
    expected: str,
    copy: bool,
) -> LoadedKeys:
    """Assign all that is in both, or refuse with everything that does not fit."""
    found = [name for name in params if name in state]
    keys = LoadedKeys(
        [name for name in params if name not in state],
        [name for name in state if name not in params],
    )
    problems = {
        "missing": keys.missing_keys if strict else [],
        "unexpected": keys.unexpected_keys if strict else [],
        "of another shape": [
            f"{name} (expected {params[name][0].shape}, "
            f"got {'one not known yet' if shape is None else shape})"
            for name in found
            if params[name][0].data is not None
            and params[name][0].shape != (shape := getattr(state[name], "shape", None))
        ],
        "of another kind": [
            f"{name} (expected {dtype}, got {x.dtype})"
            for name in found
            if (x := state[name]) is not None
            and not _fits(x.dtype, dtype := _dtype(*params[name]))
        ],
        "out of the range of the numbers here": [
            f"{name} (expected {dtype}, got {x.dtype})"
            for name in found
            if (x := state[name]) is not None
            and _fits(x.dtype, dtype := _dtype(*params[name]))
            and not _holds(dtype, x)
        ],
    }
    if any(problems.values()):
        lists = [
            f"{kind}: {', '.join(map(str, v))}" for kind, v in problems.items() if v
        ]
        raise ValueError(f"{expected}, got others; {'; '.join(lists)}")
    # All arrays are made before the first is assigned: either all change or none.
    new = []
    for name in found:
        p, owner = params[name]
        x = state[name]
        if x is None:
            continue
        if p.data is None or cuda.get_array_module(p.data) is np:
            x = cuda.as_numpy(x)
        else:
            x = cuda.as_cupy(x)
        new.append((p, x.astype(_dtype(p, owner) or x.dtype, copy=copy)))
    for p, data in new:
        p.data = data
    return keys


def _by_name(layer: Layer, function: str) -> dict[str, tuple[Parameter, Layer]]:
    """Each Parameter, and the layer it belongs to, by name."""
    params: dict[str, tuple[Parameter, Layer]] = {}
    for name, item, owner in layer._walk():
        if not isinstance(item, Parameter):
            continue
        if name in params:
            raise ValueError(
                f"{type(layer).__name__}.{function}: expected a name of its own "
                f"for every parameter, got two named {name!r}; rename an "
                "attribute or a dict key"
            )
        params[name] = item, owner
    return params


def _dtype(p: Parameter, owner: Layer) -> np.dtype | None:
    """The dtype that a Parameter has or will have, if that is known."""
    if p.data is not None:
        return p.dtype
    dtype = getattr(owner, "dtype", None)
    return None if dtype is None else np.dtype(dtype)


def _fits(saved: np.dtype, dtype: np.dtype | None) -> bool:
    """Can numbers of dtype ``saved`` be cast without becoming another kind of thing?"""
    if saved.kind not in "fiub":
        return False
    return dtype is None or np.can_cast(saved, dtype, casting="same_kind")


def _holds(dtype: np.dtype | None, x: Array) -> bool:
    """Does each number, infinity and NaN apart, stay what it is but for rounding?"""
    if dtype is None or np.can_cast(x.dtype, dtype):
        return True
    finite = x[cuda.get_array_module(x).isfinite(x)]
    if not finite.size:
        return True
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    number = int if x.dtype.kind in "iu" else float
    low, high = number(finite.min()), number(finite.max())
    return number(limits.min) <= low and high <= number(limits.max)
