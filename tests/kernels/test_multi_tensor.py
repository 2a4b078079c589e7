"""Many calls of kernels in few launches do what each of them does by itself."""

import numpy as np
import pytest

from dezero import cuda
from dezero.kernels import optimizers as kernels
from dezero.kernels.multi_tensor import (
    MULTI_TENSOR_KERNELS,
    MultiTensorKernel,
    reduced,
    run,
)
from dezero.kernels.multi_tensor_memory import overlap
from dezero.kernels.multi_tensor_source import CHUNK, TENSORS, parameters_of

from .cases import CASES

RULES = [
    case
    for case in CASES
    if case.kernel in vars(kernels).values()
    and case.kernel.kind == "ElementwiseKernel"
    and case.kernel is not kernels.clipping_scale  # of no arrays
]
# Around the ends of blocks, without elements, and more of them than one launch takes.
SHAPES = [(), (3,), (0, 2), (CHUNK - 1,), (CHUNK,), (2, CHUNK), (3, CHUNK + 1)]
SHAPES += [(n % 3 + 1, n) for n in range(1, TENSORS)]
DTYPES = [np.float16, np.float32, np.float64]
TO_TWINS = {"e": 5e-3, "f": 1e-5, "d": 1e-12}
# Two compilations of a body may round products and sums together, or not.
TO_KERNELS = {"e": 1e-3, "f": 1e-6, "d": 1e-14}
MOST_BYTES = 4096  # of the arguments of a launch, on every card


@pytest.fixture
def launched(monkeypatch):
    """The kernels that took many arrays, in order."""
    found = []
    launch = MultiTensorKernel.launch

    def record(self, blocks, arguments):
        found.append(self)
        launch(self, blocks, arguments)

    monkeypatch.setattr(MultiTensorKernel, "launch", record)
    return found


def arguments_of(case, shape, dtype, rng):
    """Those of a case, with arrays of another shape."""
    values = case.arguments(dtype, rng)
    for p in parameters_of(case.kernel):
        x = values[p.name]
        if isinstance(x, np.ndarray) and not p.raw:
            x = np.asarray(rng.standard_normal(shape))
            if p.name in ("v", "u", "h", "largest"):  # mean squares
                x = abs(x) + 1
            if p.name == "a":  # a mean: its square is far below
                x = np.clip(x, -0.5, 0.5)
            values[p.name] = np.asarray(x, values[p.name].dtype)
    return list(values.values())


def there(arguments):
    return [cuda.as_cupy(x) if isinstance(x, np.ndarray) else x for x in arguments]


def same(expected, results, tolerances):
    for x, y in zip(expected, results, strict=True):
        if cuda.is_array(x):
            x, y = cuda.as_numpy(x), cuda.as_numpy(y)
            tolerance = tolerances[x.dtype.char]
            np.testing.assert_allclose(y, x, tolerance, tolerance)


def by_twins(case, calls):
    with np.errstate(all="ignore"):
        for arguments in calls:
            case.kernel.twin(*arguments)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", RULES, ids=repr)
