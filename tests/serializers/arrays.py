"""Arrays to write, and what tells whether they are read as they were."""

import numpy as np

ARRAYS = {
    "a/0/W": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0-d": np.array(2.0, dtype=np.float16),
    "empty": np.zeros((0, 3)),
    "columns first": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "file": np.array([True, False]),
    "text": np.array("text"),
}


def same(x, y):
    assert list(x) == list(y)
    for name in x:
        assert x[name].dtype == y[name].dtype
        np.testing.assert_array_equal(x[name], y[name])
