"""One function under test: how it is called, probed, and compared with differences."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero.core import Parameter, Variable, run_backward
from dezero.testing.diagnosis import explain_shape
from dezero.testing.findings import Findings
from dezero.testing.rows import Row, count_of
from dezero.testing.states import HeldState, LayerFunction, pin_random

# Maps Variables to Variables, recorded or not.
Mapping = Callable[[Sequence[Variable], bool], list[Variable]]

# What comes in from above: the gradient by y and, at order 3, by the gradient gx.
_INCOMING = ("gy", "ggx", "gggy")


class Subject:
    """A function and the arrays to check it at.

    Args:
        f: The function.
        xs: Its arguments; floating ones in float64.
        names: What the report calls them.
        findings: Where to put what comes up.
        inputs: How many of the arguments are inputs; parameters of a layer follow.
        checked: Whether outputs must be floating Variables.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        xs: Sequence[np.ndarray],
        names: Sequence[str] = (),
        findings: Findings | None = None,
        inputs: int | None = None,
        checked: bool = True,
    ) -> None:
        self._f = f
        self._checked = checked
        self.findings = Findings() if findings is None else findings
        self._xs = list(xs)
        self._names = list(names)
        n = len(xs) if inputs is None else inputs
        self._types = [Variable] * n + [Parameter] * (len(xs) - n)
        # Integers are not varied.
        self._varied = [i for i, x in enumerate(xs) if x.dtype.kind == "f"]
        # A LayerFunction works on copies: it holds nothing that changes.
        self._held = HeldState(_nothing if isinstance(f, LayerFunction) else f)
        self._first: list[np.ndarray] = []

    def close(self) -> None:
        """Give back all that the function holds as it was."""
        self._held.close()

    def settle(self) -> None:
        """After a call of f: watch only what that has changed."""
        self._held.settle()

    def call(self, xs: Sequence[Any], f: Callable[..., Any] | None = None) -> list[Any]:
        """The outputs of f in a list; each call starts from the same state."""
        self._held.put_back()
        pin_random()
        variables = [x if isinstance(x, Variable) else Variable(x) for x in xs]
        ys = flatten((self._f if f is None else f)(*variables))
        if self._checked:
            _check_outputs(ys)
        return ys

    # ---- before the comparison ---------------------------------------------------

    def probe(self) -> bool:
        """Run f and its backward once, and see what they do besides.

        Returns:
            Whether it makes sense to go on.
        """
        for name, x in zip(self._names, self._xs, strict=True):
            if x.dtype.kind == "f" and not np.isfinite(x).all():
                self.findings.add_problem(f"{name} is not finite: {count_of(x)}")
                return False
        variables = [
            cls(np.array(x), None, x.dtype.kind == "f")
            for cls, x in zip(self._types, self._xs, strict=True)
        ]
        with np.errstate(all="ignore"):
            if self._held.lazy:
                self.call(variables)  # a layer that draws its weights now
            ys = self.call(variables)
        self.settle()
        watched = list(zip(self._names, self._xs, variables, strict=True))
        self._find_changes("forward", watched)
        self._first = [y.data.copy() for y in ys]
        for i, y in enumerate(self._first):
            if not np.isfinite(y).all():
                self.findings.add_problem(
                    f"output {i} is not finite at these inputs: {count_of(y)}"
                )
                return False
            if y.dtype.itemsize < 8 and self._xs:
                self.findings.add_problem(
                    f"output {i} is {y.dtype} for float64 inputs: too coarse for "
                    "differences to say anything about gradients"
                )
                return False
        return self._with_shapes(lambda: self._probe_backward(variables, ys))

    def _probe_backward(self, variables: list[Variable], ys: list[Variable]) -> None:
        names = [f"the incoming gradient gy {i}" for i in range(len(ys))]
        ws = [_random(np.random.RandomState(1), y.shape, 0.5, 1.5) for y in ys]
        seeds = [Variable(w.copy()) for w in ws]
        before = [np.array(v.data) for v in variables]
        watched = list(zip(self._names, before, variables, strict=True))
        watched += zip(names, ws, seeds, strict=True)
        outputs = [f"output {i}" for i in range(len(ys))]
        watched += zip(outputs, self._first, ys, strict=True)
        _backward(ys, seeds, [variables[i] for i in self._varied], False)
        self._find_changes("backward", watched)

    def _find_changes(
        self, when: str, watched: Sequence[tuple[str, np.ndarray, Variable]]
    ) -> None:
        for name, before, variable in watched:
            if before.tobytes() != variable.data.tobytes():
                self.findings.add_problem(f"{when} changes {name} in place")

    def _with_shapes(self, run: Callable[[], None]) -> bool:
        """Run it; a gradient of a wrong shape is a problem, and ends the check."""
        try:
            run()
        except ValueError as error:
            text = explain_shape(error)
            if text is None:
                raise
            self.findings.add_problem(text)
            return False
        return True

    def run_as_given(self, f: Callable[..., Any], xs: Sequence[np.ndarray]) -> None:
        """If the inputs were of a lower precision, see that f keeps it."""
        dtypes = [x.dtype for x in xs if x.dtype.kind == "f"]
        if not dtypes or (dtype := np.result_type(*dtypes)).itemsize >= 8:
            return
        variables = [
            cls(np.array(x), None, x.dtype.kind == "f")
            for cls, x in zip(self._types, xs, strict=True)
        ]
        try:
            with np.errstate(all="ignore"):
                ys = self.call(variables, f)
        except Exception as error:
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            self.findings.add_note(f"f does not run in {dtype}: {text[:200]}")
            return
        for i, y in enumerate(ys):
            if y.dtype.itemsize > dtype.itemsize:
                self.findings.add_problem(
                    f"output {i} is {y.dtype} for {dtype} inputs: forward makes an "
                    "array or a constant without their dtype"
                )

    # ---- the comparison ------------------------------------------------------------

    def check(self, order: int, directions: int, rng: np.random.RandomState) -> None:
        """Compare all orders along so many directions per input."""
        for _ in range(directions):
            if not self._with_shapes(lambda: self._check_orders(order, rng)):
                return

    def _check_orders(self, order: int, rng: np.random.RandomState) -> None:
        at = [self._xs[i] for i in self._varied]
        names = [self._names[i] for i in self._varied]
        function: Mapping = self._function
        for k in range(1, order + 1):
            ys = function(self._variables(at), True)
            if k == 1 and not self._repeats(ys):
                return
            ws = [_random(rng, y.shape, 0.5, 1.5) for y in ys]
            self._check_order(k, function, names, at, ws, ys, rng)
            function = _gradient_of(function, len(at))
            names = names + [f"{_INCOMING[k - 1]} {i}" for i in range(len(ws))]
            at = at + ws

    def _repeats(self, ys: Sequence[Variable]) -> bool:
        for first, y in zip(self._first, ys, strict=False):
            if first.shape != y.shape or not np.allclose(
                first, y.data, 1e-10, 1e-12 * _size(first)
            ):
                self.findings.add_problem(
                    "f gives other outputs when it is called again with the same "
                    "inputs: it keeps a state, or draws random numbers out of reach"
                )
                return False
        return True

    def _function(self, variables: Sequence[Variable], recorded: bool) -> list[Any]:
        """f of the inputs that are varied."""
        xs: list[Any] = [
            None if x.dtype.kind == "f" else Variable(np.array(x), None, False)
            for x in self._xs
        ]
        for i, v in zip(self._varied, variables, strict=True):
            xs[i] = v
        return self.call(xs)

    def _variables(self, xs: Sequence[np.ndarray]) -> list[Variable]:
        """Variables of copies: f might change its inputs."""
        types = [self._types[i] for i in self._varied]
        types += [Variable] * (len(xs) - len(types))
        return [cls(np.array(x)) for cls, x in zip(types, xs, strict=True)]

    def _check_order(
        self,
        order: int,
        function: Mapping,
        names: Sequence[str],
        xs: Sequence[np.ndarray],
        ws: Sequence[np.ndarray],
        ys: Sequence[Variable],
        rng: np.random.RandomState,
    ) -> None:
        """Check the gradient of ``sum(w * y)``, ys being the outputs for xs."""
        variables = self._variables([*xs, *ws])
        gradients = _gradient_of(function, len(xs))(variables, False)
        # The function works with numbers of the size of its inputs and outputs, even
        # where little is left of them in the end.
        sizes = [_size(a) for a in xs] + [_size(y.data) for y in ys]
        size = max(sizes, default=0.0) or 1.0
        scale = sum([float(np.sum(abs(w))) for w in ws]) * size

        bases = [y.data.copy() for y in ys]

        def terms_along(i: int, d: np.ndarray, t: float) -> np.ndarray:
            moved = [*xs[:i], np.asarray(xs[i] + t * d), *xs[i + 1 :]]
            now = function(self._variables(moved), False)
            # Differences first: a large output that does not move brings no rounding.
            terms = [
                w * (y.data - base) for w, y, base in zip(ws, now, bases, strict=True)
            ]
            return np.concatenate([np.ravel(a) for a in terms])

        def gradient_at(i: int, step: np.ndarray) -> np.ndarray:
            moved = [*xs[:i], np.asarray(xs[i] + step), *xs[i + 1 :]]
            found = _gradient_of(function, len(xs))(
                self._variables([*moved, *ws]), False
            )
            return found[i].data

        for i, gradient in enumerate(gradients):
            row = Row(
                self.findings,
                (order, names[i]),
                gradient.data,
                functools.partial(functools.partial, terms_along, i),
                functools.partial(gradient_at, i),
                scale,
                xs[i],
            )
            self.findings.add_check(row.check(_direction(rng, xs[i])))
            row.describe([_direction(rng, xs[i]) for _ in range(3 * row.wrong)])


