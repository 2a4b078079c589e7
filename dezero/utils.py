"""Small helpers under the names that DeZero scripts know; on top of everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Variable, no_grad
from dezero.cuda import Array
from dezero.downloads import cache_dir, get_file
from dezero.functions.windows import get_conv_outsize, get_deconv_outsize
from dezero.serializers import Path
from dezero.testing.gradients import numerical_gradient, pinned_random_state
from dezero.visualize.graph_rendering import Drawing
from dezero.visualize.graphs import draw_graph

__all__ = [
    "array_allclose",
    "array_equal",
    "cache_dir",
    "get_conv_outsize",
    "get_deconv_outsize",
    "get_dot_graph",
    "get_file",
    "gradient_check",
    "logsumexp",
    "max_backward_shape",
    "numerical_grad",
    "pair",
    "plot_dot_graph",
    "reshape_sum_backward",
    "sum_to",
]


def sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    """Sum an array over the axes along which ``shape`` would be broadcast to its shape.

    Args:
        x: Array.
        shape: A shape that broadcasts to ``x.shape``.

    Returns:
        Array of shape ``shape``.
    """
    with no_grad():
        return F.sum_to(x, shape).data


def reshape_sum_backward(
    gy: Any,
    x_shape: tuple[int, ...],
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
) -> Any:
    """Give the gradient of a sum the axes of length 1 that the sum dropped.

    Args:
        gy: Gradient of ``sum(x, axis, keepdims)``, a Variable or an array.
        x_shape: Shape of ``x``.
        axis: As in the sum.
        keepdims: As in the sum.

    Returns:
        ``gy`` in a shape that broadcasts to ``x_shape``.
    """
    if not x_shape or keepdims:
        return gy
    return gy.reshape(_with_ones(x_shape, axis))


def max_backward_shape(x: Any, axis: int | tuple[int, ...] | None) -> list[int]:
    """The shape of ``x`` with length 1 along ``axis`` (None: along all axes)."""
    return _with_ones(x.shape, axis)


def _with_ones(shape: tuple[int, ...], axis: int | tuple[int, ...] | None) -> list[int]:
    if axis is None:
        return [1] * len(shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    places = {a % len(shape) for a in axes}
    return [1 if i in places else size for i, size in enumerate(shape)]


def logsumexp(x: Array, axis: int | tuple[int, ...] = 1) -> Array:
    """``log(sum(exp(x)))`` along ``axis``, which stays with length 1, without overflow.

    Args:
        x: Array.
        axis: Along which to sum.

    Returns:
        Array of the shape of ``x`` with length 1 along ``axis``.
    """
    with no_grad():
        return F.logsumexp(x, axis=axis, keepdims=True).data


def numerical_grad(
    f: Callable[..., ArrayLike], x: ArrayLike, *args: Any, **kwargs: Any
) -> Array:
    """Gradient of ``sum(f(x, *args, **kwargs))`` by x, from central differences.

    Args:
        f: Function of a Variable.
        x: Where; a Variable or an array. It is not changed.
        *args: Passed on to ``f``.
        **kwargs: Passed on to ``f``.

    Returns:
        float64 array of the shape of ``x``.
    """
    x = cuda.as_numpy(x).astype(np.float64)
    return numerical_gradient(lambda x: f(x, *args, **kwargs), x)


def gradient_check(
    f: Callable[..., Any],
    x: ArrayLike,
    *args: Any,
    rtol: float = 1e-4,
    atol: float = 1e-5,
    **kwargs: Any,
) -> bool:
    """Does backpropagation give the gradient that central differences give?

    Both are computed in float64, on a copy of ``x``.

    Args:
        f: Function of a Variable that returns one Variable.
        x: Where; a Variable or an array.
        *args: Passed on to ``f``.
        rtol: Largest relative difference.
        atol: Largest absolute difference.
        **kwargs: Passed on to ``f``.

    Returns:
        True if they agree. If not, both are printed.
    """
    x = Variable(cuda.as_numpy(x).astype(np.float64))  # a copy
    with pinned_random_state():  # as the differences do: dropout drops the same
        f(x, *args, **kwargs).backward()
    found = np.zeros(x.shape) if x.grad is None else cuda.as_numpy(x.grad)
    expected = numerical_grad(f, x, *args, **kwargs)
    if array_allclose(found, expected, rtol=rtol, atol=atol):
        return True
    print(
        "gradient_check: the gradients differ\n"
        f"by central differences:\n{expected}\nby backpropagation:\n{found}"
    )
    return False


def array_equal(a: ArrayLike, b: ArrayLike) -> bool:
    """Have ``a`` and ``b``, Variables or arrays, the same shape and values?"""
    return bool(np.array_equal(cuda.as_numpy(a), cuda.as_numpy(b)))


def array_allclose(
    a: ArrayLike, b: ArrayLike, rtol: float = 1e-4, atol: float = 1e-5
) -> bool:
    """Is ``|a - b| <= atol + rtol * |b|`` everywhere, for Variables or arrays?"""
    return bool(np.allclose(cuda.as_numpy(a), cuda.as_numpy(b), rtol=rtol, atol=atol))


def pair(x: int | tuple[int, int]) -> tuple[int, int]:
    """``(x, x)`` for an integer; a pair as it is.

    Raises:
        ValueError: ``x`` is neither.
    """
    if isinstance(x, (int, np.integer)):
        return int(x), int(x)
    if isinstance(x, tuple) and len(x) == 2:
        return x
    raise ValueError(f"pair: expected an integer or a pair, got {x!r}")


def get_dot_graph(output: Variable, verbose: bool | int = True, **options: Any) -> str:
    """The graph behind ``output`` as text in the DOT language of Graphviz.

    Args:
        output: A result; of a leaf there is only itself to draw.
        verbose: Whether shapes and dtypes are written beside the names; 2 writes values
            and gradients, too.
        **options: As in :func:`dezero.visualize.draw_graph`.

    Returns:
        The text. The same graph gives the same one.

    Raises:
        TypeError: ``output`` is no Variable, or an option is unknown.
    """
    return draw_graph(output, verbose=verbose, **options).dot


def plot_dot_graph(
    output: Variable,
    verbose: bool | int = True,
    to_file: Path | None = "graph.png",
    **options: Any,
) -> Drawing:
    """Draw the graph behind ``output`` into a file; needs the extra ``plot``.

    Args:
        output: A result.
        verbose: As in :func:`get_dot_graph`.
        to_file: The end of its name tells the type: ``.png``, ``.svg``, ``.jpg``, and
            ``.pdf`` where Graphviz is installed. None writes no file.
        **options: As in :func:`dezero.visualize.draw_graph`.

    Returns:
        The drawing, which notebooks show as a picture.

    Raises:
        ImportError: There is no program to draw with.
        OSError: The file cannot be written there: the folder is missing, for instance.
        RuntimeError: The program failed.
        TypeError: ``output`` is no Variable, or an option is unknown.
        ValueError: The type of the file is not known.
    """
    return draw_graph(output, verbose=verbose, to_file=to_file, **options)
