"""Proof tools: check the gradients of a function, or all that one should keep to.

``check_gradients`` needs NumPy alone and answers at once; ``Case`` says what a function
must agree with and on which inputs, and Hypothesis (the extra ``test``) draws those::

    import numpy as np
    from dezero import functions as F
    from dezero.testing import Case, arrays, cases_test, check_gradients

    def bump(x):
        return F.exp(-x * x)

    report = check_gradients(bump, np.linspace(-1, 1, 5))
    print(report)  # a table: each derivative by backward, by differences, the verdict
    report.assert_ok()

    CASES = [Case(bump, arrays(), reference=lambda x: np.exp(-x * x))]
    test_bump = cases_test(CASES)  # in a test file: a test for each property

``pytest --dezero-cases my_package.my_cases`` runs the ``CASES`` of a module without any
test file. What is checked, property by property, is in ``dezero.testing.properties``:
values, derivatives, float32 and float16, memory layout, aliasing, CPU against GPU.
Strategies and cases are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from dezero.testing.gradients import check_gradients, numerical_gradient
from dezero.testing.report import GradientCheck, GradientReport

# Where the names are that need Hypothesis; cases_test needs pytest too.
_LATER = {
    "cases": ["Case"],
    "properties": ["check_case"],
    "pytest_cases": ["cases_test"],
    "strategies": [
        "arrays",
        "axes",
        "axis",
        "axis_and_keepdims",
        "away_from_zero",
        "between",
        "broadcastable",
        "integers_below",
        "masks",
        "positive",
        "same_shape",
        "shapes",
    ],
    "indexing": [
        "array_indices",
        "basic_indices",
        "indices",
        "mask_indices",
        "slices_of",
    ],
    "geometries": [
        "conv_geometries",
        "deconv_geometries",
        "images_and_kernels",
        "window_geometries",
    ],
}
_MODULES = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "Case",
    "GradientCheck",
    "GradientReport",
    "array_indices",
    "arrays",
    "away_from_zero",
    "axes",
    "axis",
    "axis_and_keepdims",
    "basic_indices",
    "between",
    "broadcastable",
    "cases_test",
    "check_case",
    "check_gradients",
    "conv_geometries",
    "deconv_geometries",
    "images_and_kernels",
    "indices",
    "integers_below",
    "mask_indices",
    "masks",
    "numerical_gradient",
    "positive",
    "same_shape",
    "shapes",
    "slices_of",
    "window_geometries",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = f"{__name__}.{_MODULES[name]}"
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name not in ("hypothesis", "pytest"):
            raise
        raise ModuleNotFoundError(
            f"dezero.testing.{name}: expected the package {error.name}, found none; "
            "install dezero[test]",
            name=error.name,
        ) from None