def _gradient_of(function: Mapping, n: int) -> Mapping:
    """The mapping from n inputs and the incoming gradients to the n gradients."""

    def gradient(variables: Sequence[Variable], recorded: bool) -> list[Variable]:
        xs, gys = variables[:n], variables[n:]
        return _backward(function(xs, True), gys, xs, recorded)

    return gradient


def _backward(
    ys: Sequence[Variable],
    seeds: Sequence[Variable],
    wanted: Sequence[Variable],
    create_graph: bool,
) -> list[Variable]:
    """The gradient by each wanted Variable: zeros where no output depends on it."""
    pairs = [(y, s) for y, s in zip(ys, seeds, strict=True) if y.requires_grad]
    outputs, used = [y for y, _ in pairs], [s for _, s in pairs]
    table = run_backward(outputs, used, wanted, create_graph)
    return [
        table[x] if x in table else Variable(np.zeros(x.shape), requires_grad=False)
        for x in wanted
    ]


def flatten(ys: Any) -> list[Any]:
    """The outputs in tuples, lists and dicts, in order, without None."""
    return list(_flat(ys))


def _flat(ys: Any) -> Iterator[Any]:
    if isinstance(ys, dict):
        ys = tuple(ys.values())
    if isinstance(ys, (tuple, list)):
        for y in ys:
            yield from _flat(y)
    elif ys is not None:
        yield ys


def _check_outputs(ys: Sequence[Any]) -> None:
    if not ys:
        raise ValueError("check_gradients: expected f to return outputs, got none")
    for i, y in enumerate(ys):
        if not isinstance(y, Variable) or y.dtype.kind != "f":
            what = f"dtype {y.dtype}" if hasattr(y, "dtype") else type(y).__name__
            raise TypeError(
                "check_gradients: expected f to return floating Variables, "
                f"got {what} as output {i}"
            )


def _nothing() -> None:
    """Holds no state."""


def _random(
    rng: np.random.RandomState, shape: tuple[int, ...], low: float, high: float
) -> np.ndarray:
    """Random numbers of both signs and a magnitude in [low, high]: none near zero."""
    return np.asarray(rng.uniform(low, high, shape) * rng.choice([-1.0, 1.0], shape))


def _direction(rng: np.random.RandomState, x: np.ndarray) -> np.ndarray:
    """A random direction, short where ``x`` is small: no step may lead across zero."""
    return _random(rng, x.shape, 0.5, 1.0) * min(1.0, _size(x) or 1.0)


def _size(x: np.ndarray) -> float:
    return float(abs(x).max()) if x.size else 0.0
