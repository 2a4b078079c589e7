"""What a function keeps between calls, put back so that each call starts the same.

Random states, running statistics, the state of recurrent layers: differences mean
nothing unless the function is the same one at every call.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import random
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Parameter, Variable, no_grad


@contextlib.contextmanager
def pinned_random_state() -> Iterator[None]:
    """Start ``np.random`` and ``random`` from a fixed state; give both back after.

    :func:`pin_random` inside goes back to that state. It is much cheaper.
    """
    state, python_state = np.random.get_state(), random.getstate()
    try:
        pin_random()
        yield
    finally:
        np.random.set_state(state)
        random.setstate(python_state)


def pin_random() -> None:
    """Put ``np.random`` and ``random`` into the state from which every call starts."""
    np.random.seed(0)
    random.seed(0)


def is_layer(x: Any) -> bool:
    """Is ``x`` a Layer? Known by its methods: layers stand above this package."""
    return (
        not isinstance(x, type)
        and callable(getattr(x, "named_params", None))
        and callable(getattr(x, "named_layers", None))
    )


# =============================================================================
# What a function holds
# =============================================================================

_LONG = 1000  # lists longer than this hold data, not state


class HeldState:
    """The arrays, layers and random generators that a function reaches, as they were.

    They are looked for where a function can hold them: in closures, defaults, partial
    arguments, bound methods, and the globals of its module that its code names.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        found = list(_held(f))
        layers = [x for x in found if is_layer(x)]
        parts = [sub for layer in layers for _, sub in layer.named_layers()]
        # One Variable or array may be reached in several ways.
        variables = {id(p): p for layer in layers for p in layer.params()}
        variables |= {id(x): x for x in found if isinstance(x, Variable)}
        arrays = {id(x): x for x in found if cuda.is_array(x)}
        for sub in parts:
            arrays |= {id(x): x for x in vars(sub).values() if cuda.is_array(x)}
        data = [x.data for x in variables.values() if x.data is not None]
        arrays |= {id(x): x for x in data}
        self._attributes = [(sub, dict(vars(sub))) for sub in parts]
        self._variables = [(x, x.data) for x in variables.values()]
        self._arrays = [(x, x.copy()) for x in arrays.values() if _can_change(x)]
        self._generators = [pair for x in found if (pair := _state_of(x)) is not None]
        self._changing = self._arrays
        self.lazy = any([x is None for _, x in self._variables])

    def settle(self) -> None:
        """Watch from now on only those arrays that the calls so far have changed."""
        self._changing = self._changed()

    def put_back(self) -> None:
        """Make everything what it was."""
        for layer, attributes in self._attributes:
            vars(layer).clear()
            vars(layer).update(attributes)
        for x, data in self._variables:
            if data is not None:  # what a first call has made may stay
                x.data = data
        for x, saved in self._changing:
            x[...] = saved
        for put, state in self._generators:
            put(state)

    def close(self) -> None:
        """Put back all, also what changed unexpectedly."""
        self._changing = self._changed()
        self.put_back()

    def _changed(self) -> list[tuple[Any, Any]]:
        return [(x, a) for x, a in self._arrays if x.tobytes() != a.tobytes()]


def _can_change(x: Any) -> bool:
    # The arrays of CuPy have no such flag, and no way to be read-only.
    return x.dtype.kind in "fiub" and getattr(x.flags, "writeable", True)


def _state_of(x: Any) -> tuple[Callable[[Any], Any], Any] | None:
    """How to put back a random generator, and to what."""
    if isinstance(x, np.random.Generator):
        bits = x.bit_generator
        return functools.partial(setattr, bits, "state"), bits.state
    if isinstance(x, np.random.RandomState):
        return x.set_state, x.get_state()
    if isinstance(x, random.Random):
        return x.setstate, x.getstate()
    return None


_KEPT = (Variable, np.random.Generator, np.random.RandomState, random.Random)


