"""The checks of overfit_one_batch, one after the other, on copies of a model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero.core import Variable, no_grad, test_mode
from dezero.diagnostics.batch_copies import Copies
from dezero.diagnostics.chains import explain_grad
from dezero.diagnostics.known_losses import expected_at_start, floor, recomputed
from dezero.diagnostics.measures import is_finite, norm
from dezero.diagnostics.slopes import Slope, directional_slopes, falls
from dezero.diagnostics.tables import number
from dezero.diagnostics.updates import check_updates
from dezero.layers import Layer
from dezero.optimizers.base import Optimizer

# The loss of a classifier that knows nothing is log(C); a start this far off, as a
# share of it, says that the scores are large before anything was learned.
START = 0.5
# Recomputed in float64: how much of the loss the dtype may have rounded away.
ROUNDING = {"e": 2e-2, "f": 1e-4, "d": 1e-10}
SLOPE_WRONG = 1e-3  # the relative error above which dezero.testing calls it wrong
# How much of the way from the start to the floor must be left at the end.
LEARNED, HALF_LEARNED = 0.05, 0.5


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: What was checked.
        verdict: "pass", "fail", "hint" (worth a look) or "skipped".
        detail: What was found.
    """

    name: str
    verdict: str
    detail: str


class Stop(Exception):
    """Nothing further can be checked."""


