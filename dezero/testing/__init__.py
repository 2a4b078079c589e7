"""Proof tools: numerical gradients, gradient checks, Hypothesis strategies, test cases.

The strategies and ``Case`` need the package hypothesis; they are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from dezero.testing.gradients import check_gradients, numerical_gradient
from dezero.testing.report import GradientCheck, GradientReport

__all__ = [
    "Case",
    "GradientCheck",
    "GradientReport",
    "arrays",
    "axis",
    "axis_and_keepdims",
    "away_from_zero",
    "between",
    "broadcastable",
    "check_case",
    "check_gradients",
    "integers_below",
    "masks",
    "numerical_gradient",
    "positive",
    "same_shape",
    "shapes",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = {"Case": "cases", "check_case": "properties"}.get(name, "strategies")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
