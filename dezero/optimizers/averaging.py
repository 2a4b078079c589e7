"""Averages of the weights over the course of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import multi_tensor
from dezero.kernels import optimizers as kernels
from dezero.optimizers.arguments import check_number
from dezero.optimizers.moving import moved
from dezero.optimizers.states import working_dtype
from dezero.optimizers.targets import as_target, members, named_members


class ExponentialMovingAverage:
    """A moving average of the weights, often better than the last ones.

    ``a <- decay * a + (1 - decay) * p`` at each :meth:`update`, from the weights that
    the first one sees; half-precision weights are averaged in float32, and what is
    not floating is copied. Polyak and Juditsky, "Acceleration of Stochastic
    Approximation by Averaging" (1992), with exponential weights::

        average = ExponentialMovingAverage(model)
        for x, t in loader:
            ...
            optimizer.update()
            average.update()
        with average.applied():
            evaluate(model)

    Args:
        target: A Layer or an iterable of Parameters.
        decay: Share of the average that is kept, in [0, 1).

    Raises:
        TypeError: ``target`` is neither.
        ValueError: ``target`` has no parameters, or ``decay`` is outside its range.
    """

    def __init__(self, target: Any, decay: float = 0.999) -> None:
        self.target = as_target(type(self).__name__, target)
        self.decay = check_number(self, "decay", decay, high=1)
        self._averages: dict[Variable, Array] = {}

    def update(self) -> None:
        """Take the weights as they are now into the average.

        Raises:
            ValueError: A parameter has changed its shape; nothing is changed.
        """
        named = self._named()
        for name, p in named.items():
            average = self._averages.get(p)
            if average is not None and average.shape != p.shape:
                raise ValueError(
                    f"{type(self).__name__}.update: expected parameter {name!r} to "
                    f"keep its shape {average.shape}, got {p.shape}"
                )
        share = 1 - float(self.decay)
        calls = []
        for p in named.values():
            average = self._averages.get(p)
            if average is None or p.dtype.kind != "f":
                with cuda.on_device_of(p.data):
                    self._averages[p] = p.data.astype(working_dtype(p.data), order="C")
                continue
            xp = cuda.get_array_module(p.data)
            # where the parameter has moved to another device
            average = self._averages[p] = cuda.beside(average, p.data)
            # a + (1 - decay) * (p - a): weights that stand still are met exactly
            if xp is not np:
                calls.append((kernels.averaged, (p.data, share, average)))
                continue
            change = xp.asarray(xp.subtract(p.data, average, dtype=average.dtype))
            change *= share
            xp.add(average, change, out=average)
        multi_tensor.run(calls)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Let the averages stand in place of the weights inside a ``with`` block.

        What the block writes into the weights is forgotten when it is left.
        """
        before = [(p, p.data) for p in self._named().values() if p in self._averages]
        try:
            self.copy_to_target()
            yield
        finally:
            for p, data in before:
                p.data = data

    def copy_to_target(self) -> None:
        """Give every parameter its average, in a new array, for good."""
        for p in self._named().values():
            if p in self._averages:
                xp = cuda.get_array_module(p.data)
                average = cuda.beside(self._averages[p], p.data)
                with cuda.on_device_of(average):
                    p.data = xp.array(average, dtype=p.dtype)

    def to_gpu(self) -> Self:
        """Move the averages to the current GPU, where they else follow the weights.

        If a move fails, they stay as they were.

        Returns:
            The average itself.

        Raises:
            RuntimeError: No usable CuPy, where there is something to move.
        """
        self._averages = moved(self._averages, cuda.as_cupy)
        return self

    def to_cpu(self) -> Self:
        """The same to the CPU.

        Returns:
            The average itself.
        """
        self._averages = moved(self._averages, cuda.as_numpy)
        return self

    def state_dict(self) -> dict[str, Any]:
        """The averages by name, in copies, and the decay."""
        averages = {
            name: np.array(cuda.as_numpy(self._averages[p]))
            for name, p in self._named().items()
            if p in self._averages
        }
        return {"decay": self.decay, "averages": averages}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave.

        Raises:
            TypeError: ``state`` is no such dict.
            ValueError: Names or shapes do not fit; the message lists them all, and
                nothing is changed.
        """
        function = f"{type(self).__name__}.load_state_dict"
        if not isinstance(state, dict) or set(state) != {"decay", "averages"}:
            raise TypeError(
                f"{function}: expected a dict that state_dict gave, "
                f"got {type(state).__name__}"
            )
        named, averages = self._named(), state["averages"]
        problems = [f"{name} is unexpected" for name in averages if name not in named]
        problems += [
            f"{name} has the shape {averages[name].shape}, not {p.shape}"
            for name, p in named.items()
            if name in averages and averages[name].shape != p.shape
        ]
        if problems:
            raise ValueError(
                f"{function}: expected the averages of these parameters, got others; "
                + "; ".join(problems)
            )
        decay = check_number(self, "decay", state["decay"], high=1)
        new = {}
        for name, x in averages.items():
            p = named[name]
            xp = cuda.get_array_module(p.data)
            with cuda.on_device_of(p.data):
                new[p] = xp.array(x, dtype=working_dtype(p.data), order="C")
        self.decay, self._averages = decay, new

    def _named(self) -> dict[str, Variable]:
        """Those that have data by now, each once."""
        named = {n: p for n, p in named_members(self.target) if p.data is not None}
        if len(named) < len({p for p in members(self.target) if p.data is not None}):
            raise ValueError(
                f"{type(self).__name__}: expected a name of its own for every "
                "parameter, got one for two; rename an attribute or a dict key"
            )
        return named
