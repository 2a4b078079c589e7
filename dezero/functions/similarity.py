"""How alike two things are: the angle of vectors, the divergence of distributions."""

import numpy as np

from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.broadcasting import broadcast_to
from dezero.functions.comparison import maximum
from dezero.functions.dtypes import cast
from dezero.functions.exponential import log
from dezero.functions.loss import of_batch, of_one_shape
from dezero.functions.norms import norm
from dezero.functions.reduction import sum
from dezero.functions.safe import SafeDiv, SafeMul
from dezero.functions.shape import as_axis

__all__ = ["cosine_similarity", "kl_divergence"]


def _direction(x: Variable, axis: int) -> Variable:
    """``x / |x|``; a vector 0 has no direction, and no gradient: both are 0."""
    if x.dtype.kind != "f":
        x = cast(x, np.float64)
    return SafeDiv(kink=True)(x, norm(x, axis=axis, keepdims=True))


def _along(x: Variable, axis: int, size: int) -> Variable:
    """``x`` broadcast to this size along one axis."""
    return broadcast_to(x, (*x.shape[:axis], size, *x.shape[axis + 1 :]))


def cosine_similarity(x0: ArrayLike, x1: ArrayLike, axis: int = 1) -> Variable:
    """Cosine of the angle between vectors: ``y = sum(x0 * x1) / (|x0| * |x1|)``.

    For a vector 0, which has no direction, it is 0, and so is the gradient. Both are
    divided by their norms first, so that products do not overflow.

    Args:
        x0: (N, D), or any shape that has ``axis``.
        x1: A shape that broadcasts with that of ``x0``.
        axis: The axis along which the vectors lie.

    Returns:
        Variable of the broadcast shape without ``axis``.

    Raises:
        ValueError: ``x0`` or ``x1`` has no such axis, they differ in their number of
            axes, or their shapes do not broadcast.
    """
    x0, x1 = as_variable(x0), as_variable(x1)
    if x0.ndim != x1.ndim:
        raise ValueError(
            "cosine_similarity: expected arrays of as many axes, got shapes "
            f"{x0.shape} and {x1.shape}"
        )
    axis = as_axis("cosine_similarity", axis, x0.shape)
    try:
        D = np.broadcast_shapes(x0.shape, x1.shape)[axis]
    except ValueError:
        raise ValueError(
            "cosine_similarity: expected shapes that broadcast, got "
            f"{x0.shape} and {x1.shape}"
        ) from None
    # A number repeated along the axis is a vector of D, and as long as one.
    x0, x1 = _along(x0, axis, D), _along(x1, axis, D)
    return sum(_direction(x0, axis) * _direction(x1, axis), axis)


def kl_divergence(log_q: ArrayLike, p: ArrayLike, reduction: str = "mean") -> Variable:
    """Kullback-Leibler divergence: ``D(p || q) = sum(p * log(p / q)) / len(p)``.

    How much the distribution q, the prediction, is off from p, the target. Where p is
    0, nothing is added, whatever q is. Only the first axis is averaged over.

    Args:
        log_q: Logarithms of probabilities (N, ...), such as :func:`log_softmax` gives.
        p: Probabilities, of the shape of ``log_q``.
        reduction: "mean" over the batch, "sum", or "none" for each element.

    Returns:
        Variable of shape (); with "none", of the shape of ``log_q``.

    Raises:
        ValueError: The shapes differ, N is 0 and has no mean, or there is no such
            reduction.
    """
    log_q, p = of_one_shape("kl_divergence", log_q, p, reduction)
    p = cast(p, log_q.dtype)  # double precision of targets says nothing about the loss
    least = float(np.finfo(p.dtype).smallest_subnormal)
    y = SafeMul()(p, log(maximum(p, least)) - log_q)
    return of_batch("kl_divergence", y, reduction)
