import numpy as np
import pytest

from dezero.core import Variable
from dezero.functions.arguments import as_number


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers(value):
    number = as_number("f", "x", value, low=2, above=1)
    assert number == 2 and type(number) is float


@pytest.mark.parametrize("value", ["2", None, np.ones(1), Variable(np.ones(()))])
def test_what_is_no_number(value):
    with pytest.raises(TypeError, match=r"f: expected a number as x, got \w+"):
        as_number("f", "x", value)


def test_bounds():
    with pytest.raises(ValueError, match=r"f: expected x >= 0, got -1"):
        as_number("f", "x", -1, low=0)
    with pytest.raises(ValueError, match=r"f: expected x >= 0, got nan"):
        as_number("f", "x", np.nan, low=0)
    with pytest.raises(ValueError, match=r"f: expected x > 0, got 0"):
        as_number("f", "x", 0, above=0)
    with pytest.raises(ValueError, match=r"f: expected x within .* of 1319 bits$"):
        as_number("f", "x", 10**400 // 1234)