class Run:
    """The checks, on copies of a model."""

    def __init__(
        self,
        model: Layer,
        loss: Callable[..., Any],
        batch: Sequence[Any],
        steps: int,
        optimizer: Optimizer | None,
    ) -> None:
        self.copies = Copies(model, loss, batch, optimizer)
        self.steps = steps
        self.rows: list[Check] = []
        self.losses: list[float] = []
        self.now = ""

    def checks(self) -> Iterator[Check]:
        """All of them, in order."""
        self.now = "shapes of output and target"
        y = self.copies.make_parameters()
        yield Check(self.now, *self._shapes(y))
        self.now = "loss is a finite number"
        first = self.copies.forward(self.copies.take())
        yield self._loss_is_number(first)
        self.now = "loss at the start"
        yield Check(self.now, *_start(first))
        self.now = "same loss in a second forward"
        yield Check(self.now, *self._second())
        self.now = "loss by its formula"
        yield Check(self.now, *_formula(first))
        self.now = "every parameter gets a gradient"
        yield Check(self.now, *self._gradients())
        self.now = "gradients equal differences"
        slopes = self._slopes()
        yield Check(self.now, *slopes)
        self.now = "one step moves every parameter"
        yield Check(self.now, *self._moves())
        self.now = "loss falls along the gradient"
        yield Check(self.now, *self._falls())
        self.now = f"learns the batch in {self.steps} steps"
        yield Check(self.now, *self._learns(first))

    # ---- the checks -----------------------------------------------------------------

    def _shapes(self, y: Any) -> tuple[str, str]:
        text = f"output {_shape(y)}"
        if not self.copies.targets:
            return "pass", f"{text}, no target"
        t = self.copies.targets[0]
        text += f", target {', '.join([_shape(t) for t in self.copies.targets])}"
        if isinstance(y, (tuple, list, dict)) or not hasattr(t, "shape"):
            return "pass", text
        if not hasattr(y, "shape"):
            return "hint", f"{text}: the output is no Variable"
        if y.shape[:1] != t.shape[:1]:
            return "hint", f"{text}: they differ along the first axis, the batch"
        if sorted([y.shape, t.shape], key=len)[0] + (1,) in (y.shape, t.shape):
            return "hint", f"{text}: a vector and a column would broadcast to a matrix"
        return "pass", text

    def _loss_is_number(self, loss: Any) -> Check:
        problem = ""
        if not isinstance(loss, Variable):
            problem = f"it is no Variable, but {type(loss).__name__}"
        elif loss.size != 1:
            problem = f"it has shape {loss.shape}; take its mean or sum"
        elif loss.dtype.kind != "f":
            problem = f"it has dtype {loss.dtype}"
        elif not is_finite(loss.data):
            problem = f"it is {loss.item()}"
        elif not loss.requires_grad:
            problem = "it requires no gradient: " + self._why(0)
        if problem:
            self.rows.append(Check(self.now, "fail", problem))
            raise Stop
        return Check(self.now, "pass", f"{number(loss.item())}, {loss.dtype}")

    def _why(self, index: int | str) -> str:
        """What explain_grad says of a parameter, by number or name."""
        model = self.copies.take()
        named = dict(model.named_params())
        name = list(named)[index] if isinstance(index, int) else index
        report = explain_grad(named[name], lambda: self.copies.forward(model))
        where = f" ({report.lines[0]})" if report.lines else ""
        return f"{report.reason}. {report.message}{where}"

    def _second(self) -> tuple[str, str]:
        with test_mode(), no_grad():
            a, b = [self.copies.forward(self.copies.take()).item() for _ in range(2)]
        if a == b or (np.isnan(a) and np.isnan(b)):
            return "pass", f"{number(a)} both times, in test mode"
        return "hint", (
            f"{number(a)}, then {number(b)}, in test mode: something is drawn at "
            "random even there"
        )

    def _gradients(self) -> tuple[str, str]:
        model = self.copies.take()
        model.cleargrads()
        self.copies.forward(model).backward()
        named = [(n, p) for n, p in model.named_params() if p.requires_grad]
        missing = [n for n, p in named if p.grad is None]
        if not named:
            return "fail", "all parameters are frozen"
        if missing:
            reasons = [f"{name}: {self._why(name)}" for name in missing[:3]]
            more = f" And {len(missing) - 3} more." if len(missing) > 3 else ""
            return "fail", f"none for {len(missing)}. " + " ".join(reasons) + more
        grads = [(name, p.grad.data) for name, p in named if p.grad is not None]
        bad = [name for name, g in grads if not is_finite(g)]
        if bad:
            return "fail", f"NaN or infinity in that of {', '.join(bad)}"
        zero = [name for name, g in grads if not norm(g)]
        if zero:
            return "hint", f"zero everywhere for {', '.join(zero)}"
        frozen = len([p for p in model.params() if not p.requires_grad])
        note = f", {frozen} are frozen" if frozen else ""
        return "pass", f"{len(named)} have one{note}"

    def _slopes(self) -> tuple[str, str]:
        slopes = directional_slopes(*self.copies.in_double())
        worst = max(slopes, key=lambda s: s.error)
        text = f"relative error {worst.error:.1e} along {len(slopes)} random directions"
        if worst.error <= worst.limit:
            return "pass", text
        if worst.kink:
            return "hint", f"{text}: there is a kink nearby, or the loss is not smooth"
        if not worst.double and worst.error <= 10 * worst.limit:
            # Differences are coarse then.
            return "hint", f"{text}: something inside computes in {worst.dtype}"
        return ("hint" if worst.error <= SLOPE_WRONG else "fail"), text + _named(worst)

    def _moves(self) -> tuple[str, str]:
        model, optimizer = self.copies.with_optimizer()
        name = f"with {type(optimizer).__name__}"
        report = check_updates(model, lambda: self.copies.step(model, optimizer))
        still = [r for r in report.flagged if r.verdict == "did not move"]
        broken = [r.name for r in report.flagged if r.verdict == "not finite"]
        wild = [r.name for r in report.flagged if r.verdict == "wild"]
        if broken:
            return "fail", f"not finite after it: {', '.join(broken)}"
        with_gradient = [r for r in still if "zero everywhere" not in r.reason]
        if with_gradient:
            reasons = [f"{r.name}: {r.reason}." for r in with_gradient[:3]]
            return "fail", f"{len(with_gradient)} stay. " + " ".join(reasons)
        if still:
            names = ", ".join([r.name for r in still])
            return "hint", f"without a gradient other than zero, {names} stay"
        if wild:
            return "hint", f"{name} by more than 0.1 of their norm: {', '.join(wild)}"
        ratios = [r.ratio for r in report.rows if r.ratio and len(r.shape) > 1]
        if ratios:
            name += f"; |step| / |W| from {min(ratios):.1e} to {max(ratios):.1e}"
        return "pass", name

    def _falls(self) -> tuple[str, str]:
        before, after = falls(*self.copies.in_double())
        if after < before:
            return "pass", f"from {before:.6g} to {after:.6g} in a small step"
        if after == before:
            return "hint", f"stays {before:.6g}: the gradient is zero"
        return "fail", f"rises from {before:.6g} to {after:.6g} in a small step"

    def _learns(self, first: Variable) -> tuple[str, str]:
        model, optimizer = self.copies.with_optimizer()
        for i in range(self.steps):
            self.losses.append(self.copies.step(model, optimizer))
            if not np.isfinite(self.losses[-1]):
                return "fail", f"the loss is {self.losses[-1]} after {i} steps"
        with no_grad():
            last = self.copies.forward(copy.deepcopy(model)).item()
            with test_mode():  # without dropout
                tested = self.copies.forward(copy.deepcopy(model)).item()
        self.losses.append(last)
        # Running statistics may lag behind, dropout may disturb: either is enough.
        last = min(last, tested) if np.isfinite(tested) else last
        if not np.isfinite(last):
            return "fail", f"the loss is {last} after {self.steps} steps"
        start = self.losses[0]
        least = floor(first, self.copies.inputs)
        text = f"from {number(start)} to {number(last)}"
        if least:
            text += f"; equal inputs or soft targets leave {number(least)}"
        if least is None and last < 0:
            return "hint", f"{text}; the least possible is not known"
        span = start - (least or 0.0)
        left = last - (least or 0.0)
        if left <= LEARNED * span or abs(left) <= 1e-3:
            return "pass", text
        if left <= HALF_LEARNED * span:
            return "hint", f"{text}: learning, but slowly; more steps, or a higher lr?"
        return "fail", f"{text}: it cannot learn even one batch by heart"


