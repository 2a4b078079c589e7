"""L-BFGS: curvature from the latest gradients, for losses that are always the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.optimizers.arguments import check_count
from dezero.optimizers.base import Optimizer
from dezero.optimizers.line_search import Point, strong_wolfe
from dezero.optimizers.states import working_dtype


class LBFGS(Optimizer):
    """Newton's method with a curvature that is learned from the latest gradients.

    ``x <- x - a * H g``: H is an inverse Hessian that agrees with the latest changes s
    of the weights and y of the gradient (``H y = s``), never written out; the step
    size a meets the strong Wolfe conditions. For full-batch problems: between two
    calls of ``loss`` nothing but the weights may change (no dropout, no other batch)::

        optimizer = LBFGS().setup(model)
        for _ in range(10):
            value = optimizer.update(lambda: F.mean_squared_error(model(x), t))

    Algorithms 7.4 and 7.5 of Nocedal and Wright, "Numerical Optimization" (2006). Hooks
    see each gradient; one that changes it should do so as a loss of its own would.

    Args:
        lr: Step size that the search tries first, above 0.
        history: How many changes to remember, at least 1; the state takes twice as
            many times the memory of the weights.
        iterations: Steps of one update, at least 1.
        tolerance: An update ends when no element of the gradient is larger.
        c1: Share of the slope by which the loss must fall, in [0, c2).
        c2: Share of the slope that may be left, in (c1, 1).
        evaluations: Most computations of the loss in one search, at least 1.

    Raises:
        TypeError: A number of something is no integer.
        ValueError: A value is outside its range.
    """

    below = {"c1": 1, "c2": 1}

    def __init__(
        self,
        lr: float = 1.0,
        history: int = 10,
        iterations: int = 20,
        tolerance: float = 1e-7,
        c1: float = 1e-4,
        c2: float = 0.9,
        evaluations: int = 25,
    ) -> None:
        super().__init__()
        self.lr = self.number("lr", lr)
        if self.lr == 0:
            raise ValueError(f"LBFGS: expected lr to be positive, got {lr}")
        self.history = check_count(self, "history", history)
        self.iterations = check_count(self, "iterations", iterations)
        self.tolerance = self.number("tolerance", tolerance)
        self.c1, self.c2 = self.number("c1", c1), self.number("c2", c2)
        if self.c1 >= self.c2:
            raise ValueError(f"LBFGS: expected c1 below c2, got {c1} and {c2}")
        self.evaluations = check_count(self, "evaluations", evaluations)
        self.pairs = 0

    def setup(self, target: Any) -> Self:
        """As every optimizer, but a group can have no numbers of its own.

        Raises:
            TypeError: ``target`` is no target.
            ValueError: It has no parameters, or groups with numbers of their own.
        """
        if isinstance(target, (list, tuple)) and any(
            isinstance(group, dict) and len(group) > 1 for group in target
        ):
            raise ValueError(
                "LBFGS.setup: expected groups without numbers of their own, for all "
                "parameters take one step together, got some"
            )
        super().setup(target)
        self.pairs = 0
        return self

    def init_state(self, grad: Array) -> dict[str, Any]:
        """``pairs`` changes of the weights (s0, s1, ...) and the gradient (y0, ...)."""
        xp = cuda.get_array_module(grad)
        names = [f"{k}{i}" for k in "sy" for i in range(self.pairs)]
        return {name: xp.zeros(grad.shape, grad.dtype) for name in names}

    def update(self, loss: Callable[[], Variable] | None = None) -> Any:
        """Go ``iterations`` steps down, or until it is flat or cannot be lower.

        Args:
            loss: Computes the loss, a Variable of one element, from the weights as
                they are. It needs no ``cleargrads`` and no ``backward``.

        Returns:
            The loss at the new weights, whose gradient the parameters then have.

        Raises:
            TypeError: ``loss`` is no function, or gives no Variable.
            ValueError: It gives several elements, or the first one is not finite; and
                what every optimizer refuses.
            RuntimeError: ``setup`` was not called, or the loss has no graph.
        """
        if not callable(loss):
            raise TypeError(
                "LBFGS.update: expected a function that computes the loss, got "
                f"{'none' if loss is None else type(loss).__name__}; write "
                "update(lambda: loss of the model)"
            )
        value, params = self._evaluate(loss)
        if not math.isfinite(value):
            raise ValueError(f"LBFGS.update: expected a finite loss, got {value}")
        if not params:
            return value
        x, g = _flat([p.data for p in params]), _gradient(params)
        start = x
        pairs = self._pairs_of(params)
        try:
            for _ in range(int(self.iterations)):
                if not g.size or not float(abs(g).max()) > self.tolerance:
                    break
                x_new, value_new, g_new = self._line(loss, params, x, value, g, pairs)
                if x_new is x and pairs:
                    pairs.clear()  # what is remembered may mislead: try without
                    continue
                if x_new is x:
                    break
                self._remember(pairs, x_new - x, g_new - g)
                x, value, g = x_new, value_new, g_new
        except BaseException:
            _assign(params, start)
            raise
        _assign(params, x)
        for p, piece in zip(params, _pieces(params, g), strict=True):
            p.grad = piece.astype(p.dtype)
        self._keep(params, pairs)
        return value

    def step(self, loss: Callable[[], Variable] | None = None) -> Any:
        """The same, by another familiar name."""
        return self.update(loss)

    def _evaluate(self, loss: Callable[[], Variable]) -> tuple[float, list[Variable]]:
        """The loss, and the parameters that have a gradient after the hooks."""
        self.cleargrads()
        y = loss()
        if not isinstance(y, Variable):
            raise TypeError(
                "LBFGS.update: expected a function that gives the loss as a Variable, "
                f"got {type(y).__name__} from it"
            )
        if y.size != 1:
            raise ValueError(
                f"LBFGS.update: expected a loss of one element, got the shape {y.shape}"
            )
        y.backward(retain_graph=False)
        return float(y.data.reshape(())), self._prepared(self.params())

    def _line(
        self,
        loss: Callable[[], Variable],
        params: list[Variable],
        x: Array,
        value: float,
        g: Array,
        pairs: list[tuple[Array, Array]],
    ) -> tuple[Array, float, Array]:
        """The next weights, loss and gradient; ``x`` itself where none is lower."""
        d = _direction(g, pairs)
        slope = float(d @ g)
        if not slope < 0:
            return x, value, g
        # Without a memory the length of the gradient says nothing about the step.
        first = float(self.lr)
        if not pairs:
            first *= min(1.0, 1 / math.sqrt(float(g @ g)))

        def evaluate(a: float) -> Point:
            _assign(params, x + a * d)
            # A trial may fail: the search goes back from there.
            with self._using({"check_finite": False}):
                found, _ = self._evaluate(loss)
            grad = _gradient(params)
            return Point(a, found, float(d @ grad), grad)

        point = strong_wolfe(
            evaluate,
            Point(0.0, value, slope, g),
            first,
            float(self.c1),
            float(self.c2),
            int(self.evaluations),
        )
        return (x + point.a * d if point.a else x), point.loss, point.grad

    def _remember(self, pairs: list[tuple[Array, Array]], s: Array, y: Array) -> None:
        """Add a pair, unless rounding has left it without curvature."""
        least = float(np.finfo(s.dtype).eps) * math.sqrt(float(s @ s) * float(y @ y))
        if float(s @ y) > least:
            pairs.append((s, y))
            del pairs[: -int(self.history)]

    def _pairs_of(self, params: list[Variable]) -> list[tuple[Array, Array]]:
        """What is remembered, if it is of these parameters."""
        if set(self._state) != set(params):
            return []
        states = [self.state(p) for p in params]
        return [
            (_flat([s[f"s{i}"] for s in states]), _flat([s[f"y{i}"] for s in states]))
            for i in range(int(self.pairs))
        ]

    def _keep(self, params: list[Variable], pairs: list[tuple[Array, Array]]) -> None:
        self.pairs = len(pairs)
        self._state = {p: {} for p in params}
        for i, (s, y) in enumerate(pairs):
            for name, flat in (f"s{i}", s), (f"y{i}", y):
                for p, piece in zip(params, _pieces(params, flat), strict=True):
                    dtype = working_dtype(p.data)  # as load_state_dict has it
                    self._state[p][name] = piece.astype(dtype, copy=False)


def _direction(g: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """``-H g``, by two walks through the pairs."""
    q = -g
    shares = []
    for s, y in reversed(pairs):
        share = (s @ q) / (s @ y)
        shares.append(share)
        q -= share * y
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (y @ q) / (s @ y)) * s
    return q


def _flat(arrays: list[Array]) -> Array:
    """All elements one after another, in the widest of the dtypes to compute in."""
    xp = cuda.get_array_module(arrays[0])
    dtype = np.result_type(*[working_dtype(x) for x in arrays])
    return xp.concatenate([x.reshape(-1).astype(dtype) for x in arrays])


def _gradient(params: list[Variable]) -> Array:
    """All gradients in one; where one is missing this time, zeros."""
    xp = cuda.get_array_module(params[0].data)
    return _flat(
        [xp.zeros_like(p.data) if p.grad is None else p.grad.data for p in params]
    )


def _pieces(params: list[Variable], flat: Array) -> list[Array]:
    """The opposite of :func:`_flat`: arrays of the shapes of the parameters."""
    pieces, start = [], 0
    for p in params:
        pieces.append(flat[start : start + p.size].reshape(p.shape).copy())
        start += p.size
    return pieces


def _assign(params: list[Variable], flat: Array) -> None:
    """Write the elements into the parameters, in place where that is possible."""
    for p, piece in zip(params, _pieces(params, flat), strict=True):
        if getattr(p.data.flags, "writeable", True):
            p.data[...] = piece
        else:
            p.data = piece.astype(p.dtype)