def _held(f: Callable[..., Any]) -> Iterator[Any]:
    """Layers, Variables, arrays and random generators that ``f`` reaches, each once."""
    seen: dict[int, Any] = {}
    opened = {id(f)}  # objects that are called: what they hold is state
    stack: list[Any] = [f]
    while stack:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen[id(x)] = x
        if isinstance(x, functools.partial):
            stack += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, types.MethodType):
            opened.add(id(x.__self__))
            stack += [x.__self__, x.__func__]
        elif isinstance(x, types.FunctionType):
            stack += _held_by_function(x)
        elif isinstance(x, (dict, list, tuple)):
            if len(x) <= _LONG:
                stack += x.values() if isinstance(x, dict) else x
        elif isinstance(x, _KEPT) or cuda.is_array(x) or is_layer(x):
            yield x
        elif isinstance(x, Function) or id(x) in opened:
            stack += getattr(x, "__dict__", {}).values()


def _held_by_function(f: types.FunctionType) -> Iterator[Any]:
    for cell in f.__closure__ or ():
        with contextlib.suppress(ValueError):  # a cell that is still empty
            yield cell.cell_contents
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    codes = [f.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for name in code.co_names:
            x = f.__globals__.get(name)
            # Functions of other modules lead too far: into all of DeZero, and NumPy.
            if not isinstance(x, types.FunctionType) or x.__globals__ is f.__globals__:
                yield x


# =============================================================================
# Layers
# =============================================================================


class LayerFunction:
    """A Layer as a function of its inputs and of the parameters that are trained.

    Each call runs a copy of the layer as it was, in which the arguments stand for the
    parameters: the layer itself is never touched, and each call starts from its state.

    Args:
        layer: A copy is called once, for shapes and parameters not known before.
        inputs: Arrays for that call.

    Raises:
        TypeError: The layer cannot be copied.
    """

    def __init__(self, layer: Any, inputs: Sequence[np.ndarray]) -> None:
        self._layer = _copy(layer)
        self._start(inputs)
        named = list(self._layer.named_params())
        for _, p in named:
            if p.data is not None:
                p.data = cuda.as_numpy(p.data)
        self._trained = [
            (name, p)
            for name, p in named
            if p.requires_grad and p.data is not None and p.dtype.kind == "f"
        ]
        chosen = [p for _, p in self._trained]
        ids = set(map(id, chosen))
        self._others = [p for _, p in named if p.data is not None and id(p) not in ids]
        self.names = [name for name, _ in self._trained]
        self.arrays = [p.data for p in chosen]

    def _start(self, inputs: Sequence[np.ndarray]) -> None:
        started = _copy(self._layer)
        with no_grad():
            started(*inputs)
        names = [name for name, _ in self._layer.named_params()]
        if names != [name for name, _ in started.named_params()]:
            self._layer = _copy(started)  # the first call made new ones
            return
        for p, q in zip(self._layer.params(), started.params(), strict=True):
            if p.data is None:
                p.data = q.data

    def __call__(self, *variables: Variable) -> Any:
        """The outputs for the inputs and, after them, the trained parameters."""
        return self._run(variables, np.float64)

    def as_given(self, *variables: Variable) -> Any:
        """The same in the dtypes that the layer has by itself."""
        return self._run(variables, None)

    def _run(self, variables: Sequence[Variable], dtype: Any) -> Any:
        n = len(variables) - len(self._trained)
        # What deepcopy finds in its memo it takes to be copied already.
        memo: dict[int, Any] = {
            id(p): v for (_, p), v in zip(self._trained, variables[n:], strict=True)
        }
        for p in self._others:
            floating = dtype is not None and p.dtype.kind == "f"
            data = p.data.astype(dtype) if floating else p.data.copy()
            memo[id(p)] = Parameter(data, p.name, p.requires_grad)
        layer = copy.deepcopy(self._layer, memo)
        if dtype is not None:
            for _, sub in layer.named_layers():
                if _is_floating(vars(sub).get("dtype")):
                    sub.dtype = np.dtype(dtype)
        return layer(*variables[:n])


def _copy(layer: Any) -> Any:
    try:
        return copy.deepcopy(layer)
    except Exception as error:
        raise TypeError(
            f"check_gradients: expected a layer that copy.deepcopy can copy, got "
            f"{type(layer).__name__} ({type(error).__name__}: {error}); a lambda "
            "around it is checked without its parameters"
        ) from error


def _is_floating(dtype: Any) -> bool:
    try:
        return dtype is not None and np.dtype(dtype).kind == "f"
    except TypeError:
        return False
