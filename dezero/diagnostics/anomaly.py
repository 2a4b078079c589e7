"""Anomaly mode: the first NaN or infinity, and arrays that were changed in place."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Variable
from dezero.cuda import Array
from dezero.diagnostics.calls import step_by_step, watch_calls, watched_class
from dezero.diagnostics.sources import user_lines


def detect_anomaly() -> contextlib.AbstractContextManager[None]:
    """Raise where the first NaN or infinity arises, and name the lines that led there.

    For a ``with`` block around a training step, or as a decorator. What is checked:

    - the result of each Function: finite numbers in, NaN or an infinity out. One that
      comes in among constants, such as a mask of ``-inf``, is taken as meant; NaN is
      not, nor is an infinity in a leaf that wants a gradient;
    - the gradients that ``backward`` returns, of each Function that was called inside;
    - that the inputs and outputs which ``backward`` reads are the same numbers as in
      the forward pass: ``x.data += 1`` between the two makes gradients wrong;
    - that ``forward`` and ``backward`` leave the arrays that they get as they are.

    NumPy's own warnings about these are silent inside: the error says more.

    All arrays are read several times, so a step takes a multiple of its time. Outside
    such a block nothing is checked and nothing costs. Other threads are left alone. Not
    seen is a gradient that leaves the range of its dtype only in the sum that becomes
    the ``.grad`` of a leaf; ``optimizer.check_finite`` finds it.

    Errors raised inside: ``FloatingPointError`` for a NaN or an infinity,
    ``RuntimeError`` for an array that was changed in place.

    Example::

        with dz.detect_anomaly():
            loss = F.mean_squared_error(model(x), t)
            loss.backward()
    """
    return _Anomaly()


class _Anomaly(contextlib.ContextDecorator):
    """The block; of a decorated generator function, it is open while the body runs."""

    def __init__(self) -> None:
        self._open: list[watch_calls] = []  # a list: blocks of one object can be nested

    def __enter__(self) -> None:
        block = watch_calls(_watching_call)
        block.__enter__()
        self._open.append(block)

    def __exit__(self, *error: object) -> None:
        self._open.pop().__exit__(*error)

    def __call__(self, f: Any) -> Any:
        if not inspect.isgeneratorfunction(f):
            return super().__call__(f)

        @functools.wraps(f)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            return step_by_step(f(*args, **kwargs), _Anomaly)

        return decorated


class _Thread(threading.local):
    # Inside the backward of a node: the lines that made it. What is computed there is
    # judged as a whole, by the gradients that come out.
    node_lines: list[str] | None = None


_thread = _Thread()


# =============================================================================
# Forward
# =============================================================================


def _watching_call(call: Callable[..., Any], f: Function, *inputs: Any) -> Any:
    """Call a Function, and look at what comes out."""
    lines = _thread.node_lines or user_lines()
    before = [_fingerprint(x) for x in inputs]
    with np.errstate(all="ignore"):
        outputs = call(f, *inputs)
    name = type(f).__name__
    for i, (x, print_) in enumerate(zip(inputs, before, strict=True)):
        if _fingerprint(x) != print_:
            raise RuntimeError(
                _report(
                    f"{name}.forward: expected to leave its inputs as they are, got "
                    f"{_called(x, i)} changed in place",
                    [],
                    lines,
                )
            )
    several = isinstance(outputs, tuple)
    if _thread.node_lines is None:
        _check_results(name, inputs, outputs if several else (outputs,), lines)
    node = outputs[0].creator if several else outputs.creator
    if node is not None:
        _watch(node, lines)
    return outputs


def _check_results(
    name: str, inputs: Sequence[Any], outputs: Sequence[Variable], lines: list[str]
) -> None:
    faults = [_fault(y) for y in outputs]
    if not any(faults):
        return
    rows = _rows("input", inputs)
    for i, x in enumerate(inputs):
        fault = _fault(x)
        is_leaf = isinstance(x, Variable) and x.requires_grad and x.creator is None
        if fault == "NaN" or (fault and is_leaf):
            raise FloatingPointError(
                _report(
                    f"{name}: expected finite numbers, got {fault} in "
                    f"{_called(x, i)}, before anything was computed here",
                    rows,
                    lines,
                )
            )
    came_in = any([_fault(x) for x in inputs])
    for fault in faults:
        # From an infinity that came in, another one may follow; NaN is new.
        if fault == "NaN" or (fault and not came_in):
            raise FloatingPointError(
                _report(
                    f"{name}.forward: expected a finite result, got {fault}",
                    [*rows, *_rows("output", outputs)],
                    lines,
                )
            )


# =============================================================================
# Backward
# =============================================================================


def _watch(node: Function, lines: list[str]) -> None:
    """Let the backward of a node be checked, wherever it is called.

    Python looks a method up in the class, so the node gets a class of its own.
    """
    cls: Any = type(node)
    read = _read_by_backward(node)
    prints = [_fingerprint(x) for _, x in read]

    def backward(self: Any, *gys: Any) -> Any:
        name = cls.__name__
        now = _read_by_backward(self)
        for (what, x), print_ in zip(now, prints, strict=True):
            if _fingerprint(x) != print_:
                raise RuntimeError(
                    _report(
                        f"{name}.backward: expected the arrays of the forward pass, "
                        f"got {what} changed since then; gradients would be wrong "
                        "(write x = x + 1 for x.data += 1)",
                        [],
                        lines,
                    )
                )
        rows = [*_rows("incoming gradient", gys), *_described(now)]
        for i, gy in enumerate(gys):
            if fault := _fault(gy):
                raise FloatingPointError(
                    _report(
                        f"{name}.backward: expected a finite incoming gradient, got "
                        f"{fault} in gradient {i}: what it started from, or a sum of "
                        "several, was not",
                        rows,
                        lines,
                    )
                )
        before = [_fingerprint(x) for x in (*gys, *(x for _, x in now))]
        self.__class__ = cls  # it may ask for its class
        try:
            with _inside(lines), np.errstate(all="ignore"):
                gxs = self.backward(*gys)
        finally:
            self.__class__ = watched
        if before != [_fingerprint(x) for x in (*gys, *(x for _, x in now))]:
            raise RuntimeError(
                _report(
                    f"{name}.backward: expected to leave the incoming gradients and "
                    "what it reads as they are, got one changed in place",
                    rows,
                    lines,
                )
            )
        found = gxs if isinstance(gxs, (tuple, list)) else (gxs,)
        for i, gx in enumerate(found):
            if fault := _fault(gx):
                raise FloatingPointError(
                    _report(
                        f"{name}.backward: expected a finite gradient, got {fault} in "
                        f"the gradient by input {i}",
                        [*_rows("gradient by input", found), *rows],
                        lines,
                    )
                )
        return gxs

    def call(self: Any, *inputs: Any) -> Any:
        # The same object called anew is another node, with arrays of its own.
        unwatched = self._clone()
        unwatched.__class__ = cls
        return unwatched(*inputs)

    members = {"backward": backward, "__call__": call, "__module__": cls.__module__}
    watched = watched_class(cls, members)
    node.__class__ = watched


@contextlib.contextmanager
def _inside(lines: list[str]) -> Iterator[None]:
    """The backward of the node that ``lines`` made is running."""
    outer, _thread.node_lines = _thread.node_lines, lines
    try:
        yield
    finally:
        _thread.node_lines = outer


def _read_by_backward(node: Function) -> list[tuple[str, Any]]:
    """What backward reads of its node, each with a name for it."""
    read = []
    if node.reads_inputs:
        read += [(_called(x, i), x) for i, x in enumerate(node.inputs or ())]
    if node.reads_outputs:
        kept = node._output_data
        kept = kept if isinstance(kept, tuple) else (kept,)
        read += [(f"output {i}", y) for i, y in enumerate(kept)]
    return read


# =============================================================================
# Arrays
# =============================================================================


def _data(x: Any) -> Array | None:
    """The array of floats in ``x``, if there is one."""
    x = x.data if isinstance(x, Variable) else x
    x = np.asarray(x) if isinstance(x, (float, np.generic)) else x
    return x if cuda.is_array(x) and x.dtype.kind == "f" else None


def _fault(x: Any) -> str:
    """``"NaN"`` or an infinity, if there is one; else nothing."""
    x = _data(x)
    if x is None:
        return ""
    xp = cuda.get_array_module(x)
    if xp.isfinite(x).all():
        return ""
    if xp.isnan(x).any():
        return "NaN"
    return "inf" if (x > 0).any() and xp.isinf(x[x > 0]).any() else "-inf"


def _fingerprint(x: Any) -> Any:
    """Equal for equal arrays, and smaller than the copy that would do as well."""
    x = x.data if isinstance(x, Variable) else x
    if not cuda.is_array(x):
        return None
    x = np.ascontiguousarray(cuda.as_numpy(x))
    return x.shape, x.dtype, hashlib.blake2b(x.data, digest_size=16).digest()


def _called(x: Any, i: int) -> str:
    name = x.name if isinstance(x, Variable) else None
    return f"input {i} ({name!r})" if name else f"input {i}"


def _rows(kind: str, xs: Sequence[Any]) -> list[str]:
    named = [_called(x, i).replace("input", kind, 1) for i, x in enumerate(xs)]
    return _described(list(zip(named, xs, strict=True)))


def _described(named: Sequence[tuple[str, Any]]) -> list[str]:
    return [f"{name}: {_range(x)}" for name, x in named if x is not None]


def _range(x: Any) -> str:
    """Shape, dtype and range of an array, and how much of it is not finite."""
    x = x.data if isinstance(x, Variable) else x
    if not cuda.is_array(x):
        return repr(x)
    x = cuda.as_numpy(x)
    text = f"{x.dtype} of shape {x.shape}"
    if not x.size:
        return text
    finite = x[np.isfinite(x)]
    if finite.size:
        text += f", from {finite.min():.4g} to {finite.max():.4g}"
    if nans := int(np.isnan(x).sum()):
        text += f", {nans} of {x.size} NaN"
    if infinities := int(np.isinf(x).sum()):
        text += f", {infinities} of {x.size} infinite"
    return text


def _report(message: str, rows: Sequence[str], lines: Sequence[str]) -> str:
    text = "\n".join([message, *[f"  {row}" for row in rows]])
    if lines:
        text += "\n  called at (innermost first)\n" + "\n".join(
            [f"    {line}" for line in lines]
        )
    return text
