"""Fused kernels: checked as CuPy checks them, and then computed by their twins."""

import math

import numpy as np

from dezero.kernels import KERNELS

from .arrays import ndarray
from .wrapping import is_array, unwrap


class Parameter:
    """One of ``"raw T x, float32 lr"``."""

    def __init__(self, text):
        *words, self.type, self.name = text.split()
        if words not in ([], ["raw"]):
            raise ValueError(f"Unknown keyword {words}")
        self.raw = bool(words)
        self.dtype = None if len(self.type) == 1 else np.dtype(self.type)


class Fused:
    """What both kinds of kernels have in common."""

    def __init__(self, in_params, out_params, name):
        self.inputs, self.outputs = (
            [Parameter(s) for s in text.split(",")] for text in (in_params, out_params)
        )
        if "i" in [p.name for p in self.inputs + self.outputs]:
            raise ValueError("Can not use 'i' as a parameter name")
        self.name = self.__name__ = name
        self._twin = KERNELS[name].twin

    def _split(self, args):
        n, m = len(self.inputs), len(self.outputs)
        if len(args) not in (n, n + m):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {n} "
                f"or {n + m} (with outputs), but given {len(args)}."
            )
        return list(args[:n]), list(args[n:])

    def _types(self, ins, outs):
        """The dtype that each letter stands for: arrays decide, numbers follow."""
        letters = {}
        pairs = [*zip(self.outputs, outs, strict=False)]
        for p, x in pairs + [*zip(self.inputs, ins, strict=True)]:
            if not is_array(x):
                if not isinstance(x, (bool, int, float, np.generic)):
                    raise TypeError(f"{self.name}: Unsupported type {type(x)}")
                continue
            expected = p.dtype or letters.setdefault(p.type, x.dtype)
            if x.dtype != expected:
                raise TypeError(f"Type is mismatched. {p.name} {x.dtype} {expected}")
        return [p.dtype or letters[p.type] for p in self.inputs + self.outputs]

    def _compute(self, ins, outs, types):
        """By the twin, which can write to nothing but the outputs."""
        xs = []
        for x, dtype in zip(ins, types, strict=False):
            x = x.view() if isinstance(x, np.ndarray) else np.asarray(x).astype(dtype)
            x.flags.writeable = False
            xs.append(x)
        with np.errstate(all="ignore"):
            self._twin(*xs, *outs)


class ElementwiseKernel(Fused):
    """A body for each element of the arrays that are not raw."""

    __module__ = "cupy"

    def __init__(self, in_params, out_params, operation, name="kernel", preamble=""):
        super().__init__(in_params, out_params, name)

    def __call__(self, *args, size=-1):
        ins, outs = self._split(args)
        params = self.inputs + self.outputs
        types = self._types(ins, outs)
        shapes = [
            x.shape
            for p, x in zip(params, args, strict=False)
            if is_array(x) and not p.raw
        ]
        if shapes and size != -1:
            raise ValueError("Specified 'size' can be used only if all are 'raw'")
        if not shapes and size == -1:
            raise ValueError("Loop size is undecided.")
        shape = np.broadcast_shapes(*shapes) if shapes else (size,)
        if not outs:
            if any([p.raw for p in self.outputs]):
                raise ValueError("Output array size is Undecided")
            outs = [ndarray(shape, t) for t in types[len(ins) :]]
        for p, y in zip(self.outputs, outs, strict=True):
            if not p.raw and y.shape != shape:
                raise ValueError("Out shape is mismatched")
        if 0 not in shape:  # else nothing is launched
            xs = [unwrap(x) for x in ins]
            self._compute(xs, [unwrap(y) for y in outs], types)
        return outs[0] if len(outs) == 1 else tuple(outs)


class ReductionKernel(Fused):
    """A sum, or the like, along axes; all of them where none are named."""

    __module__ = "cupy"

    def __init__(
        self,
        in_params,
        out_params,
        map_expr,
        reduce_expr,
        post_map_expr,
        identity,
        name="reduce_kernel",
        reduce_type=None,
        preamble="",
    ):
        super().__init__(in_params, out_params, name)

    def __call__(self, *args, axis=None, keepdims=False):
        ins, outs = self._split(args)
        types = self._types(ins, outs)
        shape = np.broadcast_shapes(*[x.shape for x in ins if is_array(x)])
        axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
        axes = [int(d) % len(shape) for d in axes]
        small = tuple([n for d, n in enumerate(shape) if d not in axes])
        shown = [(1,) * keepdims if d in axes else (n,) for d, n in enumerate(shape)]
        shown = sum(shown, ())
        if not outs:
            if len(self.outputs) > 1:
                raise TypeError("CuPy returns the first output only: pass all of them")
            outs = [ndarray(shown, types[-1])]
        if any([y.shape != shown for y in outs]):
            raise ValueError("Out shape is mismatched")
        if not outs[0].size:
            return outs[0]
        # A twin reduces the last axis: (*kept, reduced).
        order = [d for d in range(len(shape)) if d not in axes] + axes
        n = math.prod([shape[d] for d in axes])
        xs = [
            np.broadcast_to(unwrap(x), shape).transpose(order).reshape(*small, n)
            if is_array(x)
            else x
            for x in ins
        ]
        self._compute(xs, [unwrap(y).reshape(small) for y in outs], types)
        return outs[0]
