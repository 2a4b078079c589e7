"""Hooks: what an optimizer does to the gradients before an update.

A hook is called with the list of parameters that have a gradient. It gives a parameter
a new gradient by assigning one, so that nobody's array is changed, or removes it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import multi_tensor
from dezero.kernels import optimizers as kernels
from dezero.optimizers.arguments import check_number
from dezero.optimizers.gathering import Together, is_simple
from dezero.optimizers.states import working_dtype


class WeightDecay:
    """Pull weights towards zero: ``g <- g + rate * p``.

    That is the gradient of the penalty ``rate / 2 * sum(p**2)`` added to the loss.

    Args:
        rate: Strength of the penalty, at least 0.

    Raises:
        ValueError: ``rate`` is negative.
    """

    def __init__(self, rate: float) -> None:
        self.rate = check_number(self, "rate", rate)

    def __call__(self, params: list[Variable]) -> None:
        """Add the penalty's gradient."""
        rate = float(self.rate)
        together = Together()
        for p in params:
            assert p.grad is not None
            x, g = p.data, p.grad.data
            if is_simple(x) and is_simple(g) and x.dtype == g.dtype:
                together.add(p, kernels.decayed, x, g, rate)
            else:
                penalty = _times(x, rate)
                penalty += g
                p.grad = _as_gradient(penalty, p)
        together.run()


class ClipGrad:
    """Bound the length of the gradient: ``g <- g * min(1, max_norm / norm)``.

    ``norm`` is the Euclidean norm of all gradients together, so the direction stays
    (Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural
    networks", 2013). A norm that is not finite leaves the gradients as they are. On a
    GPU neither does one above 1e154 clip, whose square is infinite in double precision.

    Args:
        max_norm: Largest norm, above 0.

    Raises:
        ValueError: ``max_norm`` is not positive.
    """

    def __init__(self, max_norm: float) -> None:
        self.max_norm = check_number(self, "max_norm", max_norm)
        if self.max_norm == 0:
            raise ValueError(
                f"ClipGrad: expected max_norm to be positive, got {max_norm}"
            )

    def __call__(self, params: list[Variable]) -> None:
        """Scale all gradients down together."""
        grads: list[Array] = [p.grad.data for p in params if p.grad is not None]
        if any([not isinstance(g, np.ndarray) for g in grads]):
            if any([isinstance(g, np.ndarray) for g in grads]):
                cuda.check_one_device(type(self).__name__, grads)
            self._clip_on_gpu(params, grads)
            return
        norm = math.sqrt(math.fsum([_square_sum(g) for g in grads]))
        if math.isinf(norm):  # perhaps only the squares were too large for float32
            largest = max([float(abs(g).max()) for g in grads if g.size])
            if math.isinf(largest):
                return
            squares = [_square_sum(g / largest) for g in grads]
            norm = largest * math.sqrt(math.fsum(squares))
        if not norm > self.max_norm:
            return
        scale = self.max_norm / norm
        for p, g in zip(params, grads, strict=True):
            p.grad = _as_gradient(_times(g, scale), p)

    def _clip_on_gpu(self, params: list[Variable], grads: list[Array]) -> None:
        """The same without waiting: the host never learns the norm."""
        squares = multi_tensor.reduced(kernels.square_sum, grads)
        scale = kernels.clipping_scale(squares.sum(), float(self.max_norm))
        one = scale.reshape(1)
        together = Together()
        for p, g in zip(params, grads, strict=True):
            if is_simple(g):
                together.add(p, kernels.scaled, g, one)
            else:
                p.grad = _as_gradient(_times(g, scale), p)
        together.run()


