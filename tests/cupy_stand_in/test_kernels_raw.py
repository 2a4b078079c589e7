"""The stand-in's kernels in plain C++ refuse what a real one would misread."""

import ctypes

import numpy as np
import pytest

from dezero.kernels import multi_tensor
from dezero.kernels import optimizers as kernels
from dezero.kernels.multi_tensor import MULTI_TENSOR_KERNELS, run

from . import raw_kernels
from .raw_kernels import struct_of
from .transfers import transfers

NAME = "dezero_sgd_ff_many"


@pytest.fixture
def call(cupy, monkeypatch):
    """A launch of two arrays, and a function that makes it with other arguments."""
    launches = []
    launch = multi_tensor.MultiTensorKernel.launch

    def record(self, blocks, arguments):
        launches.append((blocks, arguments))
        launch(self, blocks, arguments)

    monkeypatch.setattr(multi_tensor.MultiTensorKernel, "launch", record)
    arrays = [cupy.ones(n, np.float32) for n in (3, 3, 3000, 3000)]
    calls = [(kernels.sgd, (g, 0.5, p)) for g, p in (arrays[:2], arrays[2:])]
    run(calls)
    (blocks, (tensors, *rest)) = launches[0]
    kernel = cupy.RawKernel(**MULTI_TENSOR_KERNELS[NAME].parts)

    def again(grid=(blocks,), block=(256,), change=None, rest=tuple(rest)):
        changed = tensors.copy()
        if change:
            change(changed)
        kernel(grid, block, (changed, *rest))
        return [float(x[0]) for x in arrays[1::2]]

    again.arrays = arrays
    again.calls = calls
    return again


def test_a_launch_can_be_repeated(call):
    with transfers() as moved:
        assert call() == [0, 0]
    assert moved.to_device == 0


def set_first(value):
    def change(tensors):
        tensors["at"][0, 0] = value

    return change


def too_many(tensors):
    tensors["size"][0] = 4


def skip_blocks(tensors):
    tensors["first"][1] = 2


MISTAKES = [
    ({"change": set_first(64)}, RuntimeError, "no array has asked for the address"),
    ({"change": too_many}, RuntimeError, "out of bounds"),
    ({"change": skip_blocks}, RuntimeError, "block 1 of .* finds nothing to do"),
    ({"grid": (4,)}, RuntimeError, "block 3 of .* finds nothing to do"),
    ({"grid": (0,)}, RuntimeError, "CUDA_ERROR_INVALID_VALUE"),
    ({"grid": 3}, TypeError, "expected tuple"),
    ({"block": (128,)}, RuntimeError, "CUDA_ERROR_INVALID_VALUE"),
    ({"rest": ()}, RuntimeError, "reads 2 arguments"),
    ({"rest": (np.float32(0.5),)}, TypeError, "lr reads a number of float64"),
    ({"rest": (np.zeros(3),)}, TypeError, r"a numpy.ndarray of shape \(3,\) as a ker"),
]


@pytest.mark.parametrize(("given", "error", "regex"), MISTAKES)
def test_mistakes(call, given, error, regex):
    with pytest.raises(error, match=regex):
        call(**given)


def test_a_struct_of_another_size(cupy, call):
    kernel = cupy.RawKernel(**MULTI_TENSOR_KERNELS[NAME].parts)
    with pytest.raises(TypeError, match="_tensors reads 2016 bytes"):
        kernel((1,), (256,), (np.zeros((), "V2000"), np.float64(0.5)))


def test_arrays_that_are_gone(call):
    call.calls.clear()
    call.arrays.pop()
    with pytest.raises(RuntimeError, match="no array has asked .* or is gone"):
        call()


def test_arrays_of_another_dtype(cupy, call):
    wide = cupy.ones(3)
    with pytest.raises(RuntimeError, match="memory of float64 is used as float32"):
        call(change=set_first(wide.data.ptr))


def test_a_shared_array_of_another_dtype(cupy):
    x, scale = cupy.ones(3), cupy.ones(1, np.float32)
    with pytest.raises(TypeError, match="scale reads an array of float64"):
        run([(kernels.scaled, (x, scale, x))])


@pytest.mark.parametrize(
    ("arguments", "error", "regex"),
    [
        ({"name": "other"}, RuntimeError, "named symbol not found: other"),
        ({"code": b""}, TypeError, "Expected str"),
        ({"options": ["-G"]}, TypeError, "expected tuple"),
    ],
)
def test_what_is_no_kernel(cupy, call, arguments, error, regex):
    with pytest.raises(error, match=regex):
        cupy.RawKernel(**{**MULTI_TENSOR_KERNELS[NAME].parts, **arguments})


def test_more_arguments_than_fit(cupy, call, monkeypatch):
    monkeypatch.setattr(raw_kernels, "MOST_BYTES", 2016)
    with pytest.raises(RuntimeError, match="2024 bytes of arguments"):
        call()


def test_the_struct_is_that_of_the_source(call):
    """C++ lays it out as NumPy does."""
    kernel = MULTI_TENSOR_KERNELS[NAME]
    text = kernel.parts["code"].partition("struct Tensors {")[2].partition("};")[0]
    struct = struct_of(text)
    assert ctypes.sizeof(struct) == kernel.struct.itemsize
    for name, (_, offset) in kernel.struct.fields.items():
        assert getattr(struct, name).offset == offset
