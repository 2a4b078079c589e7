"""What wrong numbers look like, in words: the usual ways to write a wrong backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from dezero.testing.report import LIMIT

# Ratios that vary by less than this from direction to direction are one factor.
_CONSTANT = 1e-4


def explain_ratios(
    ratios: Sequence[float], order: int, shape: tuple[int, ...]
) -> str | None:
    """What the analytic derivatives, divided by the numeric ones, say together.

    Args:
        ratios: One for each direction.
        order: The order of the derivatives.
        shape: The shape of what was varied.

    Returns:
        A description, or None where the ratios have nothing in common.
    """
    low, high = min(ratios), max(ratios)
    size = max(abs(low), abs(high))
    if size < _CONSTANT:
        if order == 1:
            return (
                "analytic is 0: backward gives nothing, or f leaves the graph on the "
                "way (.data, detach, no_grad)"
            )
        return (
            "analytic is 0: backward computes with .data, a detached copy or an array "
            "that forward kept, so its own derivative is lost"
        )
    constant = high - low <= _CONSTANT * size
    factor = (low + high) / 2
    if constant and abs(factor + 1) <= _CONSTANT:
        return "the sign: analytic = -1 x numeric along every direction"
    if 0.45 <= low and high <= 0.55:
        return (
            f"about half: analytic = {factor:.3g} x numeric; a gradient was "
            "overwritten, not accumulated?"
        )
    if 1.8 <= low and high <= 2.2:
        return f"about twice: analytic = {factor:.3g} x numeric; counted twice?"
    if not constant or abs(factor - 1) <= LIMIT:
        return None
    text = f"a factor: analytic = {factor:.6g} x numeric along every direction"
    for n in (int(np.prod(shape)), *shape):
        if n > 2 and any([abs(factor / r - 1) <= _CONSTANT for r in (n, 1 / n)]):
            return f"{text}, and {n} is a size here: a mean for a sum?"
    return text


def explain_elements(found: np.ndarray, expected: np.ndarray) -> str | None:
    """Which elements of a gradient are wrong, and the worst of them.

    None where all are right: small differences may add up along a direction.
    """
    apart = abs(found - expected)
    wrong = ~(apart <= 1e-5 * (abs(expected) + 1e-3 * abs(expected).max(initial=0.0)))
    if not wrong.any():
        return None
    apart = np.where(np.isnan(apart), np.inf, apart)
    worst = tuple(map(int, np.unravel_index(np.argmax(apart), apart.shape)))
    many = f"{wrong.sum()} of {wrong.size} elements"
    place = f", most at {worst}" if worst else ""
    return f"{many}{place}: {found[worst]:.4g} for {expected[worst]:.4g}"


_SHAPES = re.compile(
    r"(\w+)\.backward: expected a gradient of shape (\([\d, ]*\)), .* got (\([\d, ]*\))"
)


def explain_shape(error: ValueError) -> str | None:
    """The engine's refusal of a gradient of the wrong shape, with the likely cause.

    None if ``error`` is another one.
    """
    match = _SHAPES.match(str(error))
    if match is None:
        return None
    expected, got = ast.literal_eval(match[2]), ast.literal_eval(match[3])
    cause = ""
    if _broadcasts(expected, got):
        cause = (
            "; a sum_to is missing: derive the class from "
            "dezero.functions.elementwise.Elementwise, which sums over broadcast axes, "
            "or return F.sum_to(gx, x.shape)"
        )
    elif expected == got[::-1]:
        cause = "; transposed?"
    elif np.prod(expected) == np.prod(got):
        cause = "; as many elements: a reshape is missing?"
    elif _broadcasts(got, expected):
        cause = "; a broadcast_to is missing?"
    return f"{error}{cause}"


def _broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False
