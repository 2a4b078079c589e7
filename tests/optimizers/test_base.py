"""What all optimizers share: targets, hooks, state, blocks, and what they refuse."""

import copy
import pickle

import numpy as np
import pytest

from dezero import cuda
from dezero.core import Parameter, Variable
from dezero.layers import Layer
from dezero.optimizers import (
    SGD,
    AdaDelta,
    AdaGrad,
    Adam,
    AdamW,
    Lion,
    MomentumSGD,
    Optimizer,
    RMSprop,
    WeightDecay,
)
from dezero.optimizers.blocks import BLOCK


class Pair(Layer):
    def __init__(self, a, b):
        self.a = parameter(a)
        self.b = parameter(b)


def parameter(values, grad=None, dtype=np.float64):
    p = Parameter(np.array(values, dtype=dtype))
    if grad is not None:
        p.grad = np.array(grad, dtype=dtype)
    return p


RULES = [SGD, MomentumSGD, Lion, AdaGrad, AdaDelta, RMSprop, Adam, AdamW]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


# ---- targets ------------------------------------------------------------------------


def test_setup_takes_a_layer_or_an_iterable_and_returns_the_optimizer():
    net = Pair([1.0], [2.0])
    for target in net, [net.a, net.b], (net.a, net.b), net.params():
        optimizer = SGD()
        assert optimizer.setup(target) is optimizer
        assert optimizer.params() == [net.a, net.b]
    assert SGD().setup(net).target is net


def test_setup_takes_plain_variables():
    x = Variable(np.array([1.0]))
    x.grad = np.array([2.0])
    SGD(lr=0.5).setup([x]).update()
    assert x.data == [0.0]


def test_a_parameter_that_is_listed_twice_is_updated_once():
    p = parameter([1.0], [1.0])
    SGD(lr=0.25).setup([p, p]).update()
    assert p.data == [0.75]


def test_layers_added_after_setup_are_trained():
    net = Layer()
    net.blocks = [Pair([1.0], [1.0])]
    optimizer = SGD(lr=1.0).setup(net)
    net.blocks.append(Pair([1.0], [1.0]))
    for p in net.params():
        p.grad = np.array([1.0])
    optimizer.update()
    assert [p.data for p in net.params()] == [0.0] * 4


class NoParams:
    def params(self):
        return iter(())


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ([], ValueError, "SGD.setup: expected parameters, got list without any"),
        (Layer(), ValueError, "expected parameters, got Layer without any"),
        (NoParams(), ValueError, "expected parameters, got NoParams without any"),
        (parameter([1.0]), TypeError, r"got a single Parameter; write setup\(\[p\]\)"),
        (3, TypeError, "expected a Layer or an iterable of Parameters, got int"),
        ([Layer()], TypeError, "iterable of Parameters, got Layer among them"),
        ({"W": 1}, TypeError, "iterable of Parameters, got str among them"),
    ],
)
def test_what_setup_refuses(target, error, message):
    with pytest.raises(error, match=message):
        SGD().setup(target)


def test_a_refused_setup_changes_nothing():
    p = parameter([1.0])
    optimizer = SGD().setup([p])
    with pytest.raises(ValueError):
        optimizer.setup([])
    assert optimizer.params() == [p]


@pytest.mark.parametrize("method", ["update", "cleargrads", "zero_grad", "params"])
def test_setup_must_come_first(method):
    with pytest.raises(RuntimeError, match=r"SGD: expected setup\(model\) to come"):
        getattr(SGD(), method)()


# ---- update -------------------------------------------------------------------------


@every_rule
def test_a_parameter_without_gradient_stays(rule):
    net = Pair([1.0], [1.0])
    net.a.grad = np.array([1.0])
    rule().setup(net).update()
    assert net.a.data != [1.0]
    assert net.b.data == [1.0]


@every_rule
def test_lazy_parameters_wait(rule):
    p = Parameter(None)
    optimizer = rule().setup([p])
    optimizer.update()
    assert p.data is None
    p.data = np.array([1.0])
    p.grad = np.array([1.0])
    optimizer.update()
    assert p.data < 1.0


@every_rule
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_updates_keep_dtype_and_array(rule, dtype):
    p = parameter([1.0, 2.0], [0.5, -0.5], dtype)
    data, grad = p.data, p.grad
    rule(lr=np.float64(0.1)).setup([p]).update()
    assert p.data is data
    assert p.dtype == dtype
    assert p.grad is grad
    np.testing.assert_array_equal(p.grad.data, np.array([0.5, -0.5], dtype))


@every_rule
def test_half_precision_follows_single_precision(rule):
    # In float16, eps = 1e-8 would be 0 and a squared gradient of 1e-4 as well.
    half, single = (parameter([1.0], [1e-4], t) for t in (np.float16, np.float32))
    for p in half, single:
        optimizer = rule(lr=0.01).setup([p])
        for _ in range(5):
            optimizer.update()
    np.testing.assert_allclose(half.data, single.data, rtol=2e-3)


