"""One entry of the table: what it holds, draws and refuses."""

import inspect
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dezero.testing
from dezero import Function
from dezero.testing import Case, arrays, away_from_zero, broadcastable, check_case
from dezero.testing.properties import run_on_examples


def test_case_spreads_tuples_and_hands_them_to_options():
    case = Case(
        np.where,
        broadcastable(2),
        arrays(),
        options=lambda *xs: st.just({"n": len(xs)}),
    )

    @settings(max_examples=5, database=None)
    @given(case.examples())
    def run(example):
        xs, options = example
        assert len(xs) == 3
        assert options == {"n": 3}

    run()


def test_case_is_frozen_and_named():
    case = Case(np.sin, arrays())
    assert (case.name, repr(case)) == ("sin", "Case(sin)")
    assert Case(np.sin, arrays(), name="cos").name == "cos"
    with pytest.raises(AttributeError):
        case.order = 1


def test_case_errors():
    with pytest.raises(ValueError, match=r"Case: expected name=, .* for a lambda"):
        Case(lambda x: x, arrays())
    with pytest.raises(ValueError, match=r"Case sin: expected order 1, 2 or 3, got 4"):
        Case(np.sin, arrays(), order=4)
    with pytest.raises(
        ValueError, match=r"Case sin: expected a reason for tolerance 0.01"
    ):
        Case(np.sin, arrays(), tolerance=1e-2)
    assert Case(np.sin, arrays(), tolerance=1e-2, reason="rough").tolerance == 1e-2


def test_inputs_must_be_strategies():
    with pytest.raises(TypeError, match=r"Case sin: .* arrays\(\), got function"):
        Case(np.sin, arrays)
    with pytest.raises(TypeError, match=r"Case sin: .* arrays\(\), got ndarray"):
        Case(np.sin, np.ones(3))


class Softsign(Function):
    def forward(self, x):
        return x / (1 + abs(x))

    def backward(self, gy):
        (x,) = self.inputs
        return gy / (1 + abs(x)) ** 2


class ForgetsTheSecond(Softsign):
    def backward(self, gy):
        return gy / (1 + abs(self.inputs[0].data)) ** 2


def test_a_case_checks_a_function_of_ones_own():
    def reference(x):
        return x / (1 + np.abs(x))

    def case(function, **kwargs):
        return Case(
            lambda x: function()(x),
            away_from_zero(),
            reference=reference,
            name="softsign",
            **kwargs,
        )

    check_case(case(Softsign))
    check_case(case(ForgetsTheSecond, order=1))
    with pytest.raises(AssertionError, match="gradients of softsign") as caught:
        check_case(case(ForgetsTheSecond))
    assert "property 'gradients' does not hold" in str(caught.value.__notes__)


def test_only_strategies_and_cases_need_hypothesis():
    code = """
import sys
import dezero.testing
dezero.testing.check_gradients
assert "hypothesis" not in sys.modules
dezero.testing.Case
assert "hypothesis" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name():
    with pytest.raises(AttributeError, match=r"'dezero.testing' has no attribute 'x'"):
        getattr(dezero.testing, "x")  # noqa: B009 - reading it is the test


def test_every_name_is_there_and_documented():
    for name in dezero.testing.__all__:
        assert inspect.getdoc(getattr(dezero.testing, name)), name
    later = [name for names in dezero.testing._LATER.values() for name in names]
    here = {"GradientCheck", "GradientReport", "check_gradients", "numerical_gradient"}
    assert sorted(here | set(later)) == sorted(dezero.testing.__all__)


def test_the_example_of_the_package_runs(capsys):
    block = dezero.testing.__doc__.split("::\n\n", 1)[1]
    lines = [line for line in block.split("\n\n``pytest")[0].splitlines()]
    names = {}
    exec(textwrap.dedent("\n".join(lines)), names)
    assert capsys.readouterr().out.count("right") == 3
    assert callable(names["test_bump"])


@pytest.mark.parametrize(
    ("missing", "name"), [("hypothesis", "Case"), ("pytest", "cases_test")]
)
def test_a_missing_package_is_named(missing, name):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import dezero.testing
try:
    dezero.testing.{name}
except ModuleNotFoundError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert found.stdout.strip() == (
        f"dezero.testing.{name}: expected the package {missing}, found none; install "
        "dezero[test]"
    )


def test_one_failure_is_reported_and_no_example_is_timed():
    def slow(x):
        time.sleep(0.25)  # the limit of Hypothesis is 0.2 seconds
        return dezero.as_variable(x) * 1.0

    case = Case(slow, st.just(np.ones(1)), differentiable=False)
    run_on_examples(case, ["constants"])

    def fails_twice(x):
        raise (KeyError if x.ndim else ValueError)("no")

    with pytest.raises((KeyError, ValueError)):  # and no group of both
        run_on_examples(Case(fails_twice, arrays(max_dims=1)), ["constants"])
