"""Optimizer: parameters, groups, hooks and state, which all rules share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.optimizers import states
from dezero.optimizers.arguments import check_number
from dezero.optimizers.blocks import Blocks
from dezero.optimizers.checks import check_parameter, name_of, refuse_nonfinite
from dezero.optimizers.gathering import Gathering
from dezero.optimizers.moving import move_optimizer
from dezero.optimizers.states import hyperparameters, working_dtype
from dezero.optimizers.targets import (
    as_groups,
    as_target,
    has_groups,
    members,
    named_members,
)

Hook = Callable[[list[Variable]], object]


class Optimizer(Blocks, Gathering):
    """Changes parameters by their gradients.

    A subclass writes :meth:`update_one`. Where the rule needs memory of the past, it
    also writes :meth:`init_state`, and asks :meth:`state` for it.

    ``target`` is what :meth:`setup` got, ``groups`` the same as a list of dicts, and
    ``hooks`` the list of functions that see the parameters before each update. Every
    number that the constructor takes may be changed between updates, and differ from
    group to group.

    With ``check_finite = True``, :meth:`update` refuses gradients that are not finite.
    """

    #: Upper bounds of the numbers that have one, which is itself excluded.
    below: ClassVar[dict[str, float]] = {}
    check_finite = False

    def __init__(self) -> None:
        super().__init__()
        self.target: Any = None
        self.groups: list[dict[str, Any]] = []
        self.hooks: list[Hook] = []
        self._state: dict[Variable, dict[str, Any]] = {}

    def number(self, name: str, value: Any) -> float:
        """``value`` if it is a number that ``name`` may have, from 0 to its bound."""
        return check_number(self, name, value, high=self.below.get(name, math.inf))

    def setup(self, target: Any) -> Self:
        """Take the parameters to optimize, and forget the state of earlier ones.

        Args:
            target: A Layer, whose parameters are looked up anew at every update, or an
                iterable of Parameters. Or a list of groups, dicts with such a target
                under ``"params"`` and numbers of their own:
                ``[{"params": model.head}, {"params": model.body, "lr": 1e-4}]``.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: ``target`` is none of them, or a group has a wrong value.
            ValueError: ``target`` or a group has no parameters, a parameter is in two
                groups, or a group has a name that is unknown or a value out of range.
        """
        name = f"{type(self).__name__}.setup"
        if has_groups(target):
            target = groups = as_groups(name, target, self._own_number)
        else:
            target = as_target(name, target)
            groups = [{"params": target}]
        self.target, self.groups, self._state = target, groups, {}
        return self

    def _own_number(self, name: str, value: Any) -> float | bool:
        """The value that a group gives for ``name``, checked."""
        known = hyperparameters(self)
        if name not in known:
            raise ValueError(
                f"{type(self).__name__}.setup: expected in a group some of "
                f"{', '.join(known)}, got {name!r}"
            )
        is_switch = isinstance(known[name], bool)
        return bool(value) if is_switch else self.number(name, value)

    def params(self) -> list[Variable]:
        """All parameters of the target, each once.

        Raises:
            RuntimeError: ``setup`` was not called.
        """
        return list(self._group_of())

    def named_params(self) -> dict[str, Variable]:
        """The same by name, as ``state_dict`` uses them.

        Of a Layer the names are its own (``blocks/0/W``), of other targets numbers;
        those of groups begin with the number of the group (``1/blocks/0/W``).

        Raises:
            RuntimeError: ``setup`` was not called.
            ValueError: Two parameters have the same name.
        """
        self._require_target()
        named: dict[str, Variable] = {}
        for i, group in enumerate(self.groups):
            prefix = f"{i}/" if self.target is self.groups else ""
            for name, p in named_members(group["params"]):
                if named.setdefault(prefix + name, p) is not p:
                    raise ValueError(
                        f"{type(self).__name__}: expected a name of its own for every "
                        f"parameter, got two named {name!r}"
                    )
        return named

    def _group_of(self) -> dict[Variable, dict[str, Any]]:
        """The group of each parameter; in order, each once."""
        self._require_target()
        found: dict[Variable, dict[str, Any]] = {}
        for group in self.groups:
            for p in members(group["params"]):
                found.setdefault(p, group)
        return found

    def _require_target(self) -> None:
        if not self.groups:
            name = type(self).__name__
            raise RuntimeError(
                f"{name}: expected setup(model) to come first, got no target"
            )

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
                with a gradient has no data. With ``check_finite``: gradients are
                infinite or NaN; no parameter is changed then.
        """
        group_of = self._group_of()
        params = self._prepared(group_of)
        with self.gathering(self.update_one):
            for p in params:
                group = group_of[p]
                if len(group) == 1:  # nothing but "params"
                    self.update_one(p)
                else:
                    with self._using(group):
                        self.update_one(p)

    def step(self) -> None:
        """The same, by another familiar name."""
        self.update()

    def _prepared(self, all_params: Iterable[Variable]) -> list[Variable]:
        """The parameters to update, after the hooks, all checked."""
        params = [p for p in all_params if p.grad is not None]
        for p in params:  # all are checked before the first is changed
            check_parameter(self, p)
        for hook in self.hooks:
            hook(params)
            params = [p for p in params if p.grad is not None]
            for p in params:
                check_parameter(self, p)
        if self.check_finite:
            refuse_nonfinite(self, params)
        return params

    @contextmanager
    def _using(self, group: dict[str, Any]) -> Iterator[None]:
        """Let a group's own numbers stand in place of the optimizer's."""
        own = {name: value for name, value in group.items() if name != "params"}
        common = {name: getattr(self, name) for name in own}
        try:
            vars(self).update(own)
            yield
        finally:
            vars(self).update(common)

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
            with cuda.on_device_of(param.data):
                grad = param.grad.data.astype(working_dtype(param.data), copy=False)
                state = self._state[param] = self.init_state(grad)
        for name, x in state.items():
            if not cuda.is_array(x):
                continue
            if x.shape != param.shape:
                raise ValueError(
                    f"{type(self).__name__}.update: expected {name_of(self, param)} to "
                    f"keep its shape {x.shape}, got {param.shape}; call setup again"
                )
            # where the parameter has moved to another device
            state[name] = cuda.beside(x, param.data)
        return state

    def to_gpu(self) -> Self:
        """Move what the rule remembers to the current GPU.

        State follows its parameters at the next update anyway; this moves it now, with
        the scratch memory given up. Hooks that have a method ``to_gpu`` are moved by
        it. If a move fails, the state stays as it was.

        Returns:
            The optimizer itself.

        Raises:
            RuntimeError: No usable CuPy, where there is something to move.
        """
        move_optimizer(self, "to_gpu", cuda.as_cupy)
        return self

    def to_cpu(self) -> Self:
        """The same to the CPU, for example to make room on a GPU.

        Returns:
            The optimizer itself.
        """
        move_optimizer(self, "to_cpu", cuda.as_numpy)
        return self

    def state_dict(self) -> dict[str, Any]:
        """What the rule remembers, to go on later as if it had never stopped.

        Returns:
            Dicts and lists of copied NumPy arrays, numbers and text. They hold the
            class, the numbers of the optimizer and of its groups, the names of the
            parameters (see :meth:`named_params`), the state of each, and that of the
            hooks that have a ``state_dict`` too. The weights are not among it.

        Raises:
            RuntimeError: ``setup`` was not called.
        """
        return states.state_dict(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave, after ``setup``.

        Arrays are copied to the device and into the dtype that the rule has for each
        parameter.

        Raises:
            RuntimeError: ``setup`` was not called.
            TypeError: ``state`` is no such dict.
            ValueError: It does not fit; the message lists everything that does not,
                and nothing is changed.
        """
        states.load_state_dict(self, state)
