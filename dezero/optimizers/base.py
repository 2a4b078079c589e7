"""Optimizer: parameters, hooks, state and work in blocks, which all rules share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array

Hook = Callable[[list[Variable]], object]

# Elements per block: a piece of a parameter, its gradient and its state stay in the
# cache of one core while a rule makes its several passes over them.
BLOCK = 32768


class Optimizer:
    """Changes parameters by their gradients.

    A subclass writes :meth:`update_one`. Where the rule needs memory of the past, it
    also writes :meth:`init_state`, and asks :meth:`state` for it.

    ``target`` is what :meth:`setup` got, ``hooks`` the list of functions that see the
    parameters before each update.
    """

    def __init__(self) -> None:
        self.target: Any = None
        self.hooks: list[Hook] = []
        self._state: dict[Variable, dict[str, Any]] = {}
        self._scratch: dict[Any, Array] = {}

    def setup(self, target: Any) -> Self:
        """Take the parameters to optimize, and forget the state of earlier ones.

        Args:
            target: A Layer, whose parameters are looked up anew at every update, or an
                iterable of Parameters.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: ``target`` is neither.
            ValueError: ``target`` has no parameters.
        """
        if not hasattr(target, "params") or isinstance(target, type):
            target = self._listed(target)
        old, self.target = self.target, target
        if not self.params():
            self.target = old
            raise ValueError(
                f"{type(self).__name__}.setup: expected parameters, got "
                f"{type(target).__name__} without any"
            )
        self._state = {}
        return self

    def _listed(self, target: Any) -> list[Variable]:
        name = f"{type(self).__name__}.setup"
        wanted = "expected a Layer or an iterable of Parameters"
        if isinstance(target, Variable):
            raise TypeError(
                f"{name}: {wanted}, got a single {type(target).__name__}; "
                "write setup([p])"
            )
        try:
            params = list(target)
        except TypeError:
            is_class = isinstance(target, type)
            got = f"the class {target.__name__}" if is_class else type(target).__name__
            raise TypeError(f"{name}: {wanted}, got {got}") from None
        for p in params:
            if not isinstance(p, Variable):
                raise TypeError(f"{name}: {wanted}, got {type(p).__name__} among them")
        return params

    def params(self) -> list[Variable]:
        """All parameters of the target, each once.

        Raises:
            RuntimeError: ``setup`` was not called.
        """
        if self.target is None:
            name = type(self).__name__
            raise RuntimeError(
                f"{name}: expected setup(model) to come first, got no target"
            )
        found = self.target if isinstance(self.target, list) else self.target.params()
        return list(dict.fromkeys(found))

    def cleargrads(self) -> None:
        """Forget the gradients of all parameters."""
        for p in self.params():
            p.cleargrad()

    def zero_grad(self) -> None:
        """The same: a cleared gradient counts as zero."""
        self.cleargrads()

    def add_hook(self, hook: Hook) -> Self:
        """Let ``hook`` see (and change) the gradients before every update.

        Args:
            hook: Called with the list of parameters that have a gradient. Hooks run in
                the order in which they were added; a parameter whose gradient one of
                them removes is not updated and not seen by the next.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: ``hook`` is no function.
        """
        if not callable(hook):
            raise TypeError(
                f"{type(self).__name__}.add_hook: expected a function of the list of "
                f"parameters, got {type(hook).__name__}"
            )
        self.hooks.append(hook)
        return self

    def update(self) -> None:
        """Change every parameter that has a gradient, in place.

        Raises:
            RuntimeError: ``setup`` was not called.
            TypeError: A parameter is not floating, or on another device than its
                gradient.
            ValueError: A parameter and its gradient differ in shape, or a parameter
                with a gradient has no data.
        """
        params = [p for p in self.params() if p.grad is not None]
        for p in params:  # all are checked before the first is changed
            self._check(p)
        for hook in self.hooks:
            hook(params)
            params = [p for p in params if p.grad is not None]
            for p in params:
                self._check(p)
        for p in params:
            self.update_one(p)

    def update_one(self, param: Any) -> None:
        """Change one parameter by its gradient; every rule writes its own."""
        raise TypeError(
            f"{type(self).__name__}: expected a method update_one, found none"
        )

    def init_state(self, grad: Array) -> dict[str, Any]:
        """What the rule remembers of a parameter, before its first update.

        Args:
            grad: Its first gradient, in the dtype in which the rule computes.

        Returns:
            Arrays of the gradient's shape, or numbers, by name.
        """
        return {}

    def state(self, param: Variable) -> dict[str, Any]:
        """What the rule remembers of ``param``, at first from :meth:`init_state`.

        Raises:
            ValueError: The parameter has changed its shape since then.
        """
        state = self._state.get(param)
        if state is None:
            assert param.grad is not None
            grad = param.grad.data.astype(working_dtype(param.data), copy=False)
            state = self._state[param] = self.init_state(grad)
        xp = cuda.get_array_module(param.data)
        for name, x in state.items():
            if not cuda.is_array(x):
                continue
            if x.shape != param.shape:
                raise ValueError(
                    f"{type(self).__name__}.update: expected {self._name(param)} to "
                    f"keep its shape {x.shape}, got {param.shape}; call setup again"
                )
            if (
                cuda.get_array_module(x) is not xp
            ):  # the parameter moved to another device
                state[name] = cuda.as_numpy(x) if xp is np else cuda.as_cupy(x)
        return state

    def blocks(self, param: Variable, *states: Array) -> Iterator[tuple[Array, ...]]:
        """Walk a parameter in flat pieces that fit the cache.

        What is written into the pieces of the parameter and of the states stays. For a
        rule that works element by element it does not matter where the cuts are.

        Args:
            param: With a gradient of its shape.
            states: C-contiguous arrays of its shape, from :meth:`state`.

        Yields:
            (p, g, *s, tmp): pieces of data, gradient and states, and scratch memory,
            all 1-d and of the same size. All but p have the dtype to compute in.
        """
        data = param.data
        assert param.grad is not None
        xp = cuda.get_array_module(data)
        dtype = working_dtype(data)
        writable = getattr(data.flags, "writeable", True)
        in_place = data.flags.c_contiguous and writable
        # flatten copies: for arrays that have no flat view or cannot be written to
        p = data.reshape(-1) if in_place else data.flatten()
        g = param.grad.data.reshape(-1)
        flat = [s.reshape(-1) for s in states]
        step = (
            BLOCK if xp is np else max(p.size, 1)
        )  # one launch serves a whole GPU array
        tmp = self._scratch.get((xp, dtype))
        if tmp is None or tmp.size < min(step, p.size):
            tmp = self._scratch[xp, dtype] = xp.empty(step, dtype)
        for i in range(0, p.size, step):
            s = slice(i, i + step)
            piece = p[s]
            gradient = g[s].astype(dtype, copy=False)
            yield piece, gradient, *[x[s] for x in flat], tmp[: piece.size]
        if not in_place:
            p = p.reshape(data.shape)
            if writable:
                data[...] = p
            else:
                param.data = p

    def __getstate__(self) -> dict[str, Any]:
        return {
            **vars(self),
            "_scratch": {},
        }  # its keys are modules, which have no pickle

    def _check(self, param: Variable) -> None:
        grad: Any = param.grad
        name = f"{type(self).__name__}.update"
        if param.data is None:
            raise ValueError(
                f"{name}: expected {self._name(param)} to have data, as it has a "
                "gradient, got None"
            )
        if not cuda.is_array(param.data):
            # w.data - lr * g makes a scalar of a 0-d array
            param.data = np.asarray(param.data)
        if grad.data.shape != param.data.shape:
            raise ValueError(
                f"{name}: expected the gradient of {self._name(param)} to have its "
                f"shape {param.shape}, got {grad.shape}"
            )
        if param.data.dtype.kind != "f":
            raise TypeError(
                f"{name}: expected {self._name(param)} to be floating, "
                f"got dtype {param.dtype}"
            )
        xp = cuda.get_array_module(param.data)
        if cuda.get_array_module(grad.data) is not xp:
            raise TypeError(
                f"{name}: expected the gradient of {self._name(param)} to be an array "
                f"of {xp.__name__}, as its data is, got one of the other library; move "
                "the model before the forward pass"
            )

    def _name(self, param: Variable) -> str:
        """How to call a parameter in a message: by its place in the target."""
        if hasattr(self.target, "named_params"):
            for name, p in self.target.named_params():
                if p is param:
                    return f"parameter {name!r}"
        index = next(i for i, p in enumerate(self.params()) if p is param)
        return f"parameter {index}" + (f" ({param.name!r})" if param.name else "")


def check_number(
    optimizer: object, name: str, value: Any, low: float = 0.0, high: float = math.inf
) -> float:
    """``value`` if it is a number in [low, high).

    Raises:
        TypeError: It is no number.
        ValueError: It is outside, or not a number in the sense of NaN.
    """
    owner = type(optimizer).__name__
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        several = isinstance(value, Iterable) and not isinstance(value, str)
        is_target = several or hasattr(value, "params")
        hint = "; parameters are given to setup" if is_target else ""
        raise TypeError(
            f"{owner}: expected {name} to be a number, got {type(value).__name__}{hint}"
        )
    if not low <= value < high:
        raise ValueError(
            f"{owner}: expected {name} in [{low:g}, {high:g}), got {value}"
        )
    return float(value)


def working_dtype(data: Array) -> np.dtype:
    """The dtype to compute in: half precision would lose eps and small steps."""
    return np.dtype(np.float32) if data.dtype == np.float16 else data.dtype