def _shape(x: Any) -> str:
    if isinstance(x, dict):
        x = tuple(x.values())
    if isinstance(x, (tuple, list)):
        return "[" + ", ".join([_shape(item) for item in x]) + "]"
    return str(x.shape) if hasattr(x, "shape") else type(x).__name__


def _start(loss: Variable) -> tuple[str, str]:
    found = expected_at_start(loss)
    if found is None:
        return "skipped", "no softmax_cross_entropy, whose start would be known"
    C, expected = found
    text = f"{number(loss.item())}; log({C}) = {number(expected)}"
    if abs(loss.item() - expected) <= START * expected:
        return "pass", text
    if loss.item() > expected:
        return "hint", f"{text}: the scores are large before anything was learned"
    return "hint", f"{text}: does the model know the targets already?"


def _formula(loss: Variable) -> tuple[str, str]:
    value = recomputed(loss)
    if value is None:
        return "skipped", "the last function is none whose formula is known here"
    got = loss.item()
    limit = ROUNDING[loss.dtype.char]
    text = f"{number(got)}; in NumPy {number(value)}"
    if abs(got - value) <= limit * max(abs(value), 1e-3):
        return "pass", text
    return "fail", f"{text}: they differ by more than {limit:g} of it"


def _named(slope: Slope) -> str:
    """A ratio of analytic to numeric that says what went wrong."""
    if slope.numeric:
        ratio = slope.analytic / slope.numeric
        if abs(ratio - 0.5) < 0.01:
            return "; the gradient is half of it: is one contribution overwritten?"
        if abs(ratio - 2) < 0.02:
            return "; the gradient is twice of it: is one contribution counted twice?"
        if abs(ratio + 1) < 0.01:
            return "; the gradient has the wrong sign"
    return ""
