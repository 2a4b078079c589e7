"""Calls of a case, passes through its graph, and how what comes out is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, run_backward
from dezero.testing.cases import Case
from dezero.testing.gradients import pin_random

Arrays = Sequence[np.ndarray]
Options = dict[str, Any]

# =============================================================================
# Calls and passes
# =============================================================================


def call_case(case: Case, xs: Sequence[Any], options: Options) -> list[Any]:
    """The outputs of the case's function, as a list, from the pinned random state."""
    pin_random()
    ys = case.function(*xs, **options)
    return list(ys) if isinstance(ys, (tuple, list)) else [ys]


def call_on_variables(
    case: Case, xs: Sequence[Any], options: Options
) -> tuple[list[Variable], list[Any]]:
    """``xs`` as Variables, and the outputs for them."""
    variables = [Variable(x) for x in xs]
    return variables, call_case(case, variables, options)


def data_of(y: Any) -> Any:
    """The array of an output: of a Variable, an array or a number."""
    return (
        y.data if isinstance(y, Variable) else y if cuda.is_array(y) else np.asarray(y)
    )


def carries_gradient(y: Any) -> bool:
    """Can a backward pass start at this output?"""
    return isinstance(y, Variable) and y.requires_grad and y.dtype.kind == "f"


def seed_for(y: Any) -> Variable:
    """An incoming gradient without zeros, always the same for the same output."""
    y = data_of(y)
    rng = np.random.RandomState(y.size)
    w = rng.uniform(0.5, 1.5, y.shape) * rng.choice([-1.0, 1.0], y.shape)
    return Variable(np.asarray(w).astype(y.dtype if y.dtype.kind == "f" else "f8"))


def leaf_gradients(
    variables: Sequence[Variable],
    ys: Sequence[Any],
    seeds: Sequence[Variable] | None = None,
    create_graph: bool = False,
    retain_graph: bool = True,
) -> list[Any]:
    """The gradient arrays of one pass; zeros for a Variable that it did not reach."""
    if seeds is None:
        seeds = [seed_for(y) for y in ys]
    pairs = [(y, s) for y, s in zip(ys, seeds, strict=True) if carries_gradient(y)]
    outputs, used = [y for y, _ in pairs], [s for _, s in pairs]
    table = run_backward(outputs, used, None, create_graph, retain_graph)
    return [
        table[x].data if x in table else cuda.get_array_module(x).zeros_like(x.data)
        for x in variables
    ]


# =============================================================================
# Options
# =============================================================================


def map_arrays(options: Options, f: Callable[[Any], Any]) -> Options:
    """The options with ``f`` of each NumPy array among them."""
    return {k: f(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}


def cast_options(options: Options, dtype: str) -> Options:
    """The options with their floating arrays in another dtype."""
    return map_arrays(options, lambda x: x.astype(dtype) if x.dtype.kind == "f" else x)


# =============================================================================
# Comparisons
# =============================================================================


def bits_of(x: Any) -> tuple[Any, ...]:
    """All that must stay the same in an array that nobody may change."""
    return x.shape, x.dtype, x.tobytes()


def assert_unchanged(
    watched: list[tuple[str, Any]], before: list[tuple[Any, ...]], when: str
) -> None:
    """The ``watched`` pairs of name and array have the bits they had ``before``."""
    for (name, x), bits in zip(watched, before, strict=True):
        assert bits_of(x) == bits, f"{name} was changed by {when}"


def assert_same(a: Any, b: Any, what: str) -> None:
    """Two arrays agree in shape, dtype and every bit."""
    assert bits_of(a) == bits_of(b), f"{what} expected to be {b!r}, got {a!r}"


def assert_close(a: Any, b: Any, tolerance: float, what: str) -> None:
    """Differences are measured against the largest element, or 1."""
    size = max([1.0, *_sizes(b)])
    np.testing.assert_allclose(
        a, b, rtol=tolerance, atol=tolerance * size, err_msg=what
    )


def _sizes(x: Any) -> Iterator[float]:
    if x.size and x.dtype.kind == "f":
        yield float(abs(x[np.isfinite(x)]).max(initial=0.0))
