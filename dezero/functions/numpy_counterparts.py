"""Which function of ours stands for which of NumPy's, and which work on the data.

The tables that :mod:`dezero.functions.numpy_protocol` goes by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dezero.functions as F
from dezero.core import Variable, as_variable

# =============================================================================
# Ufuncs
# =============================================================================


RECORDED_UFUNCS: dict[Any, Callable[..., Variable]] = {
    np.add: F.add,
    np.subtract: F.sub,
    np.multiply: F.mul,
    np.divide: F.div,
    np.floor_divide: F.floor_divide,
    np.remainder: F.mod,
    np.power: F.pow,
    np.negative: F.neg,
    np.positive: as_variable,
    np.reciprocal: F.reciprocal,
    np.square: F.square,
    np.exp: F.exp,
    np.exp2: F.exp2,
    np.expm1: F.expm1,
    np.log: F.log,
    np.log2: F.log2,
    np.log10: F.log10,
    np.log1p: F.log1p,
    np.logaddexp: F.logaddexp,
    np.sqrt: F.sqrt,
    np.cbrt: F.cbrt,
    np.absolute: F.abs,
    np.sign: F.sign,
    np.sin: F.sin,
    np.cos: F.cos,
    np.tan: F.tan,
    np.arcsin: F.arcsin,
    np.arccos: F.arccos,
    np.arctan: F.arctan,
    np.arctan2: F.arctan2,
    np.hypot: F.hypot,
    np.sinh: F.sinh,
    np.cosh: F.cosh,
    np.tanh: F.tanh,
    np.arcsinh: F.arcsinh,
    np.arccosh: F.arccosh,
    np.arctanh: F.arctanh,
    np.maximum: F.maximum,
    np.minimum: F.minimum,
    np.matmul: F.matmul,
}


# Truth values, and functions that are constant between their jumps.
UFUNCS_BY_DATA = {
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.isnan,
    np.isinf,
    np.isfinite,
    np.signbit,
    np.logical_and,
    np.logical_or,
    np.logical_not,
    np.logical_xor,
    np.floor,
    np.ceil,
    np.trunc,
    np.rint,
}


METHOD_HINTS = {
    "at": "F.scatter_add records what .at does in place",
    "accumulate": "F.cumsum and F.cumprod record running sums and products",
    "outer": "x.reshape(-1, 1) against y.reshape(1, -1) broadcasts to it",
    "reduce": "F.sum, F.prod, F.max and F.min record reductions",
    "reduceat": "F.sum over slices of x records it",
}


REDUCE = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


# =============================================================================
# The other functions
# =============================================================================


def raw(value: Any) -> Any:
    """``value`` with the data of each Variable in it, however deep in lists, for it."""
    if isinstance(value, Variable):
        return value.data
    if type(value) in (list, tuple):
        return type(value)([raw(v) for v in value])
    if type(value) is dict:
        return {key: raw(v) for key, v in value.items()}
    return value


# Signatures are NumPy's, without the arguments that ours do not take. What NumPy puts
# after one of those (dtype before keepdims) must be given by keyword.


def _where(condition: Any, *values: Any) -> Any:
    if not values:  # the positions of what is true
        return np.where(raw(condition))
    return F.where(condition, *values)


def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Variable:
    return F.clip(a, min if a_min is None else a_min, max if a_max is None else a_max)


def _broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*[np.shape(raw(a)) for a in args])
    return tuple(
        [
            F.broadcast_to(a, shape)
            if isinstance(a, Variable)
            else np.broadcast_to(a, shape)
            for a in args
        ]
    )


RECORDED: dict[Any, Callable[..., Any]] = {
    # reductions
    np.sum: lambda a, axis=None, *, keepdims=False: F.sum(a, axis, keepdims),
    np.mean: lambda a, axis=None, *, keepdims=False: F.mean(a, axis, keepdims),
    np.max: lambda a, axis=None, *, keepdims=False: F.max(a, axis, keepdims),
    np.min: lambda a, axis=None, *, keepdims=False: F.min(a, axis, keepdims),
    np.prod: lambda a, axis=None, *, keepdims=False: F.prod(a, axis, keepdims),
    np.average: lambda a, axis=None, weights=None, *, keepdims=False: F.average(
        a, axis, keepdims, weights
    ),
    np.var: lambda a, axis=None, *, ddof=0, keepdims=False: F.var(
        a, axis, ddof, keepdims
    ),
    np.std: lambda a, axis=None, *, ddof=0, keepdims=False: F.std(
        a, axis, ddof, keepdims
    ),
    np.cumsum: lambda a, axis=None: F.cumsum(a, axis),
    np.cumprod: lambda a, axis=None: F.cumprod(a, axis),
    # choices
    np.where: _where,
    np.clip: _clip,
    np.take: lambda a, indices, axis=None: F.take(a, indices, axis),
    np.take_along_axis: lambda arr, indices, axis=-1: F.take_along_axis(
        arr, indices, axis
    ),
    np.sort: lambda a, axis=-1: F.sort(a, axis),
    # shapes
    np.reshape: lambda a, shape: F.reshape(a, shape),
    np.ravel: lambda a: F.ravel(a),
    np.transpose: lambda a, axes=None: F.transpose(a, axes),
    np.swapaxes: lambda a, axis1, axis2: F.swapaxes(a, axis1, axis2),
    np.moveaxis: lambda a, source, destination: F.moveaxis(a, source, destination),
    np.squeeze: lambda a, axis=None: F.squeeze(a, axis),
    np.expand_dims: lambda a, axis: F.expand_dims(a, axis),
    np.broadcast_arrays: _broadcast_arrays,
    np.broadcast_to: lambda array, shape: F.broadcast_to(array, shape),
    # pieces
    np.concatenate: lambda arrays, axis=0: F.concatenate(arrays, axis),
    np.stack: lambda arrays, axis=0: F.stack(arrays, axis),
    np.vstack: lambda tup: F.vstack(tup),
    np.hstack: lambda tup: F.hstack(tup),
    np.split: lambda ary, indices_or_sections, axis=0: F.split(
        ary, indices_or_sections, axis
    ),
    np.flip: lambda m, axis=None: F.flip(m, axis),
    np.roll: lambda a, shift, axis=None: F.roll(a, shift, axis),
    np.tril: lambda m, k=0: F.tril(m, k),
    np.triu: lambda m, k=0: F.triu(m, k),
    np.diag: lambda v, k=0: F.diag(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: F.diagonal(
        a, offset, axis1, axis2
    ),
    np.tile: lambda A, reps: F.tile(A, reps),
    np.repeat: lambda a, repeats, axis=None: F.repeat(a, repeats, axis),
    np.pad: lambda array, pad_width, mode="constant", *, constant_values=0: F.pad(
        array, pad_width, mode, constant_values
    ),
    # products
    np.dot: lambda a, b: F.dot(a, b),
    np.inner: lambda a, b: F.inner(a, b),
    np.outer: lambda a, b: F.outer(a, b),
    np.tensordot: lambda a, b, axes=2: F.tensordot(a, b, axes),
    np.einsum: lambda subscripts, *operands: F.einsum(subscripts, *operands),
    np.trace: lambda a, offset=0, axis1=0, axis2=1: F.trace(a, offset, axis1, axis2),
    np.linalg.norm: lambda x, ord=None, axis=None, keepdims=False: F.norm(
        x, ord, axis, keepdims
    ),
}
RECORDED[np.amax] = RECORDED[np.max]
RECORDED[np.amin] = RECORDED[np.min]


# What writes into its first argument.
WRITERS = {
    np.copyto,
    np.put,
    np.putmask,
    np.place,
    np.put_along_axis,
    np.fill_diagonal,
}


BY_DATA: set[Any] = {
    # sizes and types
    np.shape,
    np.ndim,
    np.size,
    np.result_type,
    np.can_cast,
    np.common_type,
    np.min_scalar_type,
    np.iscomplexobj,
    np.isrealobj,
    np.shares_memory,
    np.may_share_memory,
    # new arrays of the same kind
    np.zeros_like,
    np.ones_like,
    np.empty_like,
    np.full_like,
    # comparisons
    np.allclose,
    np.isclose,
    np.array_equal,
    np.array_equiv,
    np.all,
    np.any,
    np.isin,
    np.isposinf,
    np.isneginf,
    np.iscomplex,
    np.isreal,
    # positions and counts
    np.argmax,
    np.argmin,
    np.nanargmax,
    np.nanargmin,
    np.argsort,
    np.argwhere,
    np.argpartition,
    np.nonzero,
    np.flatnonzero,
    np.count_nonzero,
    np.searchsorted,
    np.digitize,
    np.bincount,
    # constant between jumps
    np.round,
    np.around,
    np.fix,
    # output, and what plotting does to its input
    np.array2string,
    np.array_repr,
    np.array_str,
    np.save,
    np.savez,
    np.savez_compressed,
    np.savetxt,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
}