@every_rule
@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
def test_blocks_change_nothing(rule, size, monkeypatch):
    rng = np.random.default_rng(0)
    a, b = (parameter(np.ones(size)) for _ in range(2))
    optimizers = rule().setup([a]), rule().setup([b])
    for _ in range(3):
        a.grad = rng.standard_normal(size)
        b.grad = a.grad.data.copy()
        optimizers[0].update()
        monkeypatch.setattr("dezero.optimizers.blocks.BLOCK", 4 * BLOCK)
        optimizers[1].update()
        monkeypatch.undo()
    np.testing.assert_array_equal(a.data, b.data)


def readonly(x):
    x = x.copy()
    x.setflags(write=False)
    return x


LAYOUTS = {
    "0-d": lambda x: np.array(x[0, 0]),
    "columns first": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "readonly": readonly,
    "broadcast": lambda x: np.broadcast_to(x[:1], (3, x.shape[1])),
}


@every_rule
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_memory_works(rule, layout):
    x = LAYOUTS[layout](np.arange(12.0).reshape(3, 4))
    before = x.copy()
    g = LAYOUTS[layout](np.linspace(1, 2, 12).reshape(3, 4))
    p, plain = Parameter(x), Parameter(np.array(x))
    for q in p, plain:
        optimizer = rule(lr=0.1).setup([q])
        for _ in range(2):
            q.grad = g if q is p else np.array(g)
            optimizer.update()
    np.testing.assert_array_equal(p.data, plain.data)
    if x.flags.writeable:
        assert p.data is x
    else:
        np.testing.assert_array_equal(x, before)


def test_a_scalar_in_place_of_a_0d_array():
    p = parameter(1.0)
    p.data = p.data - 0.5  # NumPy makes this a scalar
    p.grad = Variable(np.array(1.0))
    SGD(lr=0.25).setup([p]).update()
    assert isinstance(p.data, np.ndarray)
    assert p.data == 0.25


def test_a_learning_rate_may_change_between_updates():
    p = parameter([0.0], [1.0])
    optimizer = SGD(lr=1.0).setup([p])
    optimizer.update()
    optimizer.lr = np.float32(0.5)
    optimizer.update()
    assert p.data == [-1.5]


def test_cleargrads_and_zero_grad():
    p = parameter([1.0], [1.0])
    optimizer = SGD().setup([p])
    optimizer.cleargrads()
    assert p.grad is None
    p.grad = np.array([1.0])
    optimizer.zero_grad()
    assert p.grad is None


def test_gradients_of_another_shape():
    net = Layer()
    net.blocks = [Pair([1.0], [2.0, 3.0])]
    for p in net.params():
        p.grad = np.ones(p.shape)
    net.blocks[0].b.data = np.ones(1)
    optimizer = SGD().setup(net)
    message = (
        r"SGD.update: expected the gradient of parameter 'blocks/0/b' to have its "
        r"shape \(1,\), got \(2,\)"
    )
    with pytest.raises(ValueError, match=message):
        optimizer.update()
    assert net.blocks[0].a.data == [1.0]  # none is updated if one cannot be
    named = Parameter(np.ones(2), name="W")
    named.grad = np.ones(2)
    named.data = np.ones(3)
    with pytest.raises(ValueError, match=r"gradient of parameter 1 \('W'\) to have"):
        SGD().setup([parameter([1.0]), named]).update()


def test_shapes_are_checked_before_and_after_hooks():
    p = parameter([1.0], [1.0])
    p.data = np.ones(3)
    optimizer = SGD().setup([p]).add_hook(WeightDecay(0.1))
    with pytest.raises(ValueError, match=r"have its shape \(3,\), got \(1,\)"):
        optimizer.update()
    p.data = np.ones(1)

    def spoil(params):
        params[0].grad.data = np.ones(2)

    optimizer.add_hook(spoil)
    with pytest.raises(ValueError, match=r"have its shape \(1,\), got \(2,\)"):
        optimizer.update()


def test_integer_parameters():
    p = Parameter(np.array([1, 2]))
    p.grad = np.array([1.0, 1.0])
    message = "SGD.update: expected parameter 0 to be floating, got dtype int64"
    with pytest.raises(TypeError, match=message):
        SGD().setup([p]).update()


def test_gradients_on_another_device(monkeypatch):
    p = parameter([1.0], [1.0])
    library = type("Library", (), {"__name__": "other"})
    monkeypatch.setattr(
        cuda, "get_array_module", lambda x: library if x is p.grad.data else np
    )
    with pytest.raises(TypeError, match=r"parameter 0 to be an array of numpy, as its"):
        SGD().setup([p]).update()


def test_a_rule_without_update_one():
    with pytest.raises(TypeError, match="Optimizer: expected a method update_one"):
        Optimizer().setup([parameter([1.0], [1.0])]).update()


def test_a_rule_of_ones_own():
    class SignSGD(Optimizer):
        def __init__(self, lr):
            super().__init__()
            self.lr = lr

        def update_one(self, param):
            param.data -= self.lr * np.sign(param.grad.data)

    p = parameter([1.0, 1.0], [5.0, -5.0])
    SignSGD(0.5).setup([p]).update()
    np.testing.assert_array_equal(p.data, [0.5, 1.5])


