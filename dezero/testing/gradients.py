"""Are the gradients right? Compare them with central differences in float64.

A derivative along a direction ``d`` is a number that both sides can give.
Analytically it is ``sum(g * d)``, where ``g`` is the gradient that ``backward``
computes; numerically it is the slope of ``t -> f(x + t*d)``. A random direction sees
every element at the price of one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, run_backward, using_config
from dezero.testing.report import BANDS, GradientCheck, GradientReport

# Differences are taken at STEP, STEP/2 and STEP/4 and extrapolated. A step this large
# keeps rounding small; the extrapolation removes what it costs.
STEP = 2e-3
LEVELS = 3


@contextlib.contextmanager
def pinned_random_state() -> Iterator[None]:
    """Start ``np.random`` from a fixed state inside, and give it back as it was.

    :func:`pin_random` inside goes back to that state. It is much cheaper.
    """
    state = np.random.get_state()
    try:
        pin_random()
        yield
    finally:
        np.random.set_state(state)


def pin_random() -> None:
    """Put ``np.random`` into the state from which every call compared starts."""
    np.random.seed(0)


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
        eps: The step. By default three steps are extrapolated, which brings the error
            of smooth functions of the size of 1 near 1e-11.

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
    gradient = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[i] = 1.0

        def along(t: float, d: np.ndarray = d) -> float:
            ys = _call(f, _variables(_moved(xs, index, t * d)))
            return sum([float(_array(y).sum()) for y in ys])

        if eps is None:
            gradient[i] = _slope(along)
        else:
            gradient[i] = (along(eps) - along(-eps)) / (2 * eps)
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

    Args:
        f: Maps Variables to a Variable or a tuple of them. It may draw random numbers
            from ``np.random``: each call starts from the same state.
        *inputs: Arrays or Variables to check it at; cast to float64.
        order: The highest order to check: 1, 2 or 3.
        directions: How many random directions per input.
        seed: Draws the weights and directions.
        name: What the report calls ``f``.

    Returns:
        A report, to be printed or asserted: ``check_gradients(...).assert_ok()``.

    Raises:
        ValueError: ``order`` is not 1, 2 or 3, there is no direction, or ``f`` has no
            output: nothing would be checked.
        TypeError: An input is no array of numbers, or an output of ``f`` is no Variable
            or not floating.
    """
    if order not in (1, 2, 3):
        raise ValueError(f"check_gradients: expected order 1, 2 or 3, got {order}")
    if directions < 1:
        raise ValueError(f"check_gradients: expected directions >= 1, got {directions}")
    for i, x in enumerate(inputs):
        if (dtype := _array(x).dtype).kind not in "fiub":
            raise TypeError(
                f"check_gradients: expected arrays of numbers as inputs, got {dtype} "
                f"as input {i}; other arguments go into a lambda around f"
            )
    rng = np.random.RandomState(seed)
    rows: dict[tuple[int, str], GradientCheck] = {}
    for _ in range(directions):
        at = [np.array(_array(x), dtype=np.float64) for x in inputs]
        names = [f"input {i}" for i in range(len(at))]
        function = _function(f)
        for k in range(1, order + 1):
            ys = function(_variables(at), True)
            ws = [_random(rng, y.shape, 0.5, 1.5) for y in ys]
            for check in _check(k, function, names, at, ws, ys, rng):
                key = k, check.by
                if key not in rows or not check.error <= rows[key].error:
                    rows[key] = check
            function = _gradient_of(function, len(at))
            names += [f"{_INCOMING[k - 1]} {i}" for i in range(len(ws))]
            at += ws
    ordered = [rows[key] for key in sorted(rows, key=lambda key: key[0])]
    name = name or str(getattr(f, "__name__", type(f).__name__))
    return GradientReport(name, tuple(ordered))


# =============================================================================
# Analytic and numeric derivatives along a direction
# =============================================================================

# Maps Variables to Variables, recorded or not.
_Mapping = Callable[[Sequence[Variable], bool], list[Variable]]

# What comes in from above: the gradient by y and, at order 3, by the gradient gx.
_INCOMING = ("gy", "ggx", "gggy")


def _function(f: Callable[..., Any]) -> _Mapping:
    def function(variables: Sequence[Variable], recorded: bool) -> list[Variable]:
        ys = _call(f, variables)
        if not ys:
            raise ValueError("check_gradients: expected f to return outputs, got none")
        for i, y in enumerate(ys):
            if not isinstance(y, Variable) or y.dtype.kind != "f":
                what = f"dtype {y.dtype}" if hasattr(y, "dtype") else type(y).__name__
                raise TypeError(
                    "check_gradients: expected f to return floating Variables, "
                    f"got {what} as output {i}"
                )
        return ys

    return function


