"""Are the gradients right? Compare them with central differences in float64.

A derivative along a direction ``d`` is a number that both sides can give.
Analytically it is ``sum(g * d)``, where ``g`` is the gradient that ``backward``
computes; numerically it is the slope of ``t -> f(x + t*d)``. A random direction sees
every element at the price of one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, run_backward

__all__ = [
    "GradientCheck",
    "GradientReport",
    "check_gradients",
    "pinned_random_state",
    "numerical_gradient",
    "pin_random",
    "verdict",
]

# Differences are taken at STEP, STEP/2 and STEP/4 and extrapolated. A step this large
# keeps rounding small; the extrapolation removes what it costs.
STEP = 2e-3
LEVELS = 3

BANDS = ((1e-7, "right"), (1e-5, "rounding"), (1e-3, "suspicious"))


def verdict(error: float) -> str:
    """What a relative error says about a gradient.

    Up to 1e-7 it is "right"; up to 1e-5 the difference may be "rounding"; up to 1e-3 it
    is "suspicious"; above, or if it is no number, the gradient is "wrong".
    """
    for limit, name in BANDS:
        if error <= limit:
            return name
    return "wrong"


@dataclass(frozen=True)
class GradientCheck:
    """One derivative, computed in two ways.

    Attributes:
        order: 1 for the gradient of f, 2 for the gradient of its gradient.
        by: What was varied: an input or, for order 2, also the incoming gradient gy of
            an output.
        shape: The shape of what was varied.
        analytic: The derivative along the direction, from ``backward``.
        numeric: The same from central differences.
        error: ``|analytic - numeric| / (sum |g_i d_i| + tiny)``, the largest over the
            directions; the other two are those of that direction.
    """

    order: int
    by: str
    shape: tuple[int, ...]
    analytic: float
    numeric: float
    error: float

    @property
    def verdict(self) -> str:
        """The band that the error falls into, see :func:`verdict`."""
        return verdict(self.error)


@dataclass(frozen=True)
class GradientReport:
    """What :func:`check_gradients` found. Printed, it is a table."""

    name: str
    checks: tuple[GradientCheck, ...]

    @property
    def error(self) -> float:
        """The largest error."""
        return max([check.error for check in self.checks], default=0.0)

    @property
    def verdict(self) -> str:
        """The worst verdict."""
        return verdict(self.error)

    def assert_ok(self, limit: float = 1e-5) -> None:
        """Fail, with the table, if an error exceeds ``limit``.

        Raises:
            AssertionError: One does.
        """
        if not self.error <= limit:
            raise AssertionError(
                f"gradients of {self.name[:40]} differ by more than {limit:g}\n{self}"
            )

    def __str__(self) -> str:
        lines = [
            f"{'order':5}  {'by':9}  {'shape':14}  "
            f"{'analytic':>10}  {'numeric':>10}  {'error':>7}  verdict"
        ]
        for check in self.checks:
            lines.append(
                f"{check.order:<5}  {check.by:9}  {_fit(check.shape, 14):14}  "
                f"{check.analytic:10.3g}  {check.numeric:10.3g}  {check.error:7.1e}  "
                f"{check.verdict}"
            )
        return "\n".join(lines)


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
            _, ys = _run(f, _moved(xs, index, t * d))
            return sum([float(_array(y).sum()) for y in ys])

        if eps is None:
            gradient[i] = _slope(along)
        else:
            gradient[i] = (along(eps) - along(-eps)) / (2 * eps)
    return gradient


@pinned_random_state()
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
    compares the gradient of L by each input. Order 2 takes that gradient G, recorded
    with ``create_graph=True``, and compares the derivatives of ``sum(v * G)``, v
    random, by each input (v runs over all inputs, so mixed derivatives are in it) and
    by the incoming gradient w, which a function in the middle of a graph needs.

    Args:
        f: Maps Variables to a Variable or a tuple of them. It may draw random numbers
            from ``np.random``: each call starts from the same state.
        *inputs: Arrays or Variables to check it at; cast to float64.
        order: 1 or 2.
        directions: How many random directions per input.
        seed: Draws the weights and directions.
        name: What the report calls ``f``.

    Returns:
        A report, to be printed or asserted: ``check_gradients(...).assert_ok()``.

    Raises:
        ValueError: ``order`` is neither 1 nor 2.
        TypeError: An output of ``f`` is no Variable or not floating.
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradients: expected order 1 or 2, got {order}")
    xs = [np.array(_array(x), dtype=np.float64) for x in inputs]
    ys = _run(f, xs)[1]
    for i, y in enumerate(ys):
        if not isinstance(y, Variable) or y.dtype.kind != "f":
            what = f"dtype {y.dtype}" if hasattr(y, "dtype") else type(y).__name__
            raise TypeError(
                f"check_gradients: expected f to return floating Variables, got {what} "
                f"as output {i}"
            )
    rng = np.random.RandomState(seed)
    rows: dict[tuple[int, str], GradientCheck] = {}
    for _ in range(directions):
        ws = [_random(rng, y.shape, 0.5, 1.5) for y in ys]
        vs = [_random(rng, x.shape, 0.5, 1.5) for x in xs]
        found = list(_first_order(f, xs, ws, rng))
        if order == 2:
            found += _second_order(f, xs, ws, vs, rng)
        for check in found:
            key = check.order, check.by
            if key not in rows or not check.error <= rows[key].error:
                rows[key] = check
    ordered = [rows[key] for key in sorted(rows, key=lambda key: key[0])]
    return GradientReport(name or str(getattr(f, "__name__", "f")), tuple(ordered))


# =============================================================================
# Analytic and numeric derivatives along a direction
# =============================================================================


def _first_order(
    f: Callable[..., Any],
    xs: list[np.ndarray],
    ws: list[np.ndarray],
    rng: np.random.RandomState,
) -> Iterator[GradientCheck]:
    def loss(xs: list[np.ndarray]) -> float:
        return _dot(ws, [y.data for y in _run(f, xs)[1]])

    variables, ys = _run(f, xs)
    gradients = _backward(ys, [Variable(w) for w in ws], variables, False)
    # f works with numbers of the size of its inputs and outputs, even where little is
    # left of them in the end.
    size = max([_size(a) for a in (*xs, *[y.data for y in ys])], default=0.0)
    scale = sum([float(np.sum(abs(w))) for w in ws]) * size
    for i, g in enumerate(gradients):
        d = _direction(rng, xs[i])

        def along(t: float, i: int = i, d: np.ndarray = d) -> float:
            return loss(_moved(xs, i, t * d))

        yield _compare(1, f"input {i}", _array(g), d, _slope(along), scale)


def _second_order(
    f: Callable[..., Any],
    xs: list[np.ndarray],
    ws: list[np.ndarray],
    vs: list[np.ndarray],
    rng: np.random.RandomState,
) -> Iterator[GradientCheck]:
    def product(varied: list[np.ndarray]) -> float:
        """sum(v * G) at other inputs or another incoming gradient."""
        variables, ys = _run(f, varied[: len(xs)])
        seeds = [Variable(w) for w in varied[len(xs) :]]
        gradients = _backward(ys, seeds, variables, False)
        return _dot(vs, [_array(g) for g in gradients])

    variables, ys = _run(f, xs)
    seeds = [Variable(w) for w in ws]
    gradients = _backward(ys, seeds, variables, True)
    wanted = [*variables, *seeds]
    seconds = _backward(gradients, [Variable(v) for v in vs], wanted, False)
    size = max([_size(a) for a in (*ws, *map(_array, gradients))], default=0.0)
    scale = sum([float(np.sum(abs(v))) for v in vs]) * size
    at = [*xs, *ws]
    for i, g in enumerate(seconds):
        by = f"input {i}" if i < len(xs) else f"gy {i - len(xs)}"
        d = _direction(rng, at[i])

        def along(t: float, i: int = i, d: np.ndarray = d) -> float:
            return product(_moved(at, i, t * d))

        yield _compare(2, by, _array(g), d, _slope(along), scale)


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


def _run(
    f: Callable[..., Any], xs: Sequence[np.ndarray]
) -> tuple[list[Variable], list[Variable]]:
    """Fresh leaf Variables of the arrays, and the outputs of ``f`` for them."""
    variables = [Variable(x) for x in xs]
    pin_random()
    return variables, _outputs(f(*variables))


def _moved(xs: Sequence[np.ndarray], i: int, d: Any) -> list[np.ndarray]:
    return [*xs[:i], np.asarray(xs[i] + d), *xs[i + 1 :]]


def _outputs(ys: Any) -> list[Any]:
    return list(ys) if isinstance(ys, (tuple, list)) else [ys]


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


def _dot(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> float:
    return float(sum([np.sum(u * v) for u, v in zip(a, b, strict=True)]))


def _size(x: np.ndarray) -> float:
    return float(abs(x).max()) if x.size else 0.0


def _fit(shape: tuple[int, ...], width: int) -> str:
    text = str(shape)
    return text if len(text) <= width else text[: width - 3] + "..."
