"""The loop over time on a GPU: a product of matrices and one launch for each step.

The host has little to do for a step, and a GPU waits for it where N * H is small: the
kernels find their step in the arrays of all by its number, without a view of it.
"""

from typing import Any

from dezero import cuda
from dezero.cuda import Array


def steps(f: Any, a: Array, states: list[Array], Wh: Array, bh: Array | None) -> Any:
    """Fill ``states`` (T + 1, N, H), whose first ones are there; ``a`` becomes gates.

    Args:
        f: The :class:`~dezero.functions.recurrence.Recurrence`.
        a: (T, N, G*H), the product of the input.
        states: One or two.
        Wh: (H, G*H).
        bh: (G*H,), or None.

    Returns:
        What is kept besides the gates (T, N, H), or None.
    """
    xp = cuda.get_array_module(a)
    kernel, _ = f.kernels
    (T, N, GH), H = a.shape, len(Wh)
    kept = [xp.empty((T, N, H), a.dtype)] * f.keeps
    bias = [xp.zeros(GH, a.dtype) if bh is None else bh] if f.apart else []
    product = xp.empty((N, GH), a.dtype)
    mask = _mask(f, xp)
    for t in range(T):
        xp.matmul(states[0][t], Wh, out=product)
        kernel(product, *bias, *mask, t, H, a, *states, *kept, size=N * H)
    return kept[0] if kept else None


def steps_back(
    f: Any, gy: Array, gstates: list[Array], Wh: Array
) -> tuple[list[Array], Array, Array]:
    """The gradients of the first states, and of both products.

    Args:
        f: As above, after :func:`steps`.
        gy: (T, N, H).
        gstates: Those of the last states.
        Wh: (H, G*H).
    """
    xp = cuda.get_array_module(gy)
    a = f.gates
    _, kernel = f.kernels
    (T, N, _), H = a.shape, len(Wh)
    ga = xp.empty_like(a)
    gu = xp.empty_like(a) if f.apart else ga
    gates = [ga, gu] if f.apart else [ga]
    gy = xp.ascontiguousarray(gy, a.dtype)
    through, *others = [g.astype(a.dtype, order="C") for g in gstates]
    # What reaches the first state not through the product, which the kernels know.
    rest = xp.zeros((N, H), a.dtype)
    mask, seen, back = _mask(f, xp), f.seen(), Wh.T
    for t in reversed(range(T)):
        inputs, outputs = (*seen, gy, through, *mask, t, H), (*others, rest, *gates)
        kernel(*inputs, *outputs, size=N * H)
        xp.matmul(gu[t], back, out=through)  # (N, G*H) (G*H, H) -> (N, H)
    if f.apart or f.mask is not None:
        through += rest
    return [through, *others], ga, gu


def _mask(f: Any, xp: Any) -> tuple[Array, bool]:
    """The mask, if there is one."""
    if f.mask is None:
        return xp.empty(1, bool), False
    return xp.ascontiguousarray(f.mask), True
