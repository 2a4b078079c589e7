"""Does it learn? The runs that anyone would try first on a framework made by hand."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import Model, Parameter, Variable, optimizers
from dezero.datasets import Spiral
from dezero.layers import Linear
from dezero.models import MLP
from dezero.testing import numerical_gradient


@pytest.fixture(autouse=True)
def fixed_seed():
    state = np.random.get_state()
    np.random.seed(0)
    yield
    np.random.set_state(state)


def train(model, optimizer, x, t, loss, steps):
    """The losses of ``steps`` steps on all of x and t."""
    optimizer.setup(model)
    losses = []
    for _ in range(steps):
        y = loss(model(x), t)
        model.cleargrads()
        y.backward()
        optimizer.update()
        losses.append(float(y))
    return losses


# ---- (a) one batch is learned by heart ----------------------------------------------


def test_one_batch_is_overfitted_and_every_parameter_moves():
    x = np.random.randn(32, 20).astype(np.float32)
    t = np.random.randint(0, 2, 32)
    model = MLP((64, 2), activation=F.relu)
    model(x)  # makes the weights
    before = {name: p.data.copy() for name, p in model.named_params()}
    optimizer = optimizers.Adam(1e-2)
    losses = train(model, optimizer, x, t, F.softmax_cross_entropy, 200)
    assert min(losses) < 1e-3
    assert losses[-1] < 1e-3
    assert float(F.accuracy(model(x), t)) == 1.0
    assert list(before) == ["l0/W", "l0/b", "l1/W", "l1/b"]
    for name, p in model.named_params():
        assert p.dtype == np.float32
        assert np.isfinite(p.data).all()
        assert not np.array_equal(p.data, before[name]), name


# ---- (b) regression -----------------------------------------------------------------


def test_linear_regression():
    x = np.random.rand(100, 1)
    t = 5 + 2 * x + 0.1 * np.random.rand(100, 1)
    model = Linear(1, dtype=np.float64)
    train(model, optimizers.SGD(0.3), x, t, F.mean_squared_error, 300)
    slope, intercept = np.polyfit(x[:, 0], t[:, 0], 1)
    np.testing.assert_allclose(model.W.data, [[slope]], rtol=1e-3)
    np.testing.assert_allclose(model.b.data, [intercept], rtol=1e-3)


def test_sin_with_a_small_network():
    x = np.linspace(-1, 1, 100, dtype=np.float32)[:, None]
    t = np.sin(np.pi * x)
    model = MLP((16, 1), activation=F.tanh)
    losses = train(model, optimizers.Adam(0.02), x, t, F.mean_squared_error, 1500)
    assert losses[-1] < 1e-3
    assert np.abs(model(x).data - t).max() < 0.1


# ---- (c) three spirals --------------------------------------------------------------


def test_two_layers_on_spirals():
    spiral = Spiral(train=True)
    assert len(spiral) == 300
    x, t = (np.array(column) for column in zip(*spiral, strict=True))
    assert set(t) == {0, 1, 2}
    model = MLP((32, 3), activation=F.relu)
    optimizer = optimizers.Adam(0.02).setup(model)
    for _ in range(150):
        order = np.random.permutation(len(x))
        for batch in np.split(order, 10):
            loss = F.softmax_cross_entropy(model(x[batch]), t[batch])
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
    with dz.no_grad():
        assert float(F.accuracy(model(x), t)) > 0.95


# ---- (d) one parameter in several places --------------------------------------------


@pytest.mark.parametrize("uses", [1, 2])
def test_a_shared_parameter_gets_the_sum_of_its_gradients(uses):
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.layers = [Linear(4, in_size=4, dtype=np.float64) for _ in range(2)]
            if uses == 2:
                self.layers[1].W = self.layers[0].W

        def forward(self, x):
            return self.layers[1](F.tanh(self.layers[0](x)))

    net, x = Net(), np.random.randn(3, 4)
    W = net.layers[0].W
    assert len(list(net.params())) == (4 if uses == 1 else 3)

    def loss(w):
        W.data = w.data
        return F.sum(F.sin(net(x)))

    start = W.data.copy()
    want = numerical_gradient(loss, start)
    loss(Variable(start)).backward()
    np.testing.assert_allclose(W.grad.data, want, rtol=1e-7, atol=1e-9)
    if uses == 2:  # each place contributes: what one of them alone gets differs
        first = Parameter(start.copy())
        y = F.tanh(F.linear(x, first, net.layers[0].b))
        F.sum(F.sin(F.linear(y, start, net.layers[1].b))).backward()
        assert not np.allclose(first.grad.data, want)


# ---- (e) broadcasting ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape0", "shape1"), [((5, 3), (3,)), ((4, 1), (4, 3)), ((3,), (5, 3))]
)
def test_gradients_of_broadcast_sums(shape0, shape1):
    x0, x1 = Variable(np.random.randn(*shape0)), Variable(np.random.randn(*shape1))
    weights = np.random.randn(*np.broadcast_shapes(shape0, shape1))

    def loss(x0, x1):
        return F.sum(F.sin(x0 + x1) * weights)

    loss(x0, x1).backward()
    for i, x in enumerate((x0, x1)):
        want = numerical_gradient(loss, x0, x1, index=i)
        assert x.grad.shape == x.shape
        np.testing.assert_allclose(x.grad.data, want, rtol=1e-7, atol=1e-9)


def test_the_gradient_of_a_bias_is_the_sum_over_the_batch():
    x, b = Variable(np.ones((5, 3))), Variable(np.zeros(3))
    gy = np.arange(15.0).reshape(5, 3)
    (x + b).backward(grad=gy)
    np.testing.assert_array_equal(x.grad.data, gy)
    np.testing.assert_array_equal(b.grad.data, gy.sum(axis=0))


# ---- (f) a loop written by hand -----------------------------------------------------


@pytest.mark.parametrize(
    ("w", "b"),
    [
        (np.zeros((1, 1)), np.zeros(1)),
        (np.zeros((1, 1), np.float32), np.zeros(1, np.float32)),
        (np.zeros((1, 1)), np.array(0.0)),
        (np.array([[0.0]]), np.array([0.0], np.float32)),
    ],
)
def test_a_loop_by_hand(w, b):
    x = Variable(np.random.rand(50, 1))
    t = 3 * x.data + 1
    w, b = Variable(w), Variable(b)
    types = w.dtype, b.dtype
    for _ in range(400):
        y = F.matmul(x, w) + b
        loss = F.mean_squared_error(y, t)
        w.cleargrad()
        b.cleargrad()
        loss.backward()
        w.data -= 0.5 * w.grad
        b.data -= 0.5 * b.grad
    assert (w.dtype, b.dtype) == types
    np.testing.assert_allclose(w.data, [[3.0]], atol=1e-3)
    np.testing.assert_allclose(b.data, np.ones(b.shape), atol=1e-3)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_a_loop_by_hand_on_one_variable(dtype, shape):
    x = Variable(np.full(shape, 4, dtype))
    for _ in range(60):
        y = (x - 1) ** 2 / 2
        x.cleargrad()
        y.backward()
        if (
            dtype == np.int64
        ):  # NumPy does not put floats into integers; this starts anew
            x.data = x.data - 0.5 * x.grad.data
        else:
            x.data -= 0.5 * x.grad
    np.testing.assert_allclose(x.data, np.ones(shape), atol=1e-6)


def test_rosenbrock_by_hand_from_0d_arrays():
    x0, x1 = Variable(np.array(0.0)), Variable(np.array(2.0))
    start = None
    for _ in range(1000):
        y = 100 * (x1 - x0**2) ** 2 + (x0 - 1) ** 2
        start = float(y) if start is None else start
        x0.cleargrad()
        x1.cleargrad()
        y.backward()
        x0.data -= 0.001 * x0.grad.data
        x1.data -= 0.001 * x1.grad.data
    assert isinstance(x0.data, np.ndarray)
    assert float(y) < 0.2 < start
    np.testing.assert_allclose([float(x0), float(x1)], [0.68, 0.47], atol=0.02)
