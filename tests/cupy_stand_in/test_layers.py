"""Every layer on the device: as on the CPU, and quiet while it trains."""

import copy

import numpy as np
import pytest

from dezero import cuda
from dezero.core import Variable, test_mode

from ..layers import test_all_layers as table
from .transfers import transfers

every_layer = pytest.mark.parametrize("name", table.LAYERS)


@every_layer
def test_devices_agree(name):
    table.test_devices_agree(table.LAYERS[name])


@every_layer
def test_the_first_call_on_a_gpu(name):
    table.test_the_first_call_on_a_gpu(table.LAYERS[name])


@every_layer
def test_nothing_goes_to_the_host_and_back(name):
    case = table.LAYERS[name]
    layer, x = case.layer(), cuda.as_cupy(case.x())
    layer.to_gpu()
    table.run(layer, x)
    with transfers() as moved:
        table.run(layer, Variable(x)).sum().backward()
    assert not moved.lines, moved


@every_layer
def test_there_and_back(name):
    case = table.LAYERS[name]
    layer, x = case.layer(), case.x()
    with test_mode():
        expected = table.run(layer, x).data
    moved = copy.deepcopy(layer)
    moved.to_gpu()
    moved.to_cpu()
    with test_mode():
        np.testing.assert_allclose(table.run(moved, x).data, expected, rtol=1e-6)
