"""state_dict and load_state_dict: going on as if training had never stopped."""

import copy

import numpy as np
import pytest

from dezero.core import Parameter
from dezero.layers import Layer
from dezero.optimizers import (
    SGD,
    AdaDelta,
    AdaGrad,
    Adam,
    AdamW,
    ClipGrad,
    GradientNoise,
    Lion,
    MomentumSGD,
    RMSprop,
)

RULES = [
    SGD(0.1),
    MomentumSGD(0.1, nesterov=True),
    Lion(0.1),
    AdaGrad(0.1),
    AdaDelta(),
    RMSprop(0.1, momentum=0.5, centered=True, eps=0.1),
    Adam(0.1, amsgrad=True),
    AdamW(0.1),
]


class Net(Layer):
    def __init__(self, dtype=np.float32, shape=(2, 3)):
        self.W = Parameter(np.ones(shape, dtype))
        self.blocks = [Parameter(np.ones(2, dtype))]


def train(optimizer, net, steps):
    rng = np.random.default_rng(steps)
    for _ in range(steps):
        for p in net.params():
            p.grad = rng.standard_normal(p.shape).astype(p.dtype)
        optimizer.update()


def same_weights(a, b):
    for p, q in zip(a.params(), b.params(), strict=True):
        np.testing.assert_array_equal(p.data, q.data)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_resumed_run_is_bit_equal(rule, dtype):
    net = Net(dtype)
    optimizer = copy.deepcopy(rule).setup(net)
    train(optimizer, net, 5)
    saved, resumed = optimizer.state_dict(), Net(dtype)
    for p, q in zip(net.params(), resumed.params(), strict=True):
        q.data = p.data.copy()
    train(optimizer, net, 7)
    other = type(rule)().setup(resumed)  # its numbers come from the state
    if "largest" in saved["state"].get("W", ()):
        assert not other.amsgrad
    other.load_state_dict(saved)
    train(other, resumed, 7)
    same_weights(net, resumed)


def test_what_is_in_the_dict():
    net = Net()
    optimizer = Adam(lr=np.float32(0.5)).setup(net)
    optimizer.lr = np.float32(0.25)
    optimizer.check_finite = True
    net.W.grad = np.ones((2, 3), np.float32)
    optimizer.update()
    saved = optimizer.state_dict()
    assert saved["type"] == "Adam"
    assert saved["hyperparameters"] == {
        "lr": 0.25,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "bias_correction": True,
        "amsgrad": False,
    }
    assert type(saved["hyperparameters"]["lr"]) is float
    assert saved["groups"] == [{}]
    assert saved["params"] == ["W", "blocks/0"]
    assert list(saved["state"]) == ["W"]  # the other one has had no update
    assert saved["state"]["W"]["t"] == 1
    assert saved["hooks"] == {}


def test_arrays_are_copied_both_ways():
    net = Net()
    optimizer = MomentumSGD().setup(net)
    train(optimizer, net, 1)
    saved = optimizer.state_dict()
    before = copy.deepcopy(saved)
    train(optimizer, net, 1)
    np.testing.assert_array_equal(saved["state"]["W"]["v"], before["state"]["W"]["v"])
    optimizer.load_state_dict(saved)
    train(optimizer, net, 1)
    np.testing.assert_array_equal(saved["state"]["W"]["v"], before["state"]["W"]["v"])


def test_state_of_parameters_that_are_not_saved_starts_anew():
    a, b = Net(), Net()
    saved = MomentumSGD().setup(a).state_dict()
    optimizer = MomentumSGD().setup(b)
    train(optimizer, b, 1)
    optimizer.load_state_dict(saved)
    assert optimizer.state_dict()["state"] == {}


def test_lists_and_groups_have_numbers_for_names():
    net = Net()
    assert list(SGD().setup(list(net.params())).named_params()) == ["0", "1"]
    assert list(SGD().setup(net).named_params()) == ["W", "blocks/0"]
    groups = [{"params": net.blocks}, {"params": [net.W], "lr": 2.0}]
    assert list(SGD().setup(groups).named_params()) == ["0/0", "1/0"]
    assert list(SGD().setup([{"params": net}]).named_params()) == ["0/W", "0/blocks/0"]


def test_groups_keep_their_numbers():
    net = Net()
    optimizer = SGD().setup([{"params": [net.W], "lr": 2.0}, {"params": net.blocks}])
    saved = optimizer.state_dict()
    assert saved["groups"] == [{"lr": 2.0}, {}]
    optimizer.groups[0]["lr"] = 3.0
    optimizer.load_state_dict(saved)
    assert optimizer.groups[0]["lr"] == 2.0


