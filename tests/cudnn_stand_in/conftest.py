"""The tests here find stand-ins in the places of CuPy and of cuDNN's front end."""

import pytest

import dezero as dz

from .installing import installed


@pytest.fixture(autouse=True)
def cudnn(monkeypatch):
    monkeypatch.delenv(dz.cudnn.VARIABLE, raising=False)
    with installed() as behaviour:
        yield behaviour
