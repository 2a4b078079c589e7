"""Numbers as arguments: what a function takes that is no array and has no gradient."""

import numpy as np


def as_number(
    function: str,
    name: str,
    value: float,
    low: float | None = None,
    above: float | None = None,
) -> float:
    """``value`` as a Python float, within bounds.

    Args:
        function: Who asks, for the message.
        name: What it asks for.
        value: The number. A Variable is none: ``float(x)`` would lose its gradient.
        low: The least number allowed.
        above: A number that it must be greater than.

    Raises:
        TypeError: ``value`` is no number.
        ValueError: It is too small, NaN, or too large for a float.
    """
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(
            f"{function}: expected a number as {name}, got {type(value).__name__}"
        )
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(
            f"{function}: expected {name} within the range of floats, got an integer "
            f"of {int(value).bit_length()} bits"
        ) from None
    if low is not None and not value >= low:
        raise ValueError(f"{function}: expected {name} >= {low:g}, got {value:g}")
    if above is not None and not value > above:
        raise ValueError(f"{function}: expected {name} > {above:g}, got {value:g}")
    return value
