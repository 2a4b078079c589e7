"""transpose and its kin."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays


def options_of(**values):
    """Each keyword drawn from the list of its values."""
    return st.fixed_dictionaries({k: st.sampled_from(v) for k, v in values.items()})


def order_of_axes(x):
    def signed(order):
        return tuple([i - x.ndim if i % 2 else i for i in order])

    some = st.permutations(range(x.ndim)).map(signed)
    return st.fixed_dictionaries({"axes": st.one_of(st.none(), some)})


def two_axes(x):
    return options_of(axis1=range(-x.ndim, x.ndim), axis2=range(-x.ndim, x.ndim))


def source_and_destination(x):
    axes = st.permutations(range(x.ndim))
    pairs = st.tuples(axes, axes, st.integers(1, x.ndim)).map(
        lambda drawn: {
            "source": drawn[0][: drawn[2]],
            "destination": drawn[1][: drawn[2]],
        }
    )
    return st.one_of(pairs, options_of(source=[0, -1], destination=[-1, 0]))


def at_least(ndim, **sides):
    return arrays(min_dims=ndim, **sides)


CASES = [
    Case(F.transpose, arrays(), reference=np.transpose, options=order_of_axes),
    Case(F.swapaxes, at_least(1), reference=np.swapaxes, options=two_axes),
    Case(
        F.moveaxis, at_least(1), reference=np.moveaxis, options=source_and_destination
    ),
]

M = np.ones((2, 3))
ERRORS = [
    (
        lambda: F.transpose(M, (0,)),
        ValueError,
        r"transpose: .*2 axes.*\(0,\).*\(2, 3\)",
    ),
    (lambda: F.transpose(M, (0, 0)), ValueError, r"transpose: .*different.*\(0, 0\)"),
    (lambda: F.transpose(M, (0, 2)), ValueError, r"transpose: .*axis 2 .*\(2, 3\)"),
    (lambda: F.transpose(M, (0, 1.0)), TypeError, r"transpose: .*integer.*float"),
    (lambda: F.swapaxes(M, 0, 2), ValueError, r"swapaxes: .*\[-2, 2\).*axis 2 "),
    (lambda: F.swapaxes(np.ones(()), 0, 0), ValueError, r"swapaxes: .*no axis.*axis 0"),
    (lambda: F.moveaxis(M, 0, -3), ValueError, r"moveaxis: .*axis -3 "),
    (
        lambda: F.moveaxis(M, (0, 1), (0,)),
        ValueError,
        r"moveaxis: .*\(0, 1\) and \(0,\)",
    ),
]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.transpose(x, (0, 1)),
        lambda x: F.transpose(x, (0, -1)),
        lambda x: F.swapaxes(x, 1, -1),
        lambda x: F.moveaxis(x, 1, 1),
    ],
)
def test_no_change_returns_the_variable_itself(function):
    x = Variable(np.ones((2, 3)))
    assert function(x) is x


@pytest.mark.parametrize("function", [F.transpose])
def test_one_axis_stays_as_it_is(function):
    x = Variable(np.ones(3))
    assert function(x) is x
