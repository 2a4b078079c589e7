"""The table of layers."""

import numpy as np
import pytest

import dezero.layers as L
from dezero.core import Config, Parameter
from dezero.layers import Layer


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.conv = L.Conv2d(8, 3, pad=1)
        self.norm = L.BatchNorm()
        self.blocks = [L.Linear(1000), L.Linear(10)]
        self.unused = L.Linear(3)
        self.scale = Parameter(np.ones(1, np.float32))

    def forward(self, x, times=1):
        assert not Config.train
        assert not Config.enable_backprop
        x = L.Flatten()(self.norm(self.conv(x)))
        for _ in range(times):
            y = self.blocks[0](x)
        return self.blocks[1](y), self.scale


def test_table():
    text = Net().summary(np.ones((2, 3, 4, 4), np.float32))
    assert text == (
        "Layer     Class      Output shape   Parameters\n"
        "--------  ---------  -------------  ----------\n"
        "(all)     Net        (2, 10), (1,)           1\n"
        "conv      Conv2d     (2, 8, 4, 4)          224\n"
        "norm      BatchNorm  (2, 8, 4, 4)           32\n"
        "blocks/0  Linear     (2, 1000)         129,000\n"
        "blocks/1  Linear     (2, 10)            10,010\n"
        "unused    Linear     -                       ?\n"
        "139,270 parameters, of which 16 are not trained; some layers were not called"
    )


def test_options_are_handed_on():
    x = np.ones((2, 3, 4, 4), np.float32)
    assert Net().summary(x, times=2) == Net().summary(x)


def test_nothing_changes():
    net, x = Net(), np.ones((2, 3, 4, 4), np.float32)
    net.summary(x)
    assert net.conv.W.data is None
    assert type(net) is Net
    assert list(net.outputs) == []
    rnn = L.RNN(3)
    rnn.summary(np.ones((1, 2), np.float32))
    assert rnn.h is None


def test_shared_weights_count_once():
    net = L.Layer()
    net.a, net.b = L.Linear(3, in_size=3), L.Linear(3, in_size=3)
    net.b.W = net.a.W

    class Both(Layer):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net.b(self.net.a(x))

    lines = Both().summary(np.ones((1, 3), np.float32)).splitlines()
    assert [line.split()[-1] for line in lines[2:-1]] == ["0", "0", "12", "3"]
    assert lines[-1] == "15 parameters"


def test_an_own_call_and_what_is_no_array():
    class Own(Layer):
        def __call__(self, x):
            return {"x": x}

    assert Own().summary(1).splitlines()[2].split() == ["(all)", "Own", "dict", "0"]


def test_errors_come_through_and_leave_the_random_state():
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()
    with pytest.raises(ValueError, match=r"Conv2d\(8, 3, pad=1\): expected x"):
        Net().summary(np.ones((2, 3)))
    assert np.random.get_state()[1].tolist() == before