def test_all_at_once(case, dtype, launched):
    rng = np.random.default_rng(0)
    raw = any(p.raw for p in parameters_of(case.kernel))
    calls = [arguments_of(case, shape, np.dtype(dtype), rng) for shape in SHAPES]
    if raw:  # the same one for all
        calls = [[x, calls[0][1], *rest] for x, _, *rest in calls]
    results = [there(arguments) for arguments in calls]
    if raw:
        results = [[x, results[0][1], *rest] for x, _, *rest in results]
    one_by_one = [there(arguments) for arguments in calls]
    by_twins(case, calls)
    run([(case.kernel, tuple(arguments)) for arguments in results])
    assert len(launched) == 2 and launched[0] is launched[1]
    for arguments in one_by_one:
        case.kernel(*arguments)
    for expected, alone, result in zip(calls, one_by_one, results, strict=True):
        same(expected, result, TO_TWINS)
        same(alone, result, TO_KERNELS)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_counts(dtype):
    x, y = (cuda.as_cupy(np.ones(n, dtype)) for n in (5000, 3))
    x[4000:4003] = np.nan
    y[1] = np.inf
    assert float(reduced(kernels.nonfinite, [x, y, x[:4000]]).sum()) == 4


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_squares(dtype, launched):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(s)).astype(dtype) for s in SHAPES]
    odd = [np.arange(5), np.ones((3, 4), np.float32).T, np.ones(6)[::2]]
    on_gpu = [cuda.as_cupy(x) for x in arrays] + [cuda.as_cupy(x) for x in odd[:1]]
    on_gpu += [cuda.as_cupy(odd[1].T.copy()).T, cuda.as_cupy(np.ones(6))[::2]]
    pieces = reduced(kernels.square_sum, on_gpu)
    blocks = [-(-x.size // CHUNK) for x in arrays]
    assert pieces.shape == (sum(blocks) + 3,)
    assert len(launched) == 2
    total = sum([float(np.square(x, dtype=np.float64).sum()) for x in arrays + odd])
    np.testing.assert_allclose(float(pieces.sum()), total, rtol=1e-12)
    assert float(reduced(kernels.square_sum, [on_gpu[2]]).sum()) == 0


# ---- what does not fit together --------------------------------------------------


def descents(*pairs, lr=0.5):
    return [(kernels.sgd, (g, lr, p)) for p, g in pairs]


def arrays(*shapes, dtype=np.float32, start=0):
    return [
        cuda.as_cupy(np.full(shape, i, dtype)) for i, shape in enumerate(shapes, start)
    ]


@pytest.mark.gpu
def test_dtypes_and_numbers_make_groups(launched):
    ps = [*arrays(3, 4), *arrays(3, 4, dtype=np.float64), *arrays(5, 6)]
    gs = [*arrays(3, 4, start=2) * 2, *arrays(5, 6, start=2)]
    calls = descents(*zip(ps[:4], gs[:4], strict=True))
    calls += descents(*zip(ps[4:], gs[4:], strict=True), lr=0.25)
    run(calls)
    assert len(launched) == 3
    values = [float(p[0]) for p in ps]
    assert values == [-1.0, -0.5, -1.0, -0.5, -0.5, 0.25]


@pytest.mark.gpu
@pytest.mark.parametrize(
    "change",
    [
        lambda x: cuda.as_cupy(cuda.as_numpy(x).T.copy()).T,
        lambda x: cuda.as_cupy(np.repeat(cuda.as_numpy(x), 2, axis=1))[:, ::2],
        lambda x: x.astype(np.int64),
    ],
    ids=["by columns", "with gaps", "integers"],
)
def test_gradients_of_another_kind_stay_alone(change, launched):
    ps, gs = arrays(*[(3, 4)] * 3), arrays(*[(3, 4)] * 3, start=1)
    gs[1] = change(gs[1])
    run(descents(*zip(ps, gs, strict=True)))
    assert len(launched) == 1
    assert [float(p.min()) for p in ps] == [-0.5, 0, 0.5]
    assert [float(p.max()) for p in ps] == [-0.5, 0, 0.5]


@pytest.mark.gpu
def test_states_of_different_dtypes_stay_alone(launched):
    g, p, m, v = arrays(*[3] * 4)
    numbers = 0.9, 0.1, 0.9, 0.1, 1e-3, 0.1, 0.0, False
    with pytest.raises(TypeError):
        run([(kernels.adam, (g, *numbers, p, m, v.astype(np.float64), m))])
    assert not launched


@pytest.mark.gpu
def test_what_shares_memory_is_done_in_order(launched):
    (x,) = arrays(8)
    (g,) = arrays(5, start=1)
    run(descents((x[:5], g), (x[3:], g)))
    assert not launched
    expected = [-0.5, -0.5, -0.5, -1, -1, -0.5, -0.5, -0.5]
    np.testing.assert_array_equal(cuda.as_numpy(x), expected)


@pytest.mark.gpu
def test_a_gradient_that_another_call_changes(launched):
    p, q, g = arrays(4, 4, 4, start=1)
    run(descents((p, g), (q, p)))  # q goes by the new p
    assert not launched
    assert (float(p[0]), float(q[0])) == (-0.5, 2.25)


@pytest.mark.gpu
def test_neighbours_and_shared_gradients_go_together(launched):
    (x,) = arrays(8)
    (g,) = arrays(4, start=1)
    run(descents((x[:4], g), (x[4:], g)))
    assert len(launched) == 1
    np.testing.assert_array_equal(cuda.as_numpy(x), np.full(8, -0.5, np.float32))


@pytest.mark.gpu
def test_memory_that_an_array_with_gaps_lies_in(launched):
    (x,) = arrays(8)
    (g,) = arrays(4, start=1)
    run(descents((x[::2], g), (x[4:], g), (x[::-2], g)))
    assert not launched
    expected = [-0.5, -0.5, -0.5, -0.5, -1, -1, -1, -1]
    np.testing.assert_array_equal(cuda.as_numpy(x), expected)


@pytest.mark.gpu
def test_memory_that_an_array_from_back_to_front_lies_in(launched):
    (x,) = arrays(8)
    (g,) = arrays(4, start=1)
    run(descents((x[:4], g), (x[::-2], g)))
    assert not launched
    expected = [-0.5, -1, -0.5, -1, 0, -0.5, 0, -0.5]
    np.testing.assert_array_equal(cuda.as_numpy(x), expected)


@pytest.mark.gpu
def test_a_parameter_that_is_its_gradient_and_anothers(launched):
    p, q, r, g = arrays(3, 3, 3, 3, start=1)
    calls = [*descents((q, g), lr=0.25), *descents((p, p)), *descents((r, p), lr=0.25)]
    run(calls)
    assert not launched
    assert [float(x[0]) for x in (p, q, r)] == [0.5, 1, 2.875]


@pytest.mark.gpu
def test_a_gradient_that_is_the_parameter(launched):
    p, q = arrays(3, 3, start=2)
    run(descents((p, p)))
    run(descents((p, p), (q, q)))
    assert (float(p[0]), float(q[0])) == (0.5, 1.5)


@pytest.mark.gpu
def test_nothing_to_do(launched):
    run([])
    run(descents(tuple(arrays((0, 3), (0, 3)))))
    assert not launched


# ---- the source ------------------------------------------------------------------


@pytest.mark.gpu
def test_arguments_fit_on_every_card(launched):
    rng = np.random.default_rng(0)
    for case in RULES:
        arguments = there(arguments_of(case, (3,), np.dtype(np.float64), rng))
        run([(case.kernel, tuple(arguments))])
    for kernel in launched:
        rest = len(parameters_of(kernel.kernel)) - len(kernel.written)
        assert kernel.struct.itemsize + 8 * rest <= MOST_BYTES
    assert len({kernel.parts["name"] for kernel in launched}) == 11


@pytest.mark.gpu
def test_the_body_is_that_of_the_kernel(launched):
    p, g = arrays(3, 3, dtype=np.float16)
    run(descents((p, g)))
    (kernel,) = launched
    assert kernels.sgd.parts["operation"] in kernel.parts["code"]
    assert repr(kernel) == "<MultiTensorKernel dezero_sgd_ee_many>"
    assert MULTI_TENSOR_KERNELS["dezero_sgd_ee_many"] is kernel
    assert "typedef float16 P;" in kernel.parts["code"]
    assert cuda.compiled(kernel) is cuda.compiled(kernel)


# ---- memory ----------------------------------------------------------------------

RANGES = [
    ([], False),
    ([(0, 4, True)], False),
    ([(0, 4, True), (4, 8, True)], False),
    ([(0, 5, True), (4, 8, True)], True),
    ([(0, 5, False), (4, 8, False)], False),
    ([(0, 5, False), (4, 8, True)], True),
    ([(4, 8, False), (0, 5, True)], True),
    ([(0, 9, True), (1, 2, False), (3, 4, False)], True),
    ([(0, 9, False), (1, 2, False), (3, 4, True)], True),
    ([(0, 9, False), (1, 2, False), (9, 12, True)], False),
]


@pytest.mark.parametrize(("ranges", "expected"), RANGES)
def test_overlap(ranges, expected):
    assert overlap([([a], [b], written) for a, b, written in ranges]) is expected
