"""Parameter groups: numbers of their own for some parameters."""

import copy

import numpy as np
import pytest

from dezero.core import Parameter
from dezero.layers import Layer
from dezero.optimizers import SGD, Adam, AdamW, MomentumSGD, Optimizer, RMSprop


def parameter(*values):
    p = Parameter(np.array(values, np.float64))
    p.grad = np.ones(p.shape)
    return p


def test_each_group_has_its_own_numbers():
    a, b, c = (parameter(1.0) for _ in range(3))
    groups = [{"params": [a], "lr": 0.5}, {"params": (p for p in [b, c])}]
    optimizer = SGD(lr=0.25).setup(groups)
    assert optimizer.params() == [a, b, c]
    optimizer.update()
    assert (a.data, b.data, c.data) == ([0.5], [0.75], [0.75])
    assert optimizer.lr == 0.25
    optimizer.lr = 0.0  # only where no number stands in its place
    optimizer.update()
    assert (a.data, b.data) == ([0.0], [0.75])


def test_weight_decay_for_weights_alone():
    W, b = parameter(2.0), parameter(2.0)
    W.grad, b.grad = np.zeros(1), np.zeros(1)
    AdamW(lr=0.5).setup(
        [{"params": [W], "weight_decay": 0.5}, {"params": [b], "weight_decay": 0}]
    ).update()
    assert (W.data, b.data) == ([1.5], [2.0])


def test_a_layer_in_a_group_may_grow():
    net = Layer()
    net.blocks = [parameter(1.0)]
    optimizer = SGD(lr=1.0).setup([{"params": net, "lr": 0.5}])
    net.blocks.append(parameter(1.0))
    optimizer.update()
    assert [p.data for p in net.blocks] == [0.5, 0.5]


def test_numbers_are_the_common_ones_again_after_an_error():
    class Failing(SGD):
        def update_one(self, param):
            raise KeyError

    optimizer = Failing(lr=0.25).setup([{"params": [parameter(1.0)], "lr": 0.5}])
    with pytest.raises(KeyError):
        optimizer.update()
    assert optimizer.lr == 0.25


def test_a_rule_of_ones_own_has_groups():
    class SignSGD(Optimizer):
        def __init__(self, lr):
            super().__init__()
            self.lr = lr

        def update_one(self, param):
            param.data -= self.lr * np.sign(param.grad.data)

    p = parameter(1.0)
    SignSGD(0.5).setup([{"params": [p], "lr": 0.25}]).update()
    assert p.data == [0.75]


def test_a_copy_has_groups_too():
    optimizer = MomentumSGD().setup([{"params": [parameter(1.0)], "lr": 0.5}])
    optimizer.update()
    again = copy.deepcopy(optimizer)
    for x in optimizer, again:
        x.update()
    assert again.params()[0].data == optimizer.params()[0].data


def test_the_caller_keeps_the_dicts():
    group = {"params": [parameter(1.0)], "lr": np.float32(0.5)}
    optimizer = SGD().setup([group])
    optimizer.groups[0]["lr"] = 0.0
    assert group["lr"] == 0.5


def test_switches():
    p = parameter(1.0)
    optimizer = RMSprop().setup([{"params": [p], "centered": True}])
    assert optimizer.groups[0]["centered"] is True
    optimizer.update()
    assert "a" in optimizer.state(p)


SHARED = parameter(1.0)


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (
            [{"params": [SHARED]}, {"params": [SHARED]}],
            ValueError,
            "expected every parameter in one group, got one of group 0 in group 1 too",
        ),
        (
            [{"params": [SHARED], "momentum": 0.5}],
            ValueError,
            "expected in a group some of lr, beta1, .* got 'momentum'",
        ),
        ([{"params": [SHARED], "lr": -1}], ValueError, r"Adam: expected lr in \[0, "),
        ([{"params": [SHARED], "beta1": 1}], ValueError, r"beta1 in \[0, 1\), got 1"),
        ([{"params": [SHARED], "lr": "a"}], TypeError, "lr to be a number, got str"),
        ([{"params": []}], ValueError, "expected parameters, got list without any"),
        ([{"params": 3}], TypeError, "Adam.setup: .*, got int"),
        (
            [{"parameters": [SHARED]}],
            TypeError,
            "dict with the key 'params', got a dict without it at place 0",
        ),
        (
            [{"params": [SHARED]}, SHARED],
            TypeError,
            "dict with the key 'params', got something else at place 1",
        ),
    ],
)
def test_wrong_groups(target, error, message):
    p = parameter(1.0)
    optimizer = Adam().setup([p])
    with pytest.raises(error, match=message):
        optimizer.setup(target)
    assert optimizer.params() == [p]
