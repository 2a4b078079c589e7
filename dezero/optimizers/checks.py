"""What an update refuses, before the first parameter is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.kernels import multi_tensor
from dezero.kernels import optimizers as kernels

if TYPE_CHECKING:
    from dezero.optimizers.base import Optimizer


def check_parameter(optimizer: Optimizer, param: Variable) -> None:
    """Refuse a parameter that cannot be updated by its gradient.

    Raises:
        TypeError: It is not floating, or on another device than its gradient.
        ValueError: It has another shape than its gradient, or no data.
    """
    grad: Any = param.grad
    name = f"{type(optimizer).__name__}.update"
    if param.data is None:
        raise ValueError(
            f"{name}: expected {name_of(optimizer, param)} to have data, as it has a "
            "gradient, got None"
        )
    if not cuda.is_array(param.data):
        # w.data - lr * g makes a scalar of a 0-d array
        param.data = np.asarray(param.data)
    if grad.data.shape != param.data.shape:
        raise ValueError(
            f"{name}: expected the gradient of {name_of(optimizer, param)} to have its "
            f"shape {param.shape}, got {grad.shape}"
        )
    if param.data.dtype.kind != "f":
        raise TypeError(
            f"{name}: expected {name_of(optimizer, param)} to be floating, "
            f"got dtype {param.dtype}"
        )
    xp = cuda.get_array_module(param.data)
    if cuda.get_array_module(grad.data) is not xp:
        raise TypeError(
            f"{name}: expected the gradient of {name_of(optimizer, param)} to be an "
            f"array of {xp.__name__}, as its data is, got one of the other library; "
            "move the model before the forward pass"
        )


def refuse_nonfinite(optimizer: Optimizer, params: list[Variable]) -> None:
    """Refuse gradients that are infinite or NaN.

    Raises:
        ValueError: There are some; the message names them all.
    """
    grads: list[Any] = [p.grad.data for p in params if p.grad is not None]
    devices = {cuda.device_of(g) for g in grads}
    if len(devices) == 1 and devices != {"cpu"}:
        # A GPU is waited for once, not for each of them.
        if not float(multi_tensor.reduced(kernels.nonfinite, grads).sum()):
            return
    bad = [
        name_of(optimizer, p)
        for p, g in zip(params, grads, strict=True)
        if not cuda.get_array_module(g).isfinite(g).all()
    ]
    if bad:
        raise ValueError(
            f"{type(optimizer).__name__}.update: expected finite gradients, got "
            f"infinity or NaN in that of {', '.join(bad)}"
        )


def name_of(optimizer: Optimizer, param: Variable) -> str:
    """How to call a parameter in a message: by its place in the target."""
    named = optimizer.named_params()
    name = next(name for name, p in named.items() if p is param)
    if hasattr(optimizer.target, "named_params") or not name.isdigit():
        return f"parameter {name!r}"
    return f"parameter {name}" + (f" ({param.name!r})" if param.name else "")
