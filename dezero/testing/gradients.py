"""Are the gradients right? Compare them with central differences in float64.

A derivative along a direction ``d`` is a number that both sides can give.
Analytically it is ``sum(g * d)``, where ``g`` is the gradient that ``backward``
computes; numerically it is the slope of ``t -> f(x + t*d)``. A random direction sees
every element at the price of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import using_config
from dezero.testing.findings import Findings
from dezero.testing.report import GradientReport
from dezero.testing.slopes import STEPS, slope
from dezero.testing.states import (
    LayerFunction,
    is_layer,
    pin_random,
    pinned_random_state,
)
from dezero.testing.subjects import Subject

__all__ = [
    "check_gradients",
    "numerical_gradient",
    "pin_random",
    "pinned_random_state",
]


@pinned_random_state()
def numerical_gradient(
    f: Callable[..., Any],
    *arrays: Any,
    index: int = 0,
    eps: float | None = None,
) -> np.ndarray:
    """The gradient of ``sum(f(*arrays))`` by central differences, in float64.

    Each element in turn is moved both ways: ``(f(x + eps) - f(x - eps)) / (2 * eps)``.
    That takes two or more calls of ``f`` per element: for tests and small arrays.

    Args:
        f: Maps Variables to a Variable, an array or a number, or to a tuple of them.
        *arrays: Arrays or Variables to take it at; cast to float64 if floating.
        index: Which of the arrays to differentiate by.
        eps: The step. By default three steps are extrapolated, the largest by the dtype
            that f computes in: 0.002 for float64, which brings the error of smooth
            functions of the size of 1 near 1e-11; where an output is float32 although
            the arrays are not, 0.05 (1e-5), float16, 0.25 (1e-2).

    Returns:
        A float64 array of the shape of ``arrays[index]``.

    Raises:
        TypeError: ``arrays[index]`` is not floating.
    """
    xs = [_as_float64(x) for x in arrays]
    x = xs[index]
    if x.dtype.kind != "f":
        raise TypeError(
            f"numerical_gradient: expected arrays[{index}] to be floating, "
            f"got dtype {x.dtype}"
        )
    subject = Subject(f, xs, checked=False)
    try:
        ys = [cuda.as_numpy(y) for y in subject.call(xs)]
        subject.settle()
        steps = [STEPS.get(y.dtype.name, 0.0) for y in ys]
        step = max([STEPS["float64"], *steps])
        gradient = np.empty(x.shape)
        for i in np.ndindex(x.shape):
            d = np.zeros(x.shape)
            d[i] = 1.0

            def along(t: float, d: np.ndarray = d) -> float:
                moved = [*xs[:index], np.asarray(x + t * d), *xs[index + 1 :]]
                ys = [cuda.as_numpy(y) for y in subject.call(moved)]
                return sum([float(y.sum(dtype=np.float64)) for y in ys])

            if eps is None:
                gradient[i] = slope(along, step)
            else:
                gradient[i] = (along(eps) - along(-eps)) / (2 * eps)
    finally:
        subject.close()
    return gradient


@pinned_random_state()
@using_config("enable_backprop", True)  # inside no_grad nothing would be recorded
def check_gradients(
    f: Callable[..., Any],
    *inputs: Any,
    order: int = 2,
    directions: int = 2,
    seed: int = 0,
    name: str | None = None,
) -> GradientReport:
    """Compare the gradients of ``f`` with central differences along random directions.

    The loss is ``L = sum(w * y)``, over all outputs y, with random weights w. Order 1
    compares the gradient of L by each input. Order 2 does the same for the function
    that maps the inputs and the incoming gradient w to these gradients: its outputs are
    weighted anew, so mixed derivatives are in it, and the derivative by w is what a
    function in the middle of a graph needs. Order 3 goes on in the same way.

    Floating inputs are cast to float64, which a note says; if they all were of one
    lower precision, f runs in that once, and must keep it. Integers and booleans stay
    what they are, and are not varied. A Layer is checked by its trained parameters too,
    on copies in float64: it stays as it is, and if its shapes are not known yet, a copy
    is called once. Each call starts from the same state: of ``np.random`` and
    ``random``, and of the layers, arrays (running statistics) and random generators
    that f holds, which are given back as they were.

    Elements whose share in a derivative is small are judged by themselves too. But what
    is less than about 1e-12 of the largest numbers that go into f or come out cannot be
    told from rounding, and is not seen: check functions of wide ranges at inputs of one
    size.

    Where the slopes on both sides of the inputs differ, the row says "kink", where the
    values do, "jump", and neither fails: choose other inputs to have it judged. The
    elements that are not at the kink are judged all the same. (In arrays of more than
    256 elements kinks are looked for by halving; if they are too many, a note says how
    many elements are not judged.) A gradient that is wrong is described: its sign, a
    factor, about half or twice, the elements. An array that forward or backward changes
    in place, an output that is not finite, of another dtype, or another one at the next
    call: each is a problem that the report names.

    Args:
        f: Maps Variables to a Variable, or to a tuple, list or dict of them; or a
            Layer.
        *inputs: Arrays or Variables to check it at.
        order: The highest order to check: 1, 2 or 3.
        directions: How many random directions per input.
        seed: Draws the weights and directions.
        name: What the report calls ``f``.

    Returns:
        A report, to be printed or asserted as in ``check_gradients(...).assert_ok()``.

    Raises:
        ValueError: ``order`` is not 1, 2 or 3, there is no direction, ``f`` has no
            output, or no input or parameter is floating: nothing would be checked.
        TypeError: An input is no array of numbers, an output of ``f`` is no Variable or
            not floating, or a layer cannot be copied.
    """
    if order not in (1, 2, 3):
        raise ValueError(f"check_gradients: expected order 1, 2 or 3, got {order}")
    if directions < 1:
        raise ValueError(f"check_gradients: expected directions >= 1, got {directions}")
    for i, x in enumerate(inputs):
        if (dtype := cuda.as_numpy(x).dtype).kind not in "fiub":
            raise TypeError(
                f"check_gradients: expected arrays of numbers as inputs, got {dtype} "
                f"as input {i}; other arguments go into a lambda around f"
            )
    given = [cuda.as_numpy(x) for x in inputs]
    names = [f"input {i}" for i in range(len(given))]
    name = name or str(getattr(f, "__name__", type(f).__name__))
    as_given: Callable[..., Any] = f
    if is_layer(f):
        layer = LayerFunction(f, given)
        f, as_given = layer, layer.as_given
        given, names = [*given, *layer.arrays], [*names, *layer.names]
    if given and not any([x.dtype.kind == "f" for x in given]):
        raise ValueError(
            f"check_gradients: expected a floating input, got {given[0].dtype}: "
            "integers have no gradient, and nothing would be checked"
        )
    findings = Findings()
    n = len(inputs)
    findings.note_casts(
        [(f"input {i}", x.dtype) for i, x in enumerate(given[:n])],
        [(what, x.dtype) for what, x in zip(names[n:], given[n:], strict=True)],
    )
    subject = Subject(f, [_as_float64(x) for x in given], names, findings, n)
    try:
        if subject.probe():
            subject.run_as_given(as_given, given)
            subject.check(order, directions, np.random.RandomState(seed))
    finally:
        subject.close()
    return findings.report(name)


def _as_float64(x: Any) -> np.ndarray:
    x = cuda.as_numpy(x)
    return x.astype(np.float64) if x.dtype.kind == "f" else x
