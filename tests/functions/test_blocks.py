import numpy as np
import pytest

from dezero.functions.blocks import BLOCK, in_blocks


def shifted(x, y):
    return (x * 2 + y).astype(np.float32)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_blocks_make_the_whole(size):
    x, y = np.arange(size, dtype=np.float32), np.ones(size, np.float32)
    calls = []

    def f(*parts):
        calls.append(parts[0].size)
        return shifted(*parts)

    np.testing.assert_array_equal(in_blocks(f, x, y), shifted(x, y))
    assert sum(calls) == size
    assert max(calls) <= BLOCK


def test_shape_and_dtype_are_those_of_the_result():
    x = np.linspace(0, 1, 4 * BLOCK, dtype=np.float16).reshape(4, 2, -1)
    y = in_blocks(shifted, x, x)
    assert y.shape == x.shape
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, shifted(x, x))


@pytest.mark.parametrize("order", [lambda x: x.T, lambda x: x[:, ::2]])
def test_what_lies_in_another_order_is_taken_whole(order):
    x = order(np.arange(4 * BLOCK, dtype=np.float32).reshape(4, -1))
    y = np.ones(x.shape, np.float32)
    calls = []

    def f(*parts):
        calls.append(parts[0].shape)
        return shifted(*parts)

    np.testing.assert_array_equal(in_blocks(f, x, y), shifted(x, y))
    assert calls == [x.shape]
