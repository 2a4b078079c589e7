"""Does the gradient get through all layers? Norms after a backward pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dezero.layers as L
from dezero import cuda
from dezero.cuda import Array
from dezero.diagnostics.measures import Named, is_finite, named_parameters, norm
from dezero.diagnostics.tables import Report, Table, number, shortened

# The first matrix of weights against the last, both by the root of the mean square.
# Networks that train (ReLU, tanh and normalized ones of 3 to 20 layers, LeNet, ResNet,
# sigmoid up to 5 layers) had from 6e-4 to 20; 20 layers of sigmoid have 1e-12.
VANISHING = 1e-4
EXPLODING = 1e4
# With a gradient this many times its norm a matrix is thrown about by any usual
# learning rate: at 1e-3 it moves by its own size in one step. The same networks had at
# most 300; weights four times too large, 1e7 and more.
STEEP = 1e3
# Of the units of a layer. Deep ReLU networks have up to 0.45 at the start, for batches
# of 64 samples, and half for a single one.
DEAD = 0.75


@dataclass(frozen=True)
class Flow:
    """The gradient of one parameter.

    Attributes:
        name: The name of the parameter in the model.
        shape: Its shape; () if it has no data yet.
        norm: The L2 norm of the gradient; None without one.
        rms: The root of the mean square: the norm by the root of the size.
        relative: The norm by that of the parameter; None if that is 0.
        dead: How many units have a gradient of zero throughout (rows of the weights
            that lead to one unit); None where the parameter has no such rows.
        units: How many units there are.
        verdict: "fine", "no gradient", "frozen", "zero", "dead units", "tiny", "steep"
            or "not finite".
    """

    name: str
    shape: tuple[int, ...]
    norm: float | None
    rms: float | None
    relative: float | None
    dead: int | None
    units: int | None
    verdict: str


@dataclass(frozen=True)
class FlowReport(Report):
    """What :func:`gradient_flow` found. Printed, it is a table.

    Attributes:
        rows: A :class:`Flow` for each parameter.
        ratio: The gradient of the first matrix of weights by that of the last, by the
            root of the mean square; None if there are not two.
        verdict: "fine", "vanishing", "exploding" or "not finite".
    """

    rows: list[Flow] = field(default_factory=list)
    ratio: float | None = None
    verdict: str = "fine"

    @property
    def ok(self) -> bool:
        """Is the flow fine, and each row?"""
        return self.verdict == "fine" and not self.flagged

    @property
    def flagged(self) -> list[Flow]:
        """The rows that need a look; frozen ones are meant."""
        return [row for row in self.rows if row.verdict not in ("fine", "frozen")]

    def title(self) -> str:
        """One line that says the outcome."""
        text = f"Gradient flow: {self.verdict}"
        if self.ratio is not None:
            text += f"; first weights / last weights = {number(self.ratio)}"
        if self.verdict == "fine" and self.flagged:
            text += f"; {len(self.flagged)} parameters need a look"
        return text + "."

    def table(self) -> Table:
        """A row per parameter."""
        return Table(
            ("parameter", "shape", "norm", "rms", "/ |W|", "dead", "verdict"),
            [
                (
                    row.name,
                    shortened(str(row.shape), 18),
                    number(row.norm),
                    number(row.rms),
                    number(row.relative),
                    "-" if row.dead is None else f"{row.dead}/{row.units}",
                    row.verdict,
                )
                for row in self.rows
            ],
            right=(2, 3, 4, 5),
        )

    def notes(self) -> list[str]:
        """What the verdicts mean and what helps."""
        found = {self.verdict} | {row.verdict for row in self.rows}
        return [text for name, text in _HELP.items() if name in found]


_HELP = {
    "vanishing": "Vanishing: the first layers learn next to nothing. Try ReLU in place "
    "of sigmoid or tanh, He or Glorot initial weights, normalization, residual "
    "connections.",
    "exploding": "Exploding: a step will throw the weights far off. Try ClipGrad, a "
    "lower learning rate, smaller initial weights, normalization.",
    "not finite": "Not finite: dz.detect_anomaly() finds where the first NaN or "
    "infinity arises.",
    "no gradient": "No gradient: the last backward did not reach it. "
    "dz.explain_grad(param, loss) says where the chain ends.",
    "zero": "Zero: a gradient arrived, but is zero everywhere. "
    "dz.explain_grad(param, loss) says where it becomes so.",
    "dead units": "Dead units: weights whose unit got no gradient from this whole "
    "batch. ReLU units die from large steps; try a lower learning rate or leaky_relu.",
    "tiny": "Tiny: smaller than the rounding of the parameter even at a learning rate "
    "of 1.",
    "steep": "Steep: the gradient is more than 1000 times the norm of the parameter.",
}


def gradient_flow(model: Any) -> FlowReport:
    """The gradients that the last backward pass left in a model, layer by layer.

    Parameters stand in the order in which the model has them, which should be that of
    the computation. ``ratio`` compares the first parameter of two or more axes that has
    a gradient with the last one, by the root of the mean square. Below 1e-4 the
    gradient vanishes, above 1e4 it explodes; so it does if every such gradient is below
    the rounding of its weights (tiny), or most are above 1000 times their norm (steep).
    On both see Glorot and Bengio 2010, "Understanding the difficulty of training deep
    feedforward neural networks". A layer is marked if three quarters of its units have
    no gradient.

    Args:
        model: A Layer, or an iterable of Parameters, after ``loss.backward()``.

    Returns:
        A report to print, with ``report.ok``, ``report.verdict`` and ``report.rows``.

    Raises:
        RuntimeError: No parameter has a gradient.
        TypeError: ``model`` is no Layer and no iterable of Parameters.
        ValueError: It has no parameters.
    """
    named = named_parameters("gradient_flow", model)
    if all([p.grad is None for _, p in named]):
        raise RuntimeError(
            "gradient_flow: expected gradients, got none in any parameter; call "
            "loss.backward() first, and cleargrads() after this"
        )
    axes = _unit_axes(model, named)
    rows = [_row(name, p, axes[id(p)]) for name, p in named]
    weights = [
        row
        for row, (_, p) in zip(rows, named, strict=True)
        if len(row.shape) > 1 and row.rms is not None and p.requires_grad
    ]
    return FlowReport(rows, *_judged(rows, weights))


def _judged(rows: list[Flow], weights: list[Flow]) -> tuple[float | None, str]:
    """The ratio of first to last, and the verdict on the whole."""
    ratio = None
    if len(weights) > 1 and weights[-1].rms:
        ratio = (weights[0].rms or 0.0) / weights[-1].rms
    if any([row.verdict == "not finite" for row in rows]):
        return ratio, "not finite"
    steep = [row for row in weights if row.verdict == "steep"]
    if 2 * len(steep) > len(weights) or (ratio is not None and ratio > EXPLODING):
        return ratio, "exploding"
    tiny = [row for row in weights if row.verdict in ("tiny", "zero")]
    all_tiny = bool(weights) and len(tiny) == len(weights)
    if all_tiny or (ratio is not None and ratio < VANISHING):
        return ratio, "vanishing"
    return ratio, "fine"


def _row(name: str, p: Any, axis: int | None) -> Flow:
    if p.data is None or p.grad is None:
        shape = () if p.data is None else p.data.shape
        verdict = "no gradient" if p.requires_grad else "frozen"
        return Flow(name, shape, None, None, None, None, None, verdict)
    g = p.grad.data
    size = norm(g)
    rms = size / math.sqrt(g.size) if g.size else 0.0
    if not is_finite(g):
        return Flow(name, p.shape, size, rms, None, None, None, "not finite")
    weight = norm(p.data)
    relative = size / weight if weight else None
    dead, units = _dead_units(g, axis)
    verdict = "fine"
    if not size:
        verdict = "zero"
    elif relative is not None and relative < float(np.finfo(p.dtype).eps):
        verdict = "tiny"
    elif relative is not None and relative > STEEP and p.ndim > 1:
        verdict = "steep"
    elif dead and units and dead >= DEAD * units and units > 1:
        verdict = "dead units"
    if not p.requires_grad:
        verdict = "frozen"
    return Flow(name, p.shape, size, rms, relative, dead, units, verdict)


def _dead_units(g: Array, axis: int | None) -> tuple[int | None, int | None]:
    """How many units along ``axis`` have no gradient at all, of how many."""
    if axis is None or not g.size:
        return None, None
    others = tuple([i for i in range(g.ndim) if i != axis % g.ndim])
    xp = cuda.get_array_module(g)
    alive = xp.asarray((g != 0).any(axis=others))
    return int(alive.size - alive.sum()), int(alive.size)


def _unit_axes(model: Any, named: Named) -> dict[int, int | None]:
    """By id of a parameter, the axis of its units: of what its layer puts out."""
    axes: dict[int, int | None] = {}
    for _, p in named:
        ndim = 0 if p.data is None else p.ndim
        # x W: (in, out); of convolutions (out, in, ...).
        axes[id(p)] = None if ndim < 1 else 0 if ndim > 2 else ndim - 1
    if not hasattr(model, "named_layers"):
        return axes
    for _, layer in model.named_layers():
        W = getattr(layer, "W", None)
        if isinstance(layer, L.Embedding):
            # Words that this batch has not are not dead.
            axes.update({id(p): None for p in layer.params()})
        elif isinstance(layer, (L.Deconv1d, L.Deconv2d, L.Deconv3d)) and W is not None:
            axes[id(W)] = 1  # (in, out, ...)
        elif isinstance(layer, (L.BatchNorm, L.LayerNorm, L.RMSNorm)):
            axes.update({id(p): None for p in layer.params()})
    return axes
