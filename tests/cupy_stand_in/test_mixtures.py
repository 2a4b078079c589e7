"""Arguments on several devices: one word for all functions."""

import operator

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero import Variable, cuda

ON_BOTH = {
    "Mul": lambda here, there: here * there,
    "Add": lambda here, there: there + here,
    "MatMul": lambda here, there: F.matmul(there, here),
    "Concatenate": lambda here, there: F.concatenate([here, there]),
    "Maximum": lambda here, there: F.maximum(here, there),
}


@pytest.mark.parametrize("name", ON_BOTH)
def test_functions(name):
    here = Variable(np.ones((2, 2)))
    there = Variable(cuda.as_cupy(np.ones((2, 2))))
    message = f"{name}: expected all arguments on one device, got .*cpu.*; move .*"
    with pytest.raises(TypeError, match=message):
        ON_BOTH[name](here, there)


def test_layers():
    layer = L.Linear(2, in_size=3)
    layer.to_gpu()
    message = "Linear: expected all arguments on one device, got cpu, cuda:0, cuda:0; "
    with pytest.raises(TypeError, match=message):
        layer(np.ones((4, 3), np.float32))


def test_other_errors_stay_as_they_are():
    with pytest.raises(ValueError, match="broadcast"):
        Variable(np.ones(3)) + np.ones(2)


def test_an_integer_of_a_device_as_an_index():
    i = Variable(cuda.as_cupy(np.array(2)))
    assert operator.index(i) == 2 and [5, 6, 7][i] == 7
    with pytest.raises(TypeError):
        operator.index(Variable(cuda.as_cupy(np.array(2.0))))