class ClipGradValue:
    """Bound every element of the gradient: ``g <- min(max(g, -limit), limit)``.

    Unlike :class:`ClipGrad` this may turn the direction. Infinity becomes the limit,
    NaN stays.

    Args:
        limit: Largest absolute value, above 0.

    Raises:
        ValueError: ``limit`` is not positive.
    """

    def __init__(self, limit: float) -> None:
        self.limit = check_number(self, "limit", limit)
        if self.limit == 0:
            raise ValueError(
                f"ClipGradValue: expected limit to be positive, got {limit}"
            )

    def __call__(self, params: list[Variable]) -> None:
        """Clip all gradients."""
        together = Together()
        for p in params:
            assert p.grad is not None
            g = p.grad.data
            dtype = _dtype_for(g)
            # A limit that the gradient's dtype cannot hold would overflow.
            largest = np.finfo(g.dtype if g.dtype.kind == "f" else dtype).max
            limit = min(float(self.limit), float(largest))
            if is_simple(g):
                together.add(p, kernels.bounded, g, limit)
            else:
                xp = cuda.get_array_module(g)
                p.grad = _as_gradient(xp.clip(g.astype(dtype), -limit, limit), p)
        together.run()


class GradientNoise:
    """Add fading noise: ``g <- g + n``, n normal of variance ``eta / (1 + t)**gamma``.

    t counts the calls, from 0; a new draw for every parameter comes from the global
    generator of the array module. Neelakantan et al., "Adding Gradient Noise Improves
    Learning for Very Deep Networks" (2015), equation 1.

    Args:
        eta: Variance of the first noise, at least 0; the paper takes 0.01, 0.3 or 1.
        gamma: How fast the variance falls, at least 0.

    Raises:
        ValueError: A value is outside its range.
    """

    def __init__(self, eta: float = 0.01, gamma: float = 0.55) -> None:
        self.eta = check_number(self, "eta", eta)
        self.gamma = check_number(self, "gamma", gamma)
        self.t = 0

    def __call__(self, params: list[Variable]) -> None:
        """Add noise to all gradients."""
        deviation = math.sqrt(float(self.eta) / (1 + self.t) ** float(self.gamma))
        self.t += 1
        for p in params:
            assert p.grad is not None
            xp = cuda.get_array_module(p.grad.data)
            noise = xp.asarray(xp.random.standard_normal(p.grad.shape))
            g = _times(noise.astype(_dtype_for(p.grad.data), copy=False), deviation)
            g += p.grad.data
            p.grad = _as_gradient(g, p)

    def state_dict(self) -> dict[str, Any]:
        """How often it was called."""
        return {"t": self.t}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.t = int(state["t"])


class FreezeParam:
    """Keep parameters as they are: removes their gradients before the update.

    Args:
        *layers_or_params: Layers, all of whose parameters stay, and single Parameters.

    Raises:
        TypeError: Something is neither.
    """

    def __init__(self, *layers_or_params: Any) -> None:
        for x in layers_or_params:
            is_layer = hasattr(x, "params") and not isinstance(x, type)
            if not isinstance(x, Variable) and not is_layer:
                raise TypeError(
                    "FreezeParam: expected Layers and Parameters, got "
                    f"{type(x).__name__}"
                )
        self.frozen = layers_or_params

    def __call__(self, params: list[Variable]) -> None:
        """Forget the gradients of what is frozen."""
        for x in self.frozen:
            for p in [x] if isinstance(x, Variable) else x.params():
                p.cleargrad()


def _times(x: Array, factor: float) -> Any:
    """``x * factor``, not in half precision, where small factors are 0."""
    return cuda.get_array_module(x).multiply(x, factor, dtype=_dtype_for(x))


def _dtype_for(x: Array) -> np.dtype:
    """The dtype to compute in: users assign gradients of integers too."""
    return working_dtype(x) if x.dtype.kind == "f" else np.dtype(np.float64)


def _as_gradient(g: Any, p: Variable) -> Array:
    """``g`` as an array, for 0-d arithmetic makes scalars, in the dtype of its like.

    That is the old gradient's, or the parameter's where the old one was of integers.
    """
    assert p.grad is not None
    dtype = p.grad.dtype if p.grad.dtype.kind == "f" else p.dtype
    return cuda.get_array_module(p.data).asarray(g, dtype=dtype)


def _square_sum(g: Array) -> float:
    """Sum of the squares, infinite where it is too large for the dtype."""
    flat = g.reshape(-1).astype(_dtype_for(g), copy=False)
    with np.errstate(over="ignore"):
        return float(cuda.get_array_module(flat).dot(flat, flat))
