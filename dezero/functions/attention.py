"""Attention: each query reads a weighted mean of the values."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.functions.attention_parts import ROWS, parts_of, softmax_in_place
from dezero.functions.axes import swapaxes
from dezero.functions.broadcasting import broadcasts, sum_to
from dezero.functions.comparison import where
from dezero.functions.dtypes import as_variables, cast, working_dtypes
from dezero.functions.exponential import exp
from dezero.functions.linalg import matmul
from dezero.functions.noise import Dropout, as_ratio
from dezero.functions.probabilities import softmax_grad_on_gpu, softmax_on_gpu
from dezero.functions.recomputing import recorded_gradients
from dezero.functions.reduction import sum
from dezero.kernels import products

__all__ = ["ScaledDotProductAttention", "scaled_dot_product_attention"]


class ScaledDotProductAttention(Function):
    """Inputs: q, k, v, and numbers that are added to the scores, or None."""

    fresh_gradients = True
    reads_outputs = False

    def __init__(self, allowed=None, causal=False, dropout_ratio=0.0):
        self.allowed = allowed  # booleans that broadcast to the scores, or None
        self.causal = causal
        self.dropout_ratio = dropout_ratio

    def forward(self, q, k, v, bias=None):
        xp = cuda.get_array_module(q)
        dtype, work = working_dtypes(q, k, v, bias)
        q, k, v = [a.astype(work, copy=False) for a in (q, k, v)]
        scale = _scale(q)
        if xp is np:
            q, scale = q * scale, 1.0
        stack = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
        self.scores = (*stack, q.shape[-2], k.shape[-2])
        self.kept: Any = []  # each part, its weights, and how they were dropped
        ys = []
        for part in parts_of(self.scores, self.causal, ROWS if xp is np else None):
            # (..., rows, keys)
            keys = k[..., part.keys, :].swapaxes(-1, -2)
            w = _product(q[..., part.rows, :], keys, scale)
            allowed = self._allowed(xp, part)
            added: Any = None
            if bias is not None:
                added = part.of(xp, bias.astype(work, copy=False), self.scores)
            if xp is np or not w.size:
                softmax_in_place(w, allowed, added)
            else:
                open = True if allowed is None else allowed
                softmax_on_gpu(w, -1, w, open, 0.0 if added is None else added)
            dropout = Dropout(self.dropout_ratio) if self.dropout_ratio else None
            self.kept.append((part, w, dropout))
            seen = w if dropout is None else dropout.forward(w)
            ys.append(_product(seen, v[..., part.keys, :]))
        return _joined(xp, ys).astype(dtype, copy=False)

    def _allowed(self, xp, part):
        """Which keys a query may look at, to broadcast to the scores; None for all."""
        past, allowed = part.past_of(xp), self.allowed
        if past is None or allowed is None:
            return allowed if past is None else past
        return past & part.of(xp, allowed, self.scores)

    def backward(self, gy):
        if Config.enable_backprop:
            return recorded_gradients(
                lambda *inputs: (self.compose(*inputs),),
                self.inputs,
                self.needs_grad,
                (gy,),
            )
        return self._fused(gy.data, *[x.data for x in self.inputs[:3]])

    def _fused(self, gy, q, k, v):
        xp = cuda.get_array_module(gy)
        need_q, need_k, need_v, *need_bias = self.needs_grad
        work = self.kept[0][1].dtype
        gy, q, k, v = [a.astype(work, copy=False) for a in (gy, q, k, v)]
        if 0 in gy.strides[-2:]:  # a repeated gradient would go past BLAS
            gy = xp.ascontiguousarray(gy)
        scale = 1.0 if xp is np else _scale(q)
        gqs = []
        gk = gv = gbias = None
        if any(need_bias):
            gbias = xp.zeros((*gy.shape[:-2], *self.scores[-2:]), work)
        # The last part first: it sees all keys.
        for part, w, dropout in reversed(self.kept):
            g = gy[..., part.rows, :]
            if need_v:
                seen = w if dropout is None else _dropped(dropout, w)
                gv = _added(gv, part, _product(seen.swapaxes(-1, -2), g))
            # (..., rows, keys)
            gw = _product(g, v[..., part.keys, :].swapaxes(-1, -2))
            if dropout is not None:
                gw = _dropped(dropout, gw)
            # Through the softmax: gs = w * (gw - sum(w * gw)).
            if xp is np or not w.size:
                gw -= xp.einsum("...ij,...ij->...i", gw, w)[..., None]
                gw *= w
            else:
                softmax_grad_on_gpu(w, gw, -1, gw)
            if need_q:
                gqs.append(_product(gw, k[..., part.keys, :], scale))
            if need_k:
                product = _product(gw.swapaxes(-1, -2), q[..., part.rows, :], scale)
                gk = _added(gk, part, product)
            if gbias is not None:
                gbias[..., part.rows, part.keys] = gw
        gq = _joined(xp, gqs[::-1]) if need_q else None
        for gx in (gq, gk) if xp is np else ():
            if gx is not None:
                gx *= _scale(q)
        return (gq, gk, gv, gbias) if need_bias else (gq, gk, gv)

    def _release(self):
        super()._release()
        self.kept = None  # (..., Tq, Tk), which who keeps the result does not need

    def fit_gradient(self, gx, x):
        # A stack of gradients is summed over the axes that x was broadcast along.
        return super().fit_gradient(sum_to(gx, x.shape), x)

    def compose(self, q, k, v, bias=None):
        """The same, put together from functions."""
        xp = cuda.get_array_module(q)
        dtype, work = working_dtypes(q, k, v, bias)
        q, k, v = cast(q, work), cast(k, work), cast(v, work)
        s = matmul(q * _scale(q), swapaxes(k, -1, -2))
        allowed = self._allowed(xp, parts_of(self.scores, self.causal)[0])
        if bias is not None:
            s = s + bias
            seen = bias.data > -np.inf
            allowed = seen if allowed is None else seen & allowed
        if allowed is not None:
            s = where(allowed, s, -np.inf)
        if s.shape[-1]:
            m = s.data.max(axis=-1, keepdims=True)  # a constant, for it cancels out
            if allowed is not None:
                m = xp.where(m == -np.inf, m.dtype.type(0), m)
            with np.errstate(over="ignore"):
                s = s - m
        e = exp(s)
        total = sum(e, axis=-1, keepdims=True)
        w = e / (total + (total.data == 0).astype(total.dtype))
        if self.dropout_ratio:
            w = self._dropout(xp).backward(w)
        return cast(matmul(w, v), dtype)

    def _dropout(self, xp):
        """The dropout of all scores, as the parts had it."""
        dropout = Dropout(self.dropout_ratio)
        dropout.mask = self._whole(xp, [own.mask for _, _, own in self.kept])
        return dropout

    @property
    def weights(self):
        """Of each query, for each key, (..., Tq, Tk), before any are dropped."""
        weights = [w for _, w, _ in self.kept]
        return self._whole(cuda.get_array_module(weights[0]), weights)

    def _whole(self, xp, xs):
        """What the parts have of the scores, as one array; 0 where they have none."""
        whole = xp.zeros(self.scores, xs[0].dtype)
        for (part, _, _), x in zip(self.kept, xs, strict=True):
            whole[..., part.rows, part.keys] = x
        return whole


def _joined(xp, parts):
    """Of (..., rows, D) each: (..., Tq, D)."""
    return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=-2)


def _added(total, part, gx):
    """``gx`` (..., keys, D) added to the first of the keys of ``total``."""
    if total is None:
        return gx
    total[..., part.keys, :] += gx
    return total


def _dropped(dropout, w):
    """``w`` with the elements dropped that forward dropped."""
    gx = dropout.backward(as_variable(w))
    return gx.data if isinstance(gx, Variable) else gx


def _product(a, b, alpha=1.0):
    """``alpha * a @ b``; alpha, which costs nothing there, on a GPU only."""
    if isinstance(a, np.ndarray):
        return np.matmul(a, b)
    return products.matmul(a, b, alpha=alpha)


def _scale(q):
    return 1 / math.sqrt(max(q.shape[-1], 1))


def scaled_dot_product_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: ArrayLike | None = None,
    causal: bool = False,
    dropout_ratio: float = 0.0,
) -> Variable:
    """Attention ``y = softmax(q @ k.T / sqrt(D) + mask) @ v``.

    Vaswani et al. 2017, "Attention is all you need", arXiv:1706.03762. The weights of
    one query are positive and add up to 1; a query that may look at nothing gets zeros.
    Axes in front broadcast, so that several heads may share k and v. The gradient is
    fused; with ``create_graph=True`` it is recomputed from functions.

    Args:
        q: (..., Tq, D), queries.
        k: (..., Tk, D), keys.
        v: (..., Tk, Dv), values.
        mask: Broadcasts to the scores (..., Tq, Tk). Booleans say which keys a query
            may look at. Numbers are added to the scores, -inf closes a key; they get a
            gradient.
        causal: Let query i look at keys j <= i + Tk - Tq only: the last query sees all
            keys, as it should when q are the latest of Tk places.
        dropout_ratio: Weights are dropped with this probability in training, and the
            others scaled, as by :func:`dropout`.

    Returns:
        Variable of shape (..., Tq, Dv). Half precision is computed in single precision.

    Raises:
        TypeError: ``mask`` holds integers or is on another device, or
            ``dropout_ratio`` is no number.
        ValueError: The shapes do not fit, or ``dropout_ratio`` is outside [0, 1].
    """
    q, k, v = as_variable(q), as_variable(k), as_variable(v)
    shapes = f"q of shape {q.shape}, k of shape {k.shape} and v of shape {v.shape}"
    if (
        min(q.ndim, k.ndim, v.ndim) < 2
        or q.shape[-1] != k.shape[-1]
        or k.shape[-2] != v.shape[-2]
    ):
        raise ValueError(
            "scaled_dot_product_attention: expected q (..., Tq, D), k (..., Tk, D) and "
            f"v (..., Tk, Dv), got {shapes}"
        )
    try:
        batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
        np.broadcast_shapes(batch, v.shape[:-2])
    except ValueError:
        raise ValueError(
            "scaled_dot_product_attention: expected stacks that broadcast, got "
            f"{shapes}"
        ) from None
    dropout_ratio = as_ratio("scaled_dot_product_attention", dropout_ratio)
    allowed, bias = None, None
    if mask is not None:
        if isinstance(mask, (float, np.floating)):
            mask = as_variables(q, k, v, mask)[-1]  # it takes their dtype
        mask = as_variable(mask)
        scores = (*batch, q.shape[-2], k.shape[-2])
        if mask.dtype.kind in "iu":
            raise TypeError(
                "scaled_dot_product_attention: expected a mask of booleans or floats, "
                f"got dtype {mask.dtype}"
            )
        if not broadcasts(mask.shape, scores):
            raise ValueError(
                "scaled_dot_product_attention: expected a mask that broadcasts to the "
                f"scores {scores}, got shape {mask.shape}"
            )
        if mask.dtype.kind == "b":
            allowed = mask.data
            if cuda.get_array_module(allowed) is not cuda.get_array_module(q):
                cuda.check_one_device("scaled_dot_product_attention", (q, mask))
        else:
            bias = mask
    if not Config.train:
        dropout_ratio = 0.0
    f = ScaledDotProductAttention(allowed, causal, dropout_ratio)
    return f(q, k, v) if bias is None else f(q, k, v, bias)
