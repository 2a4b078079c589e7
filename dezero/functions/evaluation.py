"""Measures of a trained model; none of them has a gradient."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.classification import class_ids

__all__ = ["accuracy"]


def accuracy(y: ArrayLike, t: ArrayLike) -> Variable:
    """The share of rows whose greatest score stands at the class id ``t``.

    Args:
        y: Scores (N, C), or probabilities.
        t: N integers, in any shape: (N,) or (N, 1).

    Returns:
        Constant Variable of shape () and the dtype of ``y``; no gradient comes back.

    Raises:
        TypeError: ``t`` holds no integers.
        ValueError: ``y`` is no matrix, ``t`` has not N elements, or N is 0.
    """
    y = as_variable(y)
    ids = class_ids("accuracy", y, t)
    xp = cuda.get_array_module(y)
    dtype = y.dtype if y.dtype.kind == "f" else np.float64
    return as_variable(xp.asarray((y.data.argmax(axis=1) == ids).mean(), dtype=dtype))