def test_a_switch_of_one_group_shows_in_its_state():
    net = Net()
    groups = [{"params": [net.W], "amsgrad": True}, {"params": net.blocks}]
    optimizer = Adam().setup(groups)
    train(optimizer, net, 3)
    saved = optimizer.state_dict()
    assert "largest" in saved["state"]["0/0"]
    assert "largest" not in saved["state"]["1/0"]
    optimizer.setup(groups).load_state_dict(saved)
    train(optimizer, net, 1)


def test_hooks_with_a_state_go_on_too():
    net = Net()
    optimizer = SGD().setup(net).add_hook(ClipGrad(1)).add_hook(GradientNoise())
    train(optimizer, net, 3)
    saved = optimizer.state_dict()
    assert saved["hooks"] == {"1": {"t": 3}}
    noise = GradientNoise()
    SGD().setup(net).add_hook(print).add_hook(noise).load_state_dict(saved)
    assert noise.t == 3


def test_lazy_parameters_get_their_state_before_their_data():
    net = Net()
    optimizer = MomentumSGD().setup(net)
    train(optimizer, net, 1)
    lazy = Net()
    lazy.W.data = None
    other = MomentumSGD().setup(lazy)
    other.load_state_dict(optimizer.state_dict())
    lazy.W.data = np.ones((2, 3), np.float32)
    for p, q in zip(net.params(), lazy.params(), strict=True):
        q.data = p.data.copy()
    for x, y in (optimizer, net), (other, lazy):
        train(x, y, 1)
    same_weights(net, lazy)


def test_everything_that_does_not_fit_is_listed_and_nothing_is_changed():
    net = Net()
    optimizer = Adam(0.5).setup(net)
    train(optimizer, net, 1)
    before = optimizer.state_dict()

    def refuse(message, change):
        saved = copy.deepcopy(before)
        saved["hyperparameters"]["lr"] = 0.75
        change(saved)
        with pytest.raises(ValueError, match=r"^Adam.load_state_dict: .*" + message):
            optimizer.load_state_dict(saved)
        after = optimizer.state_dict()
        np.testing.assert_equal(after, before)

    def other_rule(saved):
        saved["type"] = "Lion"
        saved["params"] = ["W", "c"]
        del saved["hyperparameters"]["beta1"]
        saved["hyperparameters"]["momentum"] = 0.9
        saved["hooks"]["0"] = {"t": 1}
        saved["groups"] = [{"lr": 1.0}]
        saved["state"]["d"] = {}

    refuse(
        "got another; its rule is Lion; hyperparameters missing: beta1; "
        "hyperparameters unexpected: momentum; parameters missing: blocks/0; "
        "parameters unexpected: c; hooks with a state unexpected: 0; "
        "state of unknown parameters: blocks/0, d; "
        r"groups with numbers of their own: \[\['lr'\]\], not \[\[\]\]$",
        other_rule,
    )

    def other_numbers(saved):
        saved["hyperparameters"]["eps"] = "small"
        saved["hyperparameters"]["beta2"] = None

    refuse("; hyperparameters that are no numbers: beta2, eps$", other_numbers)

    def other_shapes(saved):
        saved["state"]["W"]["v"] = np.ones(5)
        del saved["state"]["blocks/0"]["m"]

    refuse(
        r"W: v expected \(2, 3\), got \(5,\); blocks/0: without m$",
        other_shapes,
    )


@pytest.mark.parametrize("saved", [None, {}, {"type": "SGD"}])
def test_what_is_no_state(saved):
    optimizer = SGD().setup(Net())
    with pytest.raises(
        TypeError, match=r"SGD.load_state_dict: .* that state_dict gave"
    ):
        optimizer.load_state_dict(saved)


def test_setup_comes_before_the_state():
    for call in SGD().state_dict, lambda: SGD().load_state_dict({}):
        with pytest.raises(RuntimeError, match=r"SGD: expected setup\(model\) to come"):
            call()


def test_two_parameters_of_one_name():
    net = Net()
    net.blocks = {1: net.blocks[0], "1": Parameter(np.ones(2))}
    optimizer = SGD().setup(net)
    train(optimizer, net, 1)
    with pytest.raises(ValueError, match="SGD: .* got two named 'blocks/1'"):
        optimizer.state_dict()