# ---- hooks --------------------------------------------------------------------------


def test_hooks_run_in_order_on_what_has_a_gradient():
    net = Pair([1.0], [1.0])
    net.a.grad = np.array([1.0])
    seen = []

    def double(params):
        seen.append(params)
        params[0].grad = params[0].grad.data * 2

    optimizer = SGD(lr=0.25).setup(net)
    assert optimizer.add_hook(double) is optimizer
    optimizer.add_hook(double)
    assert optimizer.hooks == [double, double]
    optimizer.update()
    assert seen == [[net.a], [net.a]]
    assert net.a.data == [0.0]


def test_a_hook_may_remove_gradients():
    net = Pair([1.0], [1.0])
    for p in net.params():
        p.grad = np.array([1.0])
    seen = []
    optimizer = SGD(lr=0.5).setup(net)
    optimizer.add_hook(lambda params: params[0].cleargrad())
    optimizer.add_hook(seen.append)
    optimizer.update()
    assert seen == [[net.b]]
    assert (net.a.data, net.b.data) == ([1.0], [0.5])


# ---- state --------------------------------------------------------------------------


def test_state_belongs_to_the_parameter_and_starts_with_its_first_gradient():
    a, b = parameter([0.0], [1.0]), parameter([0.0])
    optimizer = MomentumSGD(lr=1.0, momentum=0.5).setup([a, b])
    optimizer.update()
    b.grad = np.array([1.0])
    optimizer.update()
    assert (a.data, b.data) == ([-2.5], [-1.0])


def test_setup_forgets_the_state():
    p = parameter([0.0], [1.0])
    optimizer = MomentumSGD(lr=1.0, momentum=0.5).setup([p])
    optimizer.update()
    optimizer.setup([p]).update()
    assert p.data == [-2.0]


def test_a_parameter_that_changed_its_shape():
    p = parameter([0.0], [1.0])
    optimizer = Adam().setup([p])
    optimizer.update()
    p.data = np.zeros(2)
    p.grad = np.ones(2)
    message = (
        r"Adam.update: expected parameter 0 to keep its shape \(1,\), got \(2,\); "
        "call setup again"
    )
    with pytest.raises(ValueError, match=message):
        optimizer.update()
    optimizer.setup([p]).update()


@every_rule
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_goes_on_with_its_state(rule, copied):
    net = Pair([1.0], [2.0])
    for p in net.params():
        p.grad = np.array([3.0])
    optimizer = rule().setup(net)
    optimizer.update()
    again = copied(optimizer)
    for x in optimizer, again:
        x.update()
    assert again.target is not net
    assert [p.data for p in again.params()] == [p.data for p in net.params()]


def test_a_gradient_without_data():
    p = Parameter(None)
    p.grad = np.ones(3)
    optimizer = SGD().setup([p])
    with pytest.raises(ValueError, match=r"SGD.update: .* parameter 0 .* data.* None$"):
        optimizer.update()
    assert p.data is None


def test_a_hook_that_cannot_be_called():
    message = r"SGD.add_hook: expected a function .* got int$"
    with pytest.raises(TypeError, match=message):
        SGD().add_hook(3)


def test_a_class_is_no_target():
    with pytest.raises(TypeError, match=r"SGD.setup: .* got the class Pair$"):
        SGD().setup(Pair)


def test_step_is_update():
    p = parameter([1.0], [1.0])
    SGD(lr=0.25).setup([p]).step()
    assert p.data == [0.75]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_gradients_that_are_not_finite_are_refused_on_request(value):
    net = Pair([1.0, 1.0], [1.0])
    net.a.grad, net.b.grad = np.array([1.0, value]), np.array([1.0])
    optimizer = SGD().setup(net)
    optimizer.check_finite = True
    message = "SGD.update: expected finite gradients, got .* that of parameter 'a'$"
    with pytest.raises(ValueError, match=message):
        optimizer.update()
    assert net.b.data == [1.0]
    net.a.grad = np.array([1.0, 1.0])
    optimizer.update()
    assert net.b.data == [0.99]


def test_all_gradients_that_are_not_finite_are_named():
    params = [parameter([1.0], [np.nan]), Parameter(np.ones(1), name="W")]
    params[1].grad = np.array([np.inf])
    optimizer = SGD().setup(params)
    optimizer.check_finite = True
    with pytest.raises(ValueError, match=r"of parameter 0, parameter 1 \('W'\)$"):
        optimizer.update()


def test_hooks_may_mend_gradients_before_they_are_refused():
    p = parameter([1.0], [np.nan])
    optimizer = SGD().setup([p]).add_hook(lambda params: params[0].cleargrad())
    optimizer.check_finite = True
    optimizer.update()
    assert p.data == [1.0]


def test_gradients_that_are_not_finite_are_used_where_nobody_asked():
    p = parameter([1.0], [np.nan])
    SGD().setup([p]).update()
    assert np.isnan(p.data).all()
