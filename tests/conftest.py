"""Hypothesis profiles by HYPOTHESIS_PROFILE; without, ci where CI=true, else dev."""

import os

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from dezero import cuda

from .cupy_stand_in.installing import installed

# Time limits per example fail on a busy machine, not on a wrong function.
common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=20, **common)
settings.register_profile("quick", max_examples=20, derandomize=True, **common)
settings.register_profile("ci", max_examples=50, derandomize=True, **common)
settings.register_profile("deep", max_examples=1000, **common)

default = "ci" if os.environ.get("CI") == "true" else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", default))


def pytest_collection_modifyitems(items):
    """Tests marked gpu get the stand-in for CuPy where no device answers."""
    if cuda.gpu_enable:
        return
    for item in items:
        if not item.get_closest_marker("gpu"):
            continue
        if is_hypothesis_test(item.obj):
            reason = "no usable CuPy device; on the stand-in: tests/cupy_stand_in"
            item.add_marker(pytest.mark.skip(reason=reason))
        else:
            item.fixturenames.insert(0, "cupy_stand_in")


@pytest.fixture
def cupy_stand_in():
    """CuPy's strict stand-in, in CuPy's place."""
    with installed() as cupy:
        yield cupy
