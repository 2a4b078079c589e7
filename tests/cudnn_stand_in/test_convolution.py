"""Convolution by cuDNN gives what it gives without, and is not used where it cannot."""

import gc
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
import dezero.layers as L
import dezero.optimizers as O
from dezero import Variable, cuda
from dezero.functions import correlation
from dezero.functions.windows import window_on
from dezero.kernels import cudnn as products
from dezero.testing.passes import assert_close
from dezero.testing.properties import check_property

from ..cupy_stand_in import devices
from ..cupy_stand_in.test_functions import few, once, two_gradients
from ..cupy_stand_in.transfers import transfers
from ..functions import test_all_functions as table
from .front_end import behaviour

(FAMILY,) = [f for f in table.FAMILIES if f.__name__.endswith("convolution")]
CASES = [
    (case, case_id)
    for case, case_id in zip(table.CASES, table.CASE_IDS, strict=True)
    if case in FAMILY.CASES and not case_id.endswith("_simple")  # made of im2col
]
every_case = pytest.mark.parametrize(
    "case", [case for case, _ in CASES], ids=[case_id for _, case_id in CASES]
)
rng = np.random.default_rng(0)


def floats(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@every_case
@few
@given(data=st.data())
def test_devices_agree(case, data):
    xs, options = data.draw(case.examples())
    behaviour.runs.clear()
    check_property("devices", case, xs, options)
    assert behaviour.runs or not all(x.size for x in xs)


@pytest.mark.parametrize(
    "case",
    [case for case, _ in CASES if case.differentiable],
    ids=[case_id for case, case_id in CASES if case.differentiable],
)
@once
@given(data=st.data())
def test_second_derivatives_agree(case, data):
    xs, options = data.draw(case.examples())
    here, there = [
        two_gradients(case, xs, options, move) for move in (np.copy, cuda.as_cupy)
    ]
    for a, b in zip(here, there, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert_close(cuda.as_numpy(b), a, 1e-9, "derivative on the device")


# sizes, kernel, stride, pads, dilation, groups
WINDOWS = {
    "1": ([9], [3], [1], [(1, 1)], [1], 1),
    "1 all": ([11], [3], [2], [(1, 0)], [2], 2),
    "2": ([6, 7], [3, 3], [1, 1], [(1, 1), (1, 1)], [1, 1], 1),
    "2 all": ([9, 8], [3, 2], [2, 1], [(1, 2), (0, 1)], [1, 2], 2),
    "2 depthwise": ([5, 4], [3, 3], [1, 1], [(1, 1), (1, 1)], [1, 1], 4),
    "2 points": ([5, 4], [1, 1], [2, 2], [(0, 0), (0, 0)], [1, 1], 1),
    "3": ([4, 3, 5], [2, 3, 2], [1, 1, 2], [(0, 1), (1, 1), (0, 0)], [1, 1, 1], 2),
}


def example(name, dtype=np.float32):
    """x, W, y, the window and the groups, from x to y."""
    *given, groups = WINDOWS[name]
    window = window_on(*[tuple(g) for g in given], False)
    x = floats(2, 4, *window.sizes, dtype=dtype)
    W = floats(8, 4 // groups, *window.kernel, dtype=dtype)
    return x, W, floats(2, 8, *window.places, dtype=dtype), window, groups


def three(x, W, y, window, groups):
    return [
        correlation.correlate(x, W, window, groups),
        correlation.correlate_transposed(y, W, window, groups),
        correlation.correlate_kernel(x, y, window, groups),
    ]


def on_gpu(*arrays):
    return [cuda.as_cupy(x) for x in arrays]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", WINDOWS)
def test_the_three_products(cudnn, name, dtype):
    x, W, y, *how = example(name, dtype)
    there = three(*on_gpu(x, W, y), *how)
    assert [run for run, _ in cudnn.runs] == ["conv_fprop", "conv_dgrad", "conv_wgrad"]
    tolerance = {2: 4e-3, 4: 1e-5, 8: 1e-12}[x.itemsize]
    for here, a in zip(three(x, W, y, *how), there, strict=True):
        assert a.dtype == here.dtype and a.flags.c_contiguous
        np.testing.assert_allclose(a.get(), here, tolerance, tolerance)


def test_arrays_in_any_layout():
    x, W, y, *how = example("2")
    there = on_gpu(x, W, y)
    expected = three(*there, *how)
    turned = cuda.as_cupy(np.ascontiguousarray(x.transpose(3, 1, 2, 0)))
    wide = cuda.as_cupy(np.repeat(W, 2, axis=3))
    odd = cuda.as_cupy(np.concatenate([[0], y.ravel()]).astype(np.float32))
    found = three(
        turned.transpose(3, 1, 2, 0), wide[..., ::2], odd[1:].reshape(y.shape), *how
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.get(), b.get())


# ---- plans -----------------------------------------------------------------------


def infos():
    return [handle.plan.cache_info() for handle in products._of_thread.handles.values()]


def test_plans_are_kept(cudnn):
    x, W, y, *how = example("2")
    arrays = on_gpu(x, W, y)
    for _ in range(3):
        three(*arrays, *how)
    (info,) = infos()
    assert (info.misses, info.hits, info.maxsize) == (3, 6, products.PLANS)
    three(*on_gpu(*[a.astype(np.float64) for a in (x, W, y)]), *how)
    assert infos()[0].misses == 6
    assert len(cudnn.runs) == 12


def barred(dtype, monkeypatch):
    found = []
    monkeypatch.setattr(products, "_made_plan", note_barred(products._made_plan, found))
    x, W, _, *how = example("2", dtype)
    products.correlate(*on_gpu(x, W), *how)
    return found


def note_barred(make, found):
    def made(*args):
        plan = make(*args)
        found.extend(sorted(plan.graph.barred))
        return plan

    return made


@pytest.mark.parametrize(
    ("dtype", "notes"),
    [
        (np.float16, ["REDUCED_PRECISION_REDUCTION"]),
        (np.float32, ["DOWN_CONVERT_INPUTS", "TENSOR_CORE"]),
        (np.float64, ["DOWN_CONVERT_INPUTS"]),
    ],
)
def test_precision_is_kept(monkeypatch, dtype, notes):
    assert barred(dtype, monkeypatch) == notes


def test_the_current_stream(cudnn, monkeypatch):
    x, W, _, *how = example("2")
    arrays = on_gpu(x, W)
    for stream in (0, 7, 7, 9):
        monkeypatch.setattr(devices._stream, "ptr", stream)
        products.correlate(*arrays, *how)
    assert [stream for _, stream in cudnn.runs] == [0, 7, 7, 9]


def test_each_device_and_each_thread_has_a_handle(cudnn):
    x, W, y, *how = example("2")
    failures = []

    def work(device):
        try:
            with cuda.device(device):
                arrays = on_gpu(x, W, y)
                for _ in range(3):
                    for a, b in zip(
                        three(*arrays, *how), three(x, W, y, *how), strict=True
                    ):
                        np.testing.assert_allclose(a.get(), b, 1e-5, 1e-5)
        except BaseException as error:
            failures.append(error)

    work(0)
    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(1)
    assert not failures
    assert len(cudnn.runs) == 6 * 9
    used = [handle for handle in cudnn.handles if handle.open]
    gc.collect()
    assert len(products._of_thread.handles) == 2
    # Those of the threads went with them, and the one that only tried.
    assert len(used) == 2 and len(cudnn.handles) == 7


# ---- where it is not used --------------------------------------------------------


def assert_it_goes_on_without(cudnn):
    x, W, y, *how = example("2 all")
    for a, b in zip(three(*on_gpu(x, W, y), *how), three(x, W, y, *how), strict=True):
        np.testing.assert_allclose(a.get(), b, 1e-5, 1e-5)
    assert not cudnn.runs


def test_a_configuration_without_a_plan(cudnn):
    asked = []
    cudnn.refuses = lambda graph: asked.append(graph.name) or True
    for _ in range(2):
        assert_it_goes_on_without(cudnn)
    assert asked == ["conv_fprop", "conv_dgrad", "conv_wgrad"]  # once


def test_only_some_products(cudnn):
    cudnn.refuses = lambda graph: graph.name == "conv_dgrad"
    x, W, y, *how = example("2")
    three(*on_gpu(x, W, y), *how)
    assert [name for name, _ in cudnn.runs] == ["conv_fprop", "conv_wgrad"]


def test_an_error_where_a_plan_should_come(cudnn):
    cudnn.plan_error = RuntimeError("no libcudart\nmore of it")
    x, W, _, *how = example("2")
    with pytest.warns(
        RuntimeWarning,
        match=r"^convolution: cuDNN has no plan for conv_fprop .*cudart$",
    ):
        y = correlation.correlate(*on_gpu(x, W), *how)
    np.testing.assert_allclose(y.get(), correlation.correlate(x, W, *how), 1e-5, 1e-5)
    correlation.correlate(*on_gpu(x, W), *how)  # told once


def test_no_handle_for_a_thread(cudnn):
    x, W, _, *how = example("2")
    assert dz.cudnn.version() == "9.28.0"
    cudnn.handle_error = RuntimeError("out of memory")
    with pytest.warns(RuntimeWarning, match="no handle for GPU 0, .*: out of memory$"):
        correlation.correlate(*on_gpu(x, W), *how)
    correlation.correlate(*on_gpu(x, W), *how)
    assert not cudnn.runs


def test_an_error_while_it_computes(cudnn):
    cudnn.run_error = RuntimeError("CUDNN_STATUS_EXECUTION_FAILED")
    x, W, _, *how = example("2")
    with pytest.raises(
        RuntimeError,
        match=r"convolution: expected cuDNN 9\.28\.0 to compute conv_fprop of "
        r"\(2, 4, 6, 7\) and \(8, 4, 3, 3\), got: CUDNN_STATUS_EX.*cudnn.use\(False\)",
    ):
        correlation.correlate(*on_gpu(x, W), *how)


def test_what_a_graph_cannot_say(cudnn):
    x, W, y = on_gpu(
        floats(2, 3, 3, 3, 2, 3), floats(4, 3, 2, 2, 2, 2), floats(0, 3, 5)
    )
    window = window_on((3, 3, 2, 3), (2,) * 4, (1,) * 4, ((0, 0),) * 4, (1,) * 4, False)
    assert products.correlate(x, W, window) is None  # four axes
    window = window_on((5,), (3,), (1,), ((0, 0),), (1,), False)
    kernel = cuda.as_cupy(floats(4, 3, 3))
    assert products.correlate(y, kernel, window) is None  # empty
    wide = cuda.as_cupy(floats(2, 3, 5, dtype=np.float64))
    assert products.correlate(wide, kernel, window) is None  # two dtypes
    assert products.correlate(wide.astype(int), kernel.astype(int), window) is None
    cut = window_on((6,), (3,), (1,), ((-1, 0),), (1,), False)
    narrow = cuda.as_cupy(floats(2, 3, 6))
    assert products.correlate(narrow, kernel, cut) is None
    more = window_on(
        (6,), (3,), (2,), ((0, 0),), (1,), True
    )  # a place that reaches out
    assert products.correlate(narrow, kernel, more) is None
    assert products.correlate(floats(2, 3, 5), floats(4, 3, 3), window) is None  # CPU
    assert not cudnn.runs


def test_arrays_that_lie_elsewhere(cudnn):
    x, W, _, *how = example("2")
    a, b = on_gpu(x, W)
    assert products.correlate(a, W, *how) is None
    assert products.correlate(x, b, *how) is None
    with cuda.device(1):
        (c,) = on_gpu(W)
        assert products.correlate(a, c, *how) is None
        assert products.correlate(a, b, *how) is None
    assert products.correlate(a, c, *how) is None
    with pytest.raises(TypeError, match="Conv2d: expected all arguments on one device"):
        F.conv2d(a, W)
    assert not cudnn.runs


# ---- training --------------------------------------------------------------------


class Net(L.Layer):
    def __init__(self):
        super().__init__()
        self.first = L.Conv2d(4, 3, pad=1, in_channels=2)
        self.second = L.Conv2d(4, 3, stride=2, in_channels=4)
        self.out = L.Linear(3, in_size=36)

    def forward(self, x):
        return self.out(F.flatten(F.relu(self.second(F.relu(self.first(x))))))


def train(move):
    np.random.seed(0)
    net = Net()
    if move is not np.copy:
        net.to_gpu()
    optimizer = O.MomentumSGD(0.1).setup(net)
    data = np.random.default_rng(1)
    x = move(data.standard_normal((5, 2, 8, 8)).astype(np.float32))
    t = move(data.integers(3, size=5))

    def step():
        loss = F.softmax_cross_entropy(net(x), t)
        net.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()
        return loss.data

    return step


def test_training_moves_nothing(cudnn):
    here, there = train(np.copy), train(cuda.as_cupy)
    losses = [(here(), there()) for _ in range(2)]
    with transfers() as moved:
        losses += [(here(), there()) for _ in range(4)]
    assert not moved.lines
    # Two products forward, and all but the gradient of the data backward.
    assert len(cudnn.runs) == 6 * 5
    assert infos()[0].misses == 5
    for a, b in losses:
        np.testing.assert_allclose(b.get(), a, rtol=1e-5)


def test_gradients_of_gradients(cudnn):
    x, W, *_ = example("2")
    grads = []
    for move in (np.copy, cuda.as_cupy):
        a, b = Variable(move(x)), Variable(move(W))
        y = F.conv2d(a, b, pad=1)
        F.sum(y * y).backward(create_graph=True)
        norm = F.sum(a.grad * a.grad)
        b.cleargrad()
        norm.backward()
        grads.append(cuda.as_numpy(b.grad))
    np.testing.assert_allclose(grads[1], grads[0], 1e-3, 1e-3)
    assert len(cudnn.runs) > 3
