"""ExponentialMovingAverage."""

import copy
import pickle

import numpy as np
import pytest

from dezero.core import Parameter
from dezero.layers import Layer
from dezero.optimizers import ExponentialMovingAverage


class Net(Layer):
    def __init__(self, dtype=np.float64):
        self.W = Parameter(np.ones((2, 3), dtype))
        self.b = Parameter(np.array(2.0, dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_200_updates(dtype):
    rng = np.random.default_rng(0)
    net = Net(dtype)
    average = ExponentialMovingAverage(net, decay=0.9)
    expected = None
    for _ in range(201):
        net.W.data = rng.standard_normal((2, 3)).astype(dtype)
        x = net.W.data.astype(np.float64)
        expected = x if expected is None else 0.9 * expected + 0.1 * x
        average.update()
    tolerance = {np.float16: 1e-3, np.float32: 1e-6, np.float64: 1e-13}[dtype]
    last = net.W.data
    with average.applied():
        assert net.W.dtype == net.b.dtype == dtype
        assert net.b.data == 2.0
        np.testing.assert_allclose(net.W.data, expected, tolerance, tolerance)
    assert net.W.data is last


def test_half_precision_is_averaged_in_single():
    p = Parameter(np.ones(1, np.float16))
    average = ExponentialMovingAverage([p], decay=0.9999)
    average.update()
    p.data = np.full(1, 2.0, np.float16)
    for _ in range(7000):  # each change is a tenth of what float16 can tell
        average.update()
    average.copy_to_target()
    np.testing.assert_allclose(p.data, 2 - 0.9999**7000, rtol=1e-3)


def test_the_average_shares_no_memory_with_the_weights():
    net = Net()
    average = ExponentialMovingAverage(net)
    average.update()
    net.W.data += 1
    with average.applied():
        np.testing.assert_array_equal(net.W.data, np.ones((2, 3)))
        net.W.data += 5
    average.copy_to_target()
    net.W.data += 5
    average.copy_to_target()
    np.testing.assert_array_equal(net.W.data, np.ones((2, 3)))


def test_weights_come_back_after_an_error():
    net = Net()
    average = ExponentialMovingAverage(net)
    average.update()
    before = net.W.data
    with pytest.raises(KeyError), average.applied():
        raise KeyError
    assert net.W.data is before


def test_lazy_and_integer_parameters():
    lazy, whole = Parameter(None), Parameter(np.array([1, 2]))
    average = ExponentialMovingAverage([lazy, whole], decay=0.5)
    average.update()
    lazy.data = np.ones(2)
    whole.data = np.array([3, 4])
    average.update()
    lazy.data = np.zeros(2)
    average.update()
    average.copy_to_target()
    np.testing.assert_array_equal(lazy.data, [0.5, 0.5])
    np.testing.assert_array_equal(whole.data, [3, 4])


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_goes_on(copied):
    net = Net()
    average = ExponentialMovingAverage(net, decay=0.5)
    average.update()
    again = copied(average)
    assert again.target is not net
    for x in average, again:
        x.target.W.data = np.full((2, 3), 3.0)
        x.update()
        x.copy_to_target()
    np.testing.assert_array_equal(again.target.W.data, np.full((2, 3), 2.0))
    np.testing.assert_array_equal(net.W.data, np.full((2, 3), 2.0))


def test_the_state_goes_to_another_object():
    net, other = Net(), Net()
    average = ExponentialMovingAverage(net, decay=0.5)
    average.update()
    saved = average.state_dict()
    net.W.data = np.zeros((2, 3))
    average.update()
    assert saved["averages"]["W"][0, 0] == 1.0
    again = ExponentialMovingAverage(other)
    again.load_state_dict(saved)
    assert again.decay == 0.5
    other.W.data = np.zeros((2, 3))
    again.update()
    np.testing.assert_equal(again.state_dict(), average.state_dict())
    assert saved["averages"]["W"][0, 0] == 1.0


def test_a_state_that_does_not_fit():
    net = Net()
    average = ExponentialMovingAverage(net)
    average.update()
    before = average.state_dict()
    saved = {"decay": 0.5, "averages": {"W": np.ones(2), "c": np.ones(1)}}
    message = (
        "ExponentialMovingAverage.load_state_dict: expected the averages of these "
        r"parameters, got others; c is unexpected; W has the shape \(2,\), not \(2, 3\)"
    )
    with pytest.raises(ValueError, match=message):
        average.load_state_dict(saved)
    with pytest.raises(ValueError, match=r"expected decay in \[0, 1\), got 1.5"):
        average.load_state_dict({**before, "decay": 1.5})
    np.testing.assert_equal(average.state_dict(), before)
    for wrong in None, {}:
        with pytest.raises(TypeError, match="expected a dict that state_dict gave"):
            average.load_state_dict(wrong)


def test_wrong_values():
    net = Net()
    for decay in 1, -0.1:
        with pytest.raises(ValueError, match=r"expected decay in \[0, 1\)"):
            ExponentialMovingAverage(net, decay)
    with pytest.raises(TypeError, match="ExponentialMovingAverage: expected a Layer"):
        ExponentialMovingAverage(3)
    with pytest.raises(ValueError, match="expected parameters, got list without any"):
        ExponentialMovingAverage([])


def test_a_parameter_that_changed_its_shape():
    net = Net()
    average = ExponentialMovingAverage(net)
    average.update()
    net.W.data = np.zeros(2)
    message = r"update: expected parameter 'W' to keep its shape \(2, 3\), got \(2,\)"
    with pytest.raises(ValueError, match=message):
        average.update()


def test_two_parameters_of_one_name():
    net = Net()
    net.blocks = {1: Parameter(np.ones(1)), "1": Parameter(np.ones(1))}
    with pytest.raises(ValueError, match="expected a name of its own for every"):
        ExponentialMovingAverage(net).update()
