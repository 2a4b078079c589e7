"""Convolution and pooling."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F


# Padding took part in max pooling, so that the maximum of negative numbers was zero.
def test_max_pooling_ignores_padding():
    x = dz.Variable(np.full((1, 1, 2, 2), -5.0))
    y = F.pooling(x, 3, stride=2, pad=1)
    np.testing.assert_array_equal(y.data, [[[[-5.0]]]])
    y.backward()
    assert x.grad.data.sum() == 1.0


# Average pooling with a window that is no square swapped its sides.
def test_average_pooling_of_a_flat_window():
    x = dz.Variable(np.arange(8.0).reshape(1, 1, 2, 4))
    y = F.average_pooling(x, (1, 2), stride=(1, 2))
    np.testing.assert_array_equal(y.data, [[[[0.5, 2.5], [4.5, 6.5]]]])
    F.sum(y * np.array([[1.0, 2.0], [3.0, 4.0]])).backward()
    np.testing.assert_array_equal(
        x.grad.data, [[[[0.5, 0.5, 1.0, 1.0], [1.5, 1.5, 2.0, 2.0]]]]
    )


# A filter larger than the padded image gave an empty result instead of an error.
def test_filter_larger_than_the_image():
    x, W = dz.Variable(np.ones((1, 1, 3, 3))), dz.Variable(np.ones((1, 1, 4, 4)))
    with pytest.raises(ValueError, match="to fit into the image"):
        F.conv2d(x, W)
