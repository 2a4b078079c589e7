"""Plain data as one JSON text and a list of arrays, and back, every type as it was."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable

# Deeper than any data that somebody wrote; what contains itself is deeper still.
_DEEPEST = 100
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_KINDS = (
    "None, bool, int, float, str, bytes, NumPy arrays, scalars and random generators, "
    "and lists, tuples and dicts (with str keys) of these"
)


def pack(function: str, data: dict[str, Any]) -> dict[str, np.ndarray]:
    """Arrays by name that hold ``data``; ``structure`` is the JSON text in bytes.

    In the JSON text null, true, false, text, finite floats, integers and lists stand
    for themselves. All else is an object of one key, which says what it is.

    Args:
        function: Who asks, for messages.
        data: Plain data, in which arrays may be CuPy's.

    Raises:
        TypeError: Something in it is not plain; the message says where it is.
        ValueError: It is nested too deeply, or contains itself.
    """
    arrays: dict[str, np.ndarray] = {}

    def packed(x: Any, where: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(
                f"{function}: expected data of at most {_DEEPEST} levels, got more (or "
                f"something that contains itself) in {where.split('[')[0]}"
            )
        kind = type(x)
        if x is None or kind in (bool, str):
            return x
        if kind is int:
            # A number of many digits is slow to write, and refused in the end.
            return x if x.bit_length() <= 64 else {"int": hex(x)}
        if kind is float:
            return x if math.isfinite(x) else {"float": repr(x)}
        if kind is bytes:
            return stored("bytes", np.frombuffer(x, np.uint8))
        if kind is list:
            return [packed(y, f"{where}[{i}]", depth + 1) for i, y in enumerate(x)]
        if kind is tuple:
            return {"tuple": packed(list(x), where, depth)}
        if kind is dict:
            if odd := [key for key in x if type(key) is not str]:
                raise TypeError(
                    f"{function}: expected text for the keys of dicts, got "
                    f"{type(odd[0]).__name__} {odd[0]!r} in {where}"
                )
            items = {k: packed(y, f"{where}[{k!r}]", depth + 1) for k, y in x.items()}
            return {"dict": items}
        if kind is np.random.Generator or kind is np.random.RandomState:
            state = _state_of(x)
            if state["state"]["bit_generator"] in _BIT_GENERATORS:
                return {kind.__name__: packed(state, where, depth + 1)}
        elif isinstance(x, np.generic) and _is_storable(x.dtype):
            return stored("scalar", np.asarray(x))
        elif cuda.is_array(x) and kind in (
            np.ndarray,
            cuda.get_array_module(x).ndarray,
        ):
            if _is_storable(x.dtype):
                return stored("array", cuda.as_numpy(x))
        got = f"the class {x.__name__}" if isinstance(x, type) else kind.__name__
        if cuda.is_array(x) or isinstance(x, np.generic):
            got = f"{got} of dtype {x.dtype}"
        raise TypeError(
            f"{function}: expected plain data ({_KINDS}), got {got} in {where}"
            f"{_remedy(x)}"
        )

    def stored(kind: str, array: np.ndarray) -> dict[str, int]:
        arrays[str(len(arrays))] = array
        return {kind: len(arrays) - 1}

    structure = {name: packed(x, name, 0) for name, x in data.items()}
    text = json.dumps(structure, allow_nan=False)
    return {"structure": np.frombuffer(text.encode(), np.uint8), **arrays}


def unpack(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What was given to :func:`pack`.

    Raises:
        Exception: ``arrays`` are not what it gave; of any type, KeyError for instance.
    """

    def unpacked(x: Any) -> Any:
        if isinstance(x, list):
            return [unpacked(y) for y in x]
        if not isinstance(x, dict):
            return x
        ((kind, content),) = x.items()
        if kind == "int":
            return int(content, 16)
        if kind == "float":
            return float(content)
        if kind == "tuple":
            return tuple(unpacked(content))
        if kind == "dict":
            return {key: unpacked(y) for key, y in content.items()}
        if kind in ("Generator", "RandomState"):
            return _generator(kind, unpacked(content))
        array = arrays[str(content)]
        if kind == "bytes":
            return array.tobytes()
        if kind == "scalar":
            return array[()]
        if kind == "array":
            return array
        raise ValueError(f"it has data of the unknown kind {kind!r}")

    structure = json.loads(arrays["structure"].tobytes())
    return {name: unpacked(x) for name, x in structure.items()}


def _remedy(x: Any) -> str:
    if isinstance(x, type):
        return f"; write {x.__name__}()" if hasattr(x, "state_dict") else ""
    if isinstance(x, Variable):
        return "; save its data"
    if hasattr(x, "state_dict"):
        return "; give an object with a state by a name of its own"
    for plain in (int, float, str, bytes, list, tuple, dict):
        if isinstance(x, plain):
            return f"; {plain.__name__}(...) makes it plain"
    return ""


def _is_storable(dtype: np.dtype) -> bool:
    return dtype.kind in "biufcSUmMV" and not dtype.hasobject


def _state_of(generator: Any) -> dict[str, Any]:
    """What a generator of NumPy draws from, and what its children will."""
    if isinstance(generator, np.random.RandomState):
        return {"state": generator.get_state(legacy=False)}
    bits = generator.bit_generator
    seeds = bits.seed_seq
    is_usual = isinstance(seeds, np.random.SeedSequence)
    return {"state": bits.state, "seeds": seeds.state if is_usual else None}


def _generator(kind: str, saved: dict[str, Any]) -> Any:
    state, seeds = saved["state"], saved.get("seeds")
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ValueError(f"it has a random generator of the unknown kind {name!r}")
    seed = 0 if seeds is None else np.random.SeedSequence(**seeds)
    bits = getattr(np.random, name)(seed)
    if kind == "Generator":
        bits.state = state
        return np.random.Generator(bits)
    generator = np.random.RandomState(bits)
    generator.set_state(state)
    return generator
