"""The module under which DeZero scripts know convolution and pooling."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import functions_conv

ARRAYS = {"im2col_array", "col2im_array"}


@pytest.mark.parametrize("name", sorted(set(functions_conv.__all__) - ARRAYS))
def test_names_are_those_of_functions(name):
    assert getattr(functions_conv, name) is getattr(F, name)


def test_every_function_of_the_families_is_there():
    families = ["convolution", "deconvolution", "columns"]
    families += ["max_pooling", "averaging", "adaptive_pooling"]
    modules = {f"dezero.functions.{family}" for family in families}
    expected = {
        name
        for name in vars(F)
        if getattr(vars(F)[name], "__module__", None) in modules
    }
    assert set(functions_conv.__all__) == expected | ARRAYS
    assert len(set(functions_conv.__all__)) == len(functions_conv.__all__)


def test_arrays_in_and_out():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    col = functions_conv.im2col_array(x, 3, 1, 0)
    assert type(col) is np.ndarray and col.shape == (4, 9)
    img = functions_conv.col2im_array(col, x.shape, 3, 1, 0)
    assert type(img) is np.ndarray and img.shape == x.shape
    assert img[0, 0, 1, 1] == 4 * x[0, 0, 1, 1]
