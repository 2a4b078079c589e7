"""Which class was taken for which, and the measures that count it; without gradient."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.functions.evaluation import measured
from dezero.functions.labels import class_labels, labels_below
from dezero.functions.shape import as_integer

__all__ = ["confusion_matrix", "f1_score", "precision", "recall"]


def _predictions(
    function: str, y: Variable, t: ArrayLike, n_classes: int | None
) -> tuple[Array, Array, int]:
    """Predicted ids, true ids and the number of classes.

    Raises:
        TypeError: ``t``, or a vector ``y``, holds no integers.
        ValueError: The shapes do not fit, nothing is there, or an id is out of range.
    """
    if y.ndim == 2:
        C = y.shape[1]
        if n_classes is not None and n_classes != C:
            raise ValueError(
                f"{function}: expected n_classes={C} for scores of shape {y.shape}, "
                f"got {n_classes}"
            )
        return y.data.argmax(axis=1), class_labels(function, y, t), C
    ids, true = y.data, as_variable(t).data
    if ids.dtype.kind not in "iu" or true.dtype.kind not in "iu":
        raise TypeError(
            f"{function}: expected scores (N, C) or integer class ids, got y of dtype "
            f"{ids.dtype} and shape {ids.shape} and t of dtype {true.dtype}"
        )
    if ids.ndim != 1 or ids.shape != true.shape or not ids.size:
        raise ValueError(
            f"{function}: expected class ids of shape (N,) with N > 0, got y of shape "
            f"{ids.shape} and t of shape {true.shape}"
        )
    if n_classes is None:
        C = int(max(ids.max(), true.max())) + 1
    else:
        C = as_integer(function, "n_classes", n_classes)
    return labels_below(function, ids, C), labels_below(function, true, C), C


def _counts(function: str, y: Variable, t: ArrayLike, n_classes: int | None) -> Array:
    xp = cuda.get_array_module(y)
    predicted, true, C = _predictions(function, y, t, n_classes)
    places = true.astype(np.intp) * C + predicted.astype(np.intp)
    return xp.bincount(places, minlength=C * C).reshape(C, C)


def confusion_matrix(
    y: ArrayLike, t: ArrayLike, n_classes: int | None = None
) -> Variable:
    """How often class i was taken for class j: ``c[i, j]``.

    Args:
        y: Scores (N, C), whose greatest counts, or N predicted class ids (N,).
        t: N integers in [0, C), the true classes.
        n_classes: C; by default that of the scores, or one more than the greatest id.

    Returns:
        Constant Variable (C, C) of integers, rows by true class, columns by prediction.

    Raises:
        TypeError: The ids are no integers.
        ValueError: The shapes do not fit, N is 0, or an id is out of range.
    """
    return as_variable(_counts("confusion_matrix", as_variable(y), t, n_classes))


def precision(
    y: ArrayLike,
    t: ArrayLike,
    average: str | None = "macro",
    zero_division: float = 0.0,
    n_classes: int | None = None,
) -> Variable:
    """The share of what was taken for a class that belongs to it: ``TP / (TP + FP)``.

    Args:
        y: Scores (N, C), whose greatest counts, or N predicted class ids (N,).
        t: N integers in [0, C), the true classes.
        average: "macro" for the mean over all C classes, "binary" for class 1 of two,
            None for each class.
        zero_division: The value for a class that was never predicted.
        n_classes: C; by default that of the scores, or one more than the greatest id.

    Returns:
        Constant Variable of the dtype of floating scores, else float64; shape (), or
        (C,) for each class.

    Raises:
        TypeError: The ids are no integers, or ``zero_division`` is no number.
        ValueError: The shapes do not fit, N is 0, an id is out of range, or there is no
            such average.
    """
    return _measure("precision", y, t, average, zero_division, n_classes)


def recall(
    y: ArrayLike,
    t: ArrayLike,
    average: str | None = "macro",
    zero_division: float = 0.0,
    n_classes: int | None = None,
) -> Variable:
    """The share of a class that was taken for it: ``TP / (TP + FN)``.

    Args:
        y: As for :func:`precision`, like all that follow.
        t: The true classes.
        average: "macro", "binary" or None.
        zero_division: The value for a class that never occurs.
        n_classes: C.

    Returns:
        Constant Variable, as :func:`precision`.

    Raises:
        TypeError: The ids are no integers, or ``zero_division`` is no number.
        ValueError: The shapes do not fit, N is 0, an id is out of range, or there is no
            such average.
    """
    return _measure("recall", y, t, average, zero_division, n_classes)


def f1_score(
    y: ArrayLike,
    t: ArrayLike,
    average: str | None = "macro",
    zero_division: float = 0.0,
    n_classes: int | None = None,
) -> Variable:
    """Harmonic mean of precision and recall: ``2 * TP / (2 * TP + FP + FN)``.

    Args:
        y: As for :func:`precision`, like all that follow.
        t: The true classes.
        average: "macro", "binary" or None.
        zero_division: The value for a class that neither occurs nor was predicted.
        n_classes: C.

    Returns:
        Constant Variable, as :func:`precision`.

    Raises:
        TypeError: The ids are no integers, or ``zero_division`` is no number.
        ValueError: The shapes do not fit, N is 0, an id is out of range, or there is no
            such average.
    """
    return _measure("f1_score", y, t, average, zero_division, n_classes)


def _measure(
    function: str,
    y: ArrayLike,
    t: ArrayLike,
    average: str | None,
    zero_division: float,
    n_classes: int | None,
) -> Variable:
    if average not in ("macro", "binary", None):
        raise ValueError(
            f"{function}: expected 'macro', 'binary' or None as average, got "
            f"{average!r}"
        )
    zero_division = as_number(function, "zero_division", zero_division)
    y = as_variable(y)
    if average == "binary" and n_classes is None and y.ndim == 1:
        n_classes = 2
    counts = _counts(function, y, t, n_classes)
    if average == "binary" and len(counts) != 2:
        raise ValueError(
            f"{function}: expected two classes for average='binary', got {len(counts)}"
        )
    right = counts.diagonal()
    predicted, true = counts.sum(axis=0), counts.sum(axis=1)
    if function == "precision":
        part, whole = right, predicted
    elif function == "recall":
        part, whole = right, true
    else:
        part, whole = 2 * right, predicted + true
    xp = cuda.get_array_module(counts)
    share = xp.where(whole == 0, zero_division, part / xp.maximum(whole, 1))
    if average == "macro":
        share = share.mean()
    elif average == "binary":
        share = share[1]
    # Class ids say nothing about the dtype of a measure.
    return measured(y, share)
