"""The tests here find the stand-in in CuPy's place."""

import pytest

from dezero.kernels import Kernel
from dezero.kernels.multi_tensor import MultiTensorKernel

from .installing import installed


@pytest.fixture(autouse=True)
def cupy():
    with installed() as module:
        yield module


@pytest.fixture
def launched(monkeypatch):
    """The names of the kernels, in the order in which they ran; "many" of some."""
    names = []
    call, launch = Kernel.__call__, MultiTensorKernel.launch

    def record(self, *args, **options):
        names.append(self.parts["name"].removeprefix("dezero_"))
        return call(self, *args, **options)

    def record_many(self, blocks, arguments):
        names.append(f"many {self.kernel.parts['name'].removeprefix('dezero_')}")
        launch(self, blocks, arguments)

    monkeypatch.setattr(Kernel, "__call__", record)
    monkeypatch.setattr(MultiTensorKernel, "launch", record_many)
    return names
