"""The loop over time that recurrent networks share, forward and backward."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions import recurrence_on_gpu as on_gpu
from dezero.functions.broadcasting import sum_to_array
from dezero.functions.comparison import where
from dezero.functions.dtypes import cast, working_dtypes
from dezero.functions.joining import stack
from dezero.functions.linalg import linear, matmul
from dezero.functions.recomputing import recorded_gradients
from dezero.functions.shape import reshape

__all__ = ["Recurrence"]

# =============================================================================
# The loop over time, forward and backward
# =============================================================================


class Recurrence(Function):
    """``a[t] = x[t] @ Wx + b``; ``states[t+1] = step(a[t], states[t], Wh)``, fused.

    Inputs: x (T, N, I), the first states (N, H), Wx (I, G*H), Wh (H, G*H), b (G*H,)
    and, in some, a bias of the recurrent product. All but x and the weights may be
    None. Outputs: y (T, N, H), which is the first state after each step, and the last
    states. Where ``mask`` (T, N) is False the states pass unchanged and y is 0.

    The input product of all steps is one product of matrices, and so are the gradients
    of the weights. A subclass writes one step three times: ``step`` and ``step_back``
    on arrays, ``compose_step`` on Variables, for gradients that are differentiated. The
    ``kernels`` are the first two for a GPU, which goes without them as a CPU does.
    """

    reads_outputs = False
    fresh_gradients = True
    states = 1
    keeps = 0  # how many arrays (N, H) a step keeps besides its gates
    apart = False  # do x @ Wx and h @ Wh have different gradients?
    kernels: Any = None  # of a step, forward and backward

    # Of all steps: for the first derivative, which derives from the inputs again.
    gates: Any = None
    history: Any = None
    kept: Any = None

    def __init__(self, mask=None):
        self.mask = mask

    def forward(self, *inputs):
        xp = cuda.get_array_module(inputs[0])
        dtype, work = working_dtypes(*inputs)
        x, *first, Wx, Wh, b, bh = self._unpack(inputs, work)
        (T, N, I), H = x.shape, len(Wh)
        a = x.reshape(T * N, I) @ Wx
        if b is not None:
            a += b
        a = a.reshape(T, N, Wx.shape[1])
        states = [xp.empty((T + 1, N, H), a.dtype) for _ in first]
        for s, s0 in zip(states, first, strict=True):
            s[0] = 0 if s0 is None else s0
        if xp is np or self.kernels is None:
            kept = self._steps(a, states, Wh, bh)
        else:
            kept = on_gpu.steps(self, a, states, Wh, bh)
        y = states[0][1:]
        if self.mask is not None:
            y = xp.where(self.mask[:, :, None], y, y.dtype.type(0))
        self.gates, self.history, self.kept = a, states, kept
        ends = [s[T].astype(dtype) for s in states]
        return (y.astype(dtype, copy=False), *ends)

    def _steps(self, a, states, Wh, bh):
        xp = cuda.get_array_module(a)
        T, N, H = len(a), a.shape[1], len(Wh)
        kept = xp.empty((T, self.keeps, N, H), a.dtype)
        product = xp.empty(a.shape[1:], a.dtype)
        self.prepare(a)
        for t in range(T):
            xp.matmul(states[0][t], Wh, out=product)
            if bh is not None:
                product += bh
            old, new = [s[t] for s in states], [s[t + 1] for s in states]
            self.step(a[t], product, old, new, kept[t])
            if self.mask is not None:
                for s, s_new in zip(old, new, strict=True):
                    xp.copyto(s_new, s, where=~self.mask[t][:, None])
        return kept

    def prepare(self, a):
        """What a subclass computes once, before the first step."""

    def step(self, a, product, old, new, kept):
        """From ``old`` states to ``new`` ones, in place; ``a`` becomes the gates."""

    def step_back(self, a, old, kept, gs, ga, gu, scratch):
        """Fill ``ga`` (and ``gu``, if apart); make ``gs`` what else reaches ``old``."""

    def seen(self):
        """What the second of the kernels reads of the steps forward."""
        return (self.gates,)

    def compose_step(self, a, product, *states):
        """The new states as Variables."""
        return list(states)

    def _unpack(self, inputs, dtype):
        """The inputs in one dtype, x without what stands in the padding."""
        cast_all: Any = [
            a if a is None else a.astype(dtype, copy=False) for a in inputs
        ]
        x, *rest = cast_all
        if self.mask is not None:
            xp = cuda.get_array_module(x)
            x = xp.where(self.mask[:, :, None], x, x.dtype.type(0))
        if len(rest) == self.states + 3:
            rest.append(None)
        return x, *rest

    def backward(self, *gys):
        if Config.enable_backprop:
            return recorded_gradients(self.compose, self.inputs, self.needs_grad, gys)
        inputs = [x if x is None else x.data for x in self.inputs]
        gxs = self._fused(inputs, *[gy.data for gy in gys])
        return tuple(gxs[: len(inputs)])

    def _fused(self, inputs, gy, *gstates):
        a, states = self.gates, self.history
        x, *_, Wx, Wh, _, _ = self._unpack(inputs, a.dtype)
        (T, N, I), H = x.shape, len(Wh)
        if isinstance(gy, np.ndarray) or self.kernels is None:
            gs, ga, gu = self._steps_back(gy, gstates, Wh)
        else:
            gs, ga, gu = on_gpu.steps_back(self, gy, list(gstates), Wh)
        flat_a, flat_u = [g.reshape(T * N, a.shape[2]) for g in (ga, gu)]
        needs = [*self.needs_grad, False]
        n = 1 + self.states
        return [
            (flat_a @ Wx.T).reshape(x.shape) if needs[0] else None,
            *gs,
            x.reshape(T * N, I).T @ flat_a if needs[n] else None,
            states[0][:T].reshape(T * N, H).T @ flat_u if needs[n + 1] else None,
            _sum_of_rows(flat_a) if needs[n + 2] else None,
            _sum_of_rows(flat_u) if needs[n + 3] else None,
        ]

    def _steps_back(self, gy, gstates, Wh):
        xp = cuda.get_array_module(gy)
        a, states = self.gates, self.history
        ga = xp.empty_like(a)  # of x @ Wx + b
        gu = xp.empty_like(a) if self.apart else ga  # of h @ Wh
        scratch = xp.empty(a.shape[1:], a.dtype)
        gs = [g.astype(a.dtype) for g in gstates]
        for t in reversed(range(len(a))):
            if self.mask is None:
                gs[0] += gy[t]
            else:
                here, passing = self.mask[t][:, None], gs
                zero = a.dtype.type(0)
                gs = [xp.where(here, g, zero) for g in (gs[0] + gy[t], *gs[1:])]
            old = [s[t] for s in states]
            self.step_back(a[t], old, self.kept[t], gs, ga[t], gu[t], scratch)
            through = gu[t] @ Wh.T  # (N, G*H) (G*H, H) -> (N, H)
            gs[0] = gs[0] + through if self.apart else through
            if self.mask is not None:
                gs = [xp.where(here, g, p) for g, p in zip(gs, passing, strict=True)]
        return gs, ga, gu

    def _release(self):
        super()._release()
        # As large as all gates of all steps; who keeps y does not need them.
        self.gates = self.history = self.kept = None

    def compose(self, *inputs):
        """The same outputs, put together from functions."""
        dtype, work = working_dtypes(*inputs)
        inner: list[Any] = [v if v is None else cast(v, work) for v in inputs]
        x, *states = inner[: 1 + self.states]
        Wx, Wh, b, *bh = inner[1 + self.states :]
        xp = cuda.get_array_module(x)
        (T, N, _), H = x.shape, len(Wh)
        if self.mask is not None:
            x = where(self.mask[:, :, None], x, 0.0)
        zero = as_variable(xp.zeros((N, H), work))
        states = [zero if s is None else s for s in states]
        a = linear(x, Wx, b)
        ys = []
        for t in range(T):
            product = matmul(states[0], Wh)
            if bh and bh[0] is not None:
                product = product + bh[0]
            new = self.compose_step(a[t], product, *states)
            y = new[0]
            if self.mask is not None:
                here = self.mask[t][:, None]
                y = where(here, y, 0.0)
                new = [where(here, s, s0) for s, s0 in zip(new, states, strict=True)]
            ys.append(y)
            states = new
        y = stack(ys) if ys else as_variable(xp.zeros((0, N, H), work))
        return tuple([cast(v, dtype) for v in (y, *states)])


def _sum_of_rows(x):
    return x.sum(axis=0) if isinstance(x, np.ndarray) else sum_to_array(x, x.shape[1:])


# =============================================================================
# Arguments
# =============================================================================


def run(
    f: type[Recurrence],
    function: str,
    gates: int,
    inputs: dict[str, Any],
    lengths: ArrayLike | None,
    mask: ArrayLike | None,
) -> tuple[Variable, ...]:
    """Check the arguments of a sequence and compute it.

    Raises:
        TypeError: ``x``, ``Wx`` or ``Wh`` is None, ``lengths`` are no integers, or
            ``mask`` is not boolean or on another device.
        ValueError: The shapes do not fit, a length is outside [0, T], or both
            ``lengths`` and ``mask`` are given.
    """
    for name in ("x", "Wx", "Wh"):
        if inputs[name] is None:
            raise TypeError(f"{function}: expected an array as {name}, got None")
    v: dict[str, Any] = {
        k: None if a is None else as_variable(a) for k, a in inputs.items()
    }
    x, Wx, Wh = v["x"], v["Wx"], v["Wh"]
    G = "" if gates == 1 else str(gates)
    if (
        x.ndim != 3
        or Wh.ndim != 2
        or Wh.shape[1] != gates * len(Wh)
        or Wx.shape != (x.shape[2], gates * len(Wh))
    ):
        raise ValueError(
            f"{function}: expected x (T, N, I), Wx (I, {G}H) and Wh (H, {G}H), got x "
            f"of shape {x.shape}, Wx of shape {Wx.shape} and Wh of shape {Wh.shape}"
        )
    N, H = x.shape[1], len(Wh)
    for name, a in v.items():
        if name in ("x", "Wx", "Wh") or a is None:
            continue
        shape = (N, H) if name in ("h", "c") else (gates * H,)
        if a.shape != shape:
            raise ValueError(
                f"{function}: expected {name} of shape {shape} or None, got {a.shape}"
            )
    return f(_as_mask(function, x, lengths, mask))(*v.values())


def _as_mask(
    function: str, x: Variable, lengths: ArrayLike | None, mask: ArrayLike | None
) -> Array | None:
    """Booleans (T, N), False in the padding; None where there is no padding."""
    if lengths is None and mask is None:
        return None
    T, N = x.shape[:2]
    xp = cuda.get_array_module(x)
    if lengths is None:
        mask = as_variable(mask).data
        if mask.dtype.kind != "b":
            raise TypeError(
                f"{function}: expected a boolean mask, got dtype {mask.dtype}"
            )
        if mask.shape != (T, N):
            raise ValueError(
                f"{function}: expected mask of shape {(T, N)}, got {mask.shape}"
            )
        if cuda.get_array_module(mask) is not xp:
            cuda.check_one_device(function, (x, mask))
        return mask
    if mask is not None:
        raise ValueError(f"{function}: expected lengths or mask, got both")
    if isinstance(lengths, Variable):
        lengths = lengths.data
    if not cuda.is_array(lengths):
        lengths = np.asarray(lengths)
    if lengths.dtype.kind not in "iu":
        raise TypeError(
            f"{function}: expected integer lengths, got dtype {lengths.dtype}"
        )
    fit = lengths.shape == (N,)
    # On a GPU, which would have to be waited for, one below 0 counts as 0, one above T
    # as T.
    if fit and N and isinstance(lengths, np.ndarray):
        fit = 0 <= lengths.min() <= lengths.max() <= T
    if not fit:
        raise ValueError(
            f"{function}: expected N = {N} lengths in [0, {T}], got {lengths}"
        )
    return xp.arange(T)[:, None] < xp.asarray(lengths)


def one_step(function: str, x: ArrayLike) -> Variable:
    """(N, I) as a sequence (1, N, I) of one step.

    Raises:
        ValueError: ``x`` has not two axes.
    """
    x = as_variable(x)
    if x.ndim != 2:
        raise ValueError(f"{function}: expected x of shape (N, I), got {x.shape}")
    return reshape(x, (1, *x.shape))
