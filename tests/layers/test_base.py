"""Layer: finding parameters, calling, copies, repr."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import dezero.layers as L
from dezero.core import Parameter, Variable
from dezero.layers import Layer


def parameter(*shape, dtype=np.float32):
    return Parameter(np.random.randn(*shape).astype(dtype))


class Scale(Layer):
    def __init__(self, size=3):
        super().__init__()
        self.s = parameter(size)

    def forward(self, x):
        return x * self.s


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.last = Scale(2)
        self.blocks = [Scale(), (Scale(), {"left": Scale(), 7: parameter(1)})]
        self.bias = parameter(4)


def names(layer):
    return [name for name, _ in layer.named_params()]


# ---- finding ------------------------------------------------------------------------


def test_parameters_in_the_order_of_their_attributes():
    net = Net()
    assert names(net) == [
        "last/s",
        "blocks/0/s",
        "blocks/1/0/s",
        "blocks/1/1/left/s",
        "blocks/1/1/7",
        "bias",
    ]
    assert [p for _, p in net.named_params()] == list(net.params())


def test_layers_come_with_their_names():
    net = Net()
    found = dict(net.named_layers())
    assert list(found) == [
        "",
        "last",
        "blocks/0",
        "blocks/1/0",
        "blocks/1/1/left",
    ]
    assert found[""] is net
    assert list(net.layers()) == list(found.values())


def test_without_super_init():
    class Forgetful(Layer):
        def __init__(self):
            self.W = parameter(2)

        def forward(self, x):
            return x * self.W

    layer = Forgetful()
    assert list(layer.params()) == [layer.W]
    layer(np.ones(2, np.float32))


def test_what_is_appended_or_replaced_later_is_found():
    net = Layer()
    net.blocks = []
    assert names(net) == []
    net.blocks.append(Scale())
    net.blocks.append(None)
    net.blocks.append(parameter(1))
    assert names(net) == ["blocks/0/s", "blocks/2"]
    net.blocks = None
    assert names(net) == []


def test_shared_things_count_once_under_their_first_name():
    net = Layer()
    net.a, net.b = Scale(), Scale()
    net.b.s = net.a.s
    net.c = [net.a, net.a.s]
    assert names(net) == ["a/s"]
    assert [name for name, _ in net.named_layers()] == ["", "a", "b"]


def test_cycles():
    net = Layer()
    net.child = Scale()
    net.child.parent = net
    net.loop = [net]
    net.loop.append(net.loop)
    assert names(net) == ["child/s"]
    assert len(list(net.layers())) == 2


def test_passed_over():
    net = Layer()
    net._hidden, net.inputs, net.outputs = parameter(1), [parameter(1)], [Scale()]
    net.plain, net.number = Variable(np.ones(1)), 3
    net.seen = {"_key": parameter(1)}  # the rule is about attributes
    assert names(net) == ["seen/_key"]


def test_deep_nesting_needs_no_recursion():
    net = top = Layer()
    for _ in range(5000):
        net.child = Layer()
        net = net.child
    net.W = parameter(1)
    assert list(top.params()) == [net.W]


def test_cleargrads():
    net = Net()
    for p in net.params():
        p.grad = np.ones_like(p.data)
    net.cleargrads()
    assert [p.grad for p in net.params()] == [None] * 6


def test_to_cpu_leaves_numpy_arrays_and_lazy_parameters():
    net = Net()
    net.lazy = Parameter(None)
    data = [p.data for p in net.params()]
    net.to_cpu()
    assert all(p.data is x for p, x in zip(net.params(), data, strict=True))


def test_to_gpu_moves_every_parameter(monkeypatch):
    net = Net()
    net.lazy = Parameter(None)
    moved = []
    monkeypatch.setattr(Parameter, "to_gpu", lambda p: moved.append(p))
    net.to_gpu()
    assert moved == list(net.params())


# ---- calling ------------------------------------------------------------------------


class Both(Layer):
    def forward(self, x, y=None, scale=1.0):
        return x * scale, y


def test_a_call_remembers_weakly():
    layer, x, raw = Both(), Variable(np.ones(2)), np.ones(3)
    y, z = layer(x, raw, scale=2.0)
    assert [ref() for ref in layer.inputs] == [x, raw]
    assert layer.outputs[0]() is y
    assert layer.outputs[1]() is z is raw
    del y
    assert layer.outputs[0]() is None


def test_none_numbers_and_lists_have_no_weak_references():
    layer = Both()
    layer(Variable(np.ones(1)), None)
    assert layer.inputs[1]() is None
    layer(2.0, [1])
    assert [ref() for ref in layer.inputs] == [None, None]


def test_before_the_first_call():
    assert list(Scale().inputs) == list(Scale().outputs) == []


def test_no_array_is_kept_alive():
    layer = Scale()
    x = Variable(np.ones(3, np.float32))
    layer(x)
    ref = weakref.ref(x)
    gc.disable()
    try:
        del x
        assert ref() is None
    finally:
        gc.enable()


def test_a_failing_call_leaves_the_last_one():
    layer, x = Scale(), Variable(np.ones(3, np.float32))
    layer(x)
    with pytest.raises(ValueError):
        layer(np.ones(7, np.float32))
    assert layer.inputs[0]() is x


def test_call_may_be_overridden():
    class Own(Layer):
        def __call__(self, x):
            return x + 1

    assert Own()(1) == 2


def test_a_layer_without_forward():
    with pytest.raises(TypeError, match="Layer: expected a method forward, found none"):
        Layer()(1)


# ---- copies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_after_use(copied):
    layer, x = L.Linear(2), np.ones((1, 3), np.float32)
    want = layer(x).data
    again = copied(layer)
    assert list(again.inputs) == []
    assert again.W is not layer.W
    again_y = again(x)
    np.testing.assert_array_equal(again_y.data, want)
    again.W.data[...] = 0
    np.testing.assert_array_equal(layer(x).data, want)


def test_copies_keep_what_is_shared():
    net = Layer()
    net.a, net.b = Scale(), Scale()
    net.b.s = net.a.s
    again = copy.deepcopy(net)
    assert again.a.s is again.b.s
    assert again.a.s is not net.a.s


def test_a_shallow_copy_shares_parameters_but_no_call():
    layer = Scale()
    layer(np.ones(3, np.float32))
    again = copy.copy(layer)
    assert again.s is layer.s
    assert list(again.inputs) == []


# ---- repr ---------------------------------------------------------------------------


def test_repr():
    net = Layer()
    net.bias, net.later = Parameter(np.zeros((2, 3))), Parameter(None)
    net.blocks = [L.Linear(4, in_size=3), Scale()]
    assert repr(net) == (
        "Layer(\n"
        "  bias: Parameter((2, 3), float64)\n"
        "  later: Parameter(shape not known yet)\n"
        "  blocks/0: Linear(4, in_size=3)\n"
        "  blocks/1: Scale(\n"
        "    s: Parameter((3,), float32)\n"
        "  )\n"
        ")"
    )
    assert repr(Layer()) == "Layer()"


def test_repr_of_a_cycle():
    net = Layer()
    net.child = Layer()
    net.child.parent = net
    assert repr(net) == "Layer(\n  child: Layer(\n    parent: ...\n  )\n)"
