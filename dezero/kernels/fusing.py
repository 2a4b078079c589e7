"""What a fused kernel is made of: parameters and a body for CuPy, and its twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dezero import cuda

# Half precision is only stored: Wide<T>::type is what to compute in.
WIDE = """
template<typename T> struct Wide { typedef T type; };
template<> struct Wide<float16> { typedef float type; };
"""
# All that the bodies call.
PREAMBLE = (
    WIDE
    + """
template<typename W> struct Pair {
    W x, y;
    __device__ Pair() {}
    __device__ Pair(W x, W y = W(0)) : x(x), y(y) {}
    __device__ Pair operator+(const Pair& p) const { return Pair(x + p.x, y + p.y); }
};
// Maximum x, and y = sum(exp(s - x)) of what has been seen so far.
template<typename W> __device__ Pair<W> softmax_sum(Pair<W> a, Pair<W> b) {
    W m = a.x > b.x || a.x != a.x ? a.x : b.x;  // NaN stays
    W z = m == W(-CUDART_INF) ? W(0) : m;
    return Pair<W>(m, a.y * exp(a.x - z) + b.y * exp(b.x - z));
}
template<typename W> __device__ W sigmoid(W x) { return W(1) / (W(1) + exp(-x)); }
"""
)


class Kernel:
    """A function on arrays of a GPU that takes one launch.

    It is called with its inputs, and then with its outputs where it changes arrays that
    are there; without them it makes new ones and returns them.

    Args:
        kind: The class of CuPy that compiles it, ``"ElementwiseKernel"`` or
            ``"ReductionKernel"``.
        twin: The same on arrays of NumPy. It takes all parameters by the same names,
            inputs first, and writes into the outputs. It says in formulas what the
            kernel computes, and computes it where the tests have no GPU.
        **parts: What that class is made of, as C++.
    """

    def __init__(self, kind: str, twin: Callable[..., None], **parts: str) -> None:
        self.kind, self.twin = kind, twin
        name = f"dezero_{twin.__name__}"
        self.parts = {**parts, "name": name, "preamble": PREAMBLE}
        self.__doc__ = twin.__doc__
        KERNELS[name] = self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.parts['name']}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run it on a GPU, compiled when it is first needed."""
        return cuda.compiled(self)(*args, **options)


#: All kernels by the names that CuPy, and a profile, knows them by.
KERNELS: dict[str, Kernel] = {}


def elementwise(
    inputs: str, outputs: str, body: str
) -> Callable[[Callable[..., None]], Kernel]:
    """Make a twin into a kernel whose ``body`` is run for each element.

    Inputs and outputs are written as CuPy wants them, ``"T x, W lr"``: capitals stand
    for dtypes, which an array in that place decides, and a number takes. ``raw`` arrays
    are indexed by the body, others broadcast.

    A number and its complement, beta and 1 - beta, are two parameters: in single
    precision ``1 - 0.999f`` is wrong in the fifth digit.
    """

    def make(twin: Callable[..., None]) -> Kernel:
        parts = {"in_params": inputs, "out_params": outputs, "operation": body}
        return Kernel("ElementwiseKernel", twin, **parts)

    return make


def reduction(
    inputs: str, outputs: str, each: str, join: str, end: str, start: str, kept: str
) -> Callable[[Callable[..., None]], Kernel]:
    """Make a twin into a kernel that reduces its inputs along axes.

    Args:
        inputs: As in :func:`elementwise`.
        outputs: Likewise.
        each: What an element counts as.
        join: What ``a`` and ``b``, two of these, make together.
        end: Writes what the last one, ``a``, means, into the outputs. Of several
            outputs CuPy makes and returns the first only: all must be given then.
        start: The one that changes nothing.
        kept: The type of a and b.
    """

    def make(twin: Callable[..., None]) -> Kernel:
        parts = {"in_params": inputs, "out_params": outputs, "map_expr": each}
        parts |= {"reduce_expr": join, "identity": start}
        parts |= {"post_map_expr": " ".join(end.split())}  # it becomes a macro
        return Kernel("ReductionKernel", twin, **parts, reduce_type=kept)

    return make
