"""Every case of the table gives on the device what it gives on the CPU."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable, cuda
from dezero.core import run_backward
from dezero.testing.passes import (
    assert_close,
    call_on_variables,
    carries_gradient,
    cast_options,
    data_of,
    leaf_gradients,
    map_arrays,
    seed_for,
)
from dezero.testing.properties import check_property
from dezero.testing.states import pinned_random_state

from ..functions import test_all_functions as table
from .transfers import transfers

# How a result differs from the CPU's does not depend on the numbers: few are enough.
few = settings(
    max_examples=2,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
once = settings(few, max_examples=1)
every_case = pytest.mark.parametrize("case", table.CASES, ids=table.CASE_IDS)


@every_case
@few
@given(data=st.data())
def test_devices_agree(case, data):
    xs, options = data.draw(case.examples())
    check_property("devices", case, xs, options)


def two_gradients(case, xs, options, move):
    """First and second derivatives by all inputs, as NumPy arrays."""
    variables, ys = call_on_variables(
        case, [move(x) for x in xs], map_arrays(options, move)
    )
    ys = [y for y in ys if carries_gradient(y)]
    seeds = [move(seed_for(np.empty(y.shape, y.dtype)).data) for y in ys]
    found = [dict.fromkeys(variables)]
    for order in (1, 2):
        if not ys:
            break
        table = run_backward(ys, [Variable(s) for s in seeds], None, order < case.order)
        found.append(table)
        ys = [g for g in table.values() if g.requires_grad]
        seeds = [move(np.ones(g.shape)) for g in ys]
        if order == case.order:
            break
    return [
        None if table.get(x) is None else table[x].data
        for table in found[1:]
        for x in variables
    ]


@pytest.mark.parametrize(
    "case",
    [case for case in table.CASES if case.differentiable and not case.random],
    ids=[
        case_id
        for case, case_id in zip(table.CASES, table.CASE_IDS, strict=True)
        if case.differentiable and not case.random
    ],
)
@once
@given(data=st.data())
def test_second_derivatives_agree(case, data):
    xs, options = data.draw(case.examples())
    here, there = (
        two_gradients(case, xs, options, move) for move in (np.copy, cuda.as_cupy)
    )
    for a, b in zip(here, there, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert cuda.device_of(b) == "cuda:0" and a.dtype == b.dtype
            assert_close(cuda.as_numpy(b), a, 1e-9, "derivative on the device")


# What must know a value to go on, or is asked for a number that is read anyway.
WAIT = {
    "get_item-2": "an index of booleans",
    "get_item-3": "an index of booleans",
    "scatter_add": "an index of booleans",
    "cholesky": "whether a matrix is positive definite",
    "confusion_matrix": "a measure",
    "precision": "a measure",
    "recall": "a measure",
    "f1_score": "a measure",
    "top_k_accuracy": "a measure",
    "perplexity": "a measure",
}


def run(case, xs, options):
    """Outputs and gradients as in a step of training, and what was moved."""
    with pinned_random_state(), transfers() as moved:
        variables, ys = call_on_variables(case, xs, options)
    results = [data_of(y) for y in ys]
    if case.differentiable:
        like = [np.empty(y.shape, y.dtype) for y in ys]
        xp = cuda.get_array_module(xs[0])
        seeds = [Variable(xp.asarray(seed_for(y).data)) for y in like]
        with pinned_random_state(), transfers() as back:
            results += leaf_gradients(variables, ys, seeds)
        moved.lines += back.lines
    return [x.dtype for x in results], moved.lines


@pytest.mark.parametrize(
    ("case", "case_id"),
    list(zip(table.CASES, table.CASE_IDS, strict=True)),
    ids=table.CASE_IDS,
)
@few
@given(data=st.data())
def test_nothing_goes_to_the_host_and_back(case, case_id, data):
    drawn, drawn_options = data.draw(case.examples())
    for dtype in case.dtypes:
        xs = [x.astype(dtype) for x in drawn]
        options = cast_options(drawn_options, dtype)
        expected, _ = run(case, xs, options)
        xs, options = [cuda.as_cupy(x) for x in xs], map_arrays(options, cuda.as_cupy)
        run(case, xs, options)  # constants are made once
        dtypes, lines = run(case, xs, options)
        assert dtypes == expected
        assert case_id in WAIT or not lines, lines


# =============================================================================
# What is not looked at on a device
# =============================================================================

X = np.linspace(-1, 1, 12).reshape(4, 3)


# A number that a CPU refuses, which no device is asked for.
WRONG = {
    "binary_cross_entropy": lambda move: F.binary_cross_entropy(
        move(np.array([0.5, 1.1])), move(np.array([1, 1]))
    ),
    "binary_cross_entropy below": lambda move: F.binary_cross_entropy(
        move(np.array([0.5, -0.1])), move(np.array([0, 0]))
    ),
    "focal": lambda move: F.focal(move(X), move(X)),
    "cosine_embedding_loss": lambda move: F.cosine_embedding_loss(
        move(X), move(X + 1), move(np.array([1, -1, 0, 1]))
    ),
    "embed_id": lambda move: F.embed_id(move(np.array([0, 4])), move(X)),
    "one_hot": lambda move: F.one_hot(move(np.array([0, -1])), 3),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_number_makes_nan_where_it_cannot_be_refused(call):
    with pytest.raises((ValueError, IndexError)):
        call(np.copy)
    with transfers() as moved:
        y = call(lambda x: cuda.as_cupy(x))
        assert moved.to_host == 0, moved
    assert np.isnan(cuda.as_numpy(y)).any()


def test_weights_that_add_up_to_nothing():
    x, weights = cuda.as_cupy(X), cuda.as_cupy(X * 0)
    assert np.isnan(cuda.as_numpy(F.average(x, weights=weights)))


def test_a_matrix_that_is_not_positive_definite():
    with pytest.raises(np.linalg.LinAlgError, match="cholesky: expected positive"):
        F.cholesky(cuda.as_cupy(np.diag([1.0, -1.0])))


@pytest.mark.parametrize(
    "call", [F.inv, lambda x: F.solve(x, cuda.as_cupy(np.ones(2)))]
)
def test_a_singular_matrix_gives_no_finite_numbers(call):
    assert not np.isfinite(cuda.as_numpy(call(cuda.as_cupy(np.zeros((2, 2)))))).any()
