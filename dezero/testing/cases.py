"""One entry proves a function: :class:`Case`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dezero.testing.report import LIMIT

Draw = Callable[[SearchStrategy], Any]


@dataclass(frozen=True, init=False, repr=False)
class Case:
    """A function, the inputs to test it on, and what it must agree with.

    ``Case(F.sum, arrays(), reference=np.sum, options=axis_and_keepdims)`` is all that
    stands in a test file; :mod:`dezero.testing.properties` has what is checked for it.

    Args:
        function: The public function, or any callable with ``name`` saying which public
            function it proves.
        inputs: Hypothesis strategies of the differentiable positional arguments. Each
            draws one float64 array, or a tuple of arrays that is spread over arguments.
        reference: NumPy's or SciPy's word for it: ``reference(*arrays, **options)``
            returns an array, or a tuple for several outputs. It may be left out where
            there is none.
        options: Maps the drawn arrays to a strategy of keyword arguments.
        order: The highest order of derivatives to check: 1, 2 or 3.
        differentiable: Whether there are gradients to check at all.
        tolerance: Largest relative error of a gradient.
        reason: Why the tolerance must differ from 1e-5.
        name: The public name proven; by default the function's own.
        dtypes: The floating types, besides float64, that outputs and gradients keep.
        random: Whether the function draws random numbers, so that two devices differ.

    Raises:
        TypeError: An input is no strategy.
        ValueError: No name, an order above 3, or a tolerance without a reason.
    """

    function: Callable[..., Any]
    inputs: tuple[SearchStrategy, ...]
    reference: Callable[..., Any] | None
    options: Callable[..., SearchStrategy[dict[str, Any]]] | None
    order: int
    differentiable: bool
    tolerance: float
    reason: str
    name: str
    dtypes: Sequence[str]
    random: bool

    def __init__(
        self,
        function: Callable[..., Any],
        *inputs: SearchStrategy,
        reference: Callable[..., Any] | None = None,
        options: Callable[..., SearchStrategy[dict[str, Any]]] | None = None,
        order: int = 2,
        differentiable: bool = True,
        tolerance: float = LIMIT,
        reason: str = "",
        name: str | None = None,
        dtypes: Sequence[str] = ("float16", "float32"),
        random: bool = False,
    ) -> None:
        if name is None:
            name = getattr(function, "__name__", "<lambda>")
        if name == "<lambda>":
            raise ValueError(
                "Case: expected name=, the public function proven, for a lambda"
            )
        for strategy in inputs:
            if not isinstance(strategy, SearchStrategy):
                raise TypeError(
                    f"Case {name}: expected strategies as inputs, such as arrays(), "
                    f"got {type(strategy).__name__}"
                )
        if order not in (1, 2, 3):
            raise ValueError(f"Case {name}: expected order 1, 2 or 3, got {order}")
        if tolerance != LIMIT and not reason:
            raise ValueError(
                f"Case {name}: expected a reason for tolerance {tolerance:g}, got none"
            )
        values = locals() | {"dtypes": tuple(dtypes)}
        for field in self.__dataclass_fields__:
            object.__setattr__(self, field, values[field])

    def __repr__(self) -> str:
        return f"Case({self.name})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # Hypothesis would print every field, strategies and all.
        printer.text(repr(self))

    def examples(self) -> SearchStrategy[tuple[tuple[np.ndarray, ...], dict[str, Any]]]:
        """A strategy of pairs (arrays, options) to call the function with."""
        return _examples(self)


@st.composite
def _examples(draw: Draw, case: Case) -> tuple[tuple[np.ndarray, ...], dict[str, Any]]:
    xs: list[np.ndarray] = []
    for strategy in case.inputs:
        x = draw(strategy)
        xs += x if isinstance(x, tuple) else (x,)
    options = draw(case.options(*xs)) if case.options is not None else {}
    return tuple(xs), options
