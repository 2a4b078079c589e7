"""The base class of functions that work element by element on broadcast inputs."""

from typing import Any

from dezero.core import Function, Variable
from dezero.functions.broadcasting import broadcasts, sum_to


class Elementwise(Function):
    """A Function whose inputs are broadcast against each other, as NumPy does.

    Its ``backward`` is the bare formula: a gradient of the output's shape is summed to
    the input's shape here, in the one place that undoes broadcasting.
    """

    def fit_gradient(self, gx: Variable, x: Any) -> Variable:
        """Sum ``gx`` over the axes along which ``x`` was broadcast, then check it.

        Raises:
            ValueError: ``gx`` is not of a shape that ``x`` broadcasts to.
        """
        shape = gx.data.shape
        if shape != x.shape:
            if not broadcasts(x.shape, shape):
                raise ValueError(
                    f"{type(self).__name__}.backward: expected a gradient of a shape "
                    f"that the input's shape {x.shape} broadcasts to, got {shape}"
                )
            gx = sum_to(gx, x.shape)
        return super().fit_gradient(gx, x)
