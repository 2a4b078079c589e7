"""The tests here find the stand-in in CuPy's place."""

import pytest

from .installing import installed


@pytest.fixture(autouse=True)
def cupy():
    with installed() as module:
        yield module