def _gradient_of(function: _Mapping, n: int) -> _Mapping:
    """The mapping from n inputs and the incoming gradients to the n gradients."""

    def gradient(variables: Sequence[Variable], recorded: bool) -> list[Variable]:
        xs, gys = variables[:n], variables[n:]
        return _backward(function(xs, True), gys, xs, recorded)

    return gradient


def _check(
    order: int,
    function: _Mapping,
    names: Sequence[str],
    xs: Sequence[np.ndarray],
    ws: Sequence[np.ndarray],
    ys: Sequence[Variable],
    rng: np.random.RandomState,
) -> Iterator[GradientCheck]:
    """Check the gradient of ``sum(w * y)``, ys being the outputs for xs."""
    gradients = _gradient_of(function, len(xs))(_variables([*xs, *ws]), False)
    # The function works with numbers of the size of its inputs and outputs, even where
    # little is left of them in the end.
    size = max([_size(a) for a in (*xs, *map(_array, ys))], default=0.0) or 1.0
    scale = sum([float(np.sum(abs(w))) for w in ws]) * size
    for i, g in enumerate(map(_array, gradients)):
        d = _direction(rng, xs[i])

        def along(t: float, i: int = i, d: np.ndarray = d) -> float:
            moved = function(_variables(_moved(xs, i, t * d)), False)
            return sum(
                [float(np.sum(w * y.data)) for w, y in zip(ws, moved, strict=True)]
            )

        yield _compare(order, names[i], g, d, _slope(along), scale)


def _compare(
    order: int, by: str, g: np.ndarray, d: np.ndarray, numeric: float, scale: float
) -> GradientCheck:
    analytic = float(np.sum(g * d))
    # The slope is a difference of numbers of the size of `scale` over the smallest
    # step. So much is it uncertain, even where the gradient is 0 and leaves nothing to
    # divide by. With `tiny` that far above it, rounding alone reads as 1e-7 at most.
    rounding = 4 * np.finfo(np.float64).eps * scale / (STEP / 2 ** (LEVELS - 1))
    tiny = rounding / BANDS[0][0] + np.finfo(np.float64).tiny
    error = abs(analytic - numeric) / (float(np.sum(abs(g * d))) + tiny)
    if not np.isfinite(error):
        error = np.inf
    return GradientCheck(order, by, g.shape, analytic, numeric, error)


def _slope(along: Callable[[float], float]) -> float:
    """The derivative at 0 by central differences, Richardson-extrapolated.

    The error of a central difference is a series in the square of the step. Halving the
    step quarters the first term, so ``(4 * fine - coarse) / 3`` is free of it; the next
    round, with 16 for 4, removes the second term.
    """
    steps = [STEP / 2**k for k in range(LEVELS)]
    slopes = [(along(h) - along(-h)) / (2 * h) for h in steps]
    for k in range(1, LEVELS):
        slopes = [
            (4**k * fine - coarse) / (4**k - 1)
            for coarse, fine in zip(slopes, slopes[1:], strict=False)
        ]
    return slopes[0]


def _variables(xs: Sequence[np.ndarray]) -> list[Variable]:
    return [Variable(x) for x in xs]


def _call(f: Callable[..., Any], variables: Sequence[Variable]) -> list[Any]:
    pin_random()
    ys = f(*variables)
    return list(ys) if isinstance(ys, (tuple, list)) else [ys]


def _moved(xs: Sequence[np.ndarray], i: int, d: Any) -> list[np.ndarray]:
    return [*xs[:i], np.asarray(xs[i] + d), *xs[i + 1 :]]


def _backward(
    ys: Sequence[Variable],
    seeds: Sequence[Variable],
    wanted: Sequence[Variable],
    create_graph: bool,
) -> list[Variable]:
    """The gradient by each wanted Variable: zeros where no output depends on it."""
    pairs = [(y, s) for y, s in zip(ys, seeds, strict=True) if y.requires_grad]
    outputs, used = [y for y, _ in pairs], [s for _, s in pairs]
    table = run_backward(outputs, used, wanted, create_graph)
    return [
        table[x] if x in table else Variable(np.zeros(x.shape), requires_grad=False)
        for x in wanted
    ]


def _array(x: Any) -> np.ndarray:
    return cuda.as_numpy(x)


def _as_float64(x: Any) -> np.ndarray:
    x = _array(x)
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def _random(
    rng: np.random.RandomState, shape: tuple[int, ...], low: float, high: float
) -> np.ndarray:
    """Random numbers of both signs and a magnitude in [low, high]: none near zero."""
    return np.asarray(rng.uniform(low, high, shape) * rng.choice([-1.0, 1.0], shape))


def _direction(rng: np.random.RandomState, x: np.ndarray) -> np.ndarray:
    """A random direction, short where ``x`` is small: no step may lead across zero."""
    return _random(rng, x.shape, 0.5, 1.0) * min(1.0, _size(x) or 1.0)


def _size(x: np.ndarray) -> float:
    return float(abs(x).max()) if x.size else 0.0
