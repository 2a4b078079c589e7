"""Hypothesis profiles by HYPOTHESIS_PROFILE; without, ci where CI=true, else dev."""

import os

import pytest
from hypothesis import HealthCheck, settings

from dezero import cuda

# Time limits per example fail on a busy machine, not on a wrong function.
common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=20, **common)
settings.register_profile("quick", max_examples=20, derandomize=True, **common)
settings.register_profile("ci", max_examples=50, derandomize=True, **common)
settings.register_profile("deep", max_examples=1000, **common)

default = "ci" if os.environ.get("CI") == "true" else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", default))


def pytest_collection_modifyitems(items):
    """Tests marked gpu skip where no device answers."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not cuda.gpu_enable:
        skip = pytest.mark.skip(reason="no usable CuPy device")
        for item in marked:
            item.add_marker(skip)
