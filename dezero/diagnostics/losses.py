"""What is wrong with a training, told from its losses alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from dezero import cuda
from dezero.diagnostics import loss_signs as signs
from dezero.diagnostics.loss_report import CAUSES, LossFinding, LossReport, sketch


def diagnose_loss(
    history: Any, validation: Any = None, expected: float | None = None
) -> LossReport:
    r"""Tell from its losses alone what is wrong with a training.

    Found are, each with the step, the numbers and the likely causes in order:

    - *not finite*: the first NaN or Inf. The rest is told from the losses before it.
    - *sudden rise*: by at least a quarter of what it had fallen and well above its
      noise. The loss is so high for three steps, or for eight where noise is strong; or
      one step upwards is three times as large as any before it; or a single loss is
      out of all proportion. In the first steps it takes more.
    - *saw-tooth*: the losses repeat themselves, at least four times; a period is at
      least five steps.
    - *flat from the start*: the loss never gets 5 % below its start, or its fall
      cannot be told from noise.
    - *plateau above expectation*: only if ``expected`` is given. More than 12 % is
      missing of the way from the start to ``expected``, and the last quarter of the
      losses gained less than 7 % of that. Without an expectation, numbers alone cannot
      tell a model that is too small from a task that has no lower loss.
    - *falls then rises*: only of the validation loss. From its lowest point on it rises
      by more than 20 % of its fall and well above its noise, and the training loss does
      not.

    Losses may be of steps or of epochs, noisy, and negative. The verdict is the same
    for ``c * history`` with any c > 0. It is not the same for ``history + c``, for
    "flat" and "rise" compare with the start: subtract a large constant before, or give
    ``expected``, which "flat" then measures from.

    Fewer than 8 losses are too short to tell more than "not finite"; teeth need 23.

    Args:
        history: Losses, one per step or per epoch: a sequence or an array (N,), or a
            dict with ``"loss"`` and, if it was measured, ``"validation_loss"``.
        validation: Losses on data that are not trained on, as often or less.
        expected: The loss that should be reached: that of a model known to be good, or
            for a model that has to beat guessing, a little below ``log(classes)``.

    Returns:
        A report to print; ``kinds``, ``ok`` and ``findings`` are for programs.

    Raises:
        TypeError: A loss is no number, or ``history`` is no sequence of them.
        ValueError: There is no loss, or there is more than one axis.
    """
    if isinstance(history, Mapping):
        if "loss" not in history:
            raise ValueError(
                "diagnose_loss: expected a dict with 'loss', got one with "
                f"{sorted(map(str, history))}"
            )
        if validation is None:
            validation = history.get("validation_loss")
        history = history["loss"]
    x = _as_losses("history", history)
    if validation is not None and len(validation):
        v = _as_losses("validation", validation)
    else:
        v = np.zeros(0)
    if expected is not None:
        expected = _as_losses("expected", [expected])[0]
        if not math.isfinite(expected):
            raise ValueError(
                f"diagnose_loss: expected a finite number as expected, got {expected}"
            )

    findings, good, v = _not_finite(x, v)
    too_short = len(good) < signs.SHORTEST
    if not too_short:
        findings += _shapes(good, v, expected)
    finite = x[np.isfinite(x)]
    return LossReport(
        findings=findings,
        length=len(x),
        first=float(x[0]),
        lowest=float(finite.min()) if len(finite) else math.nan,
        last=float(x[-1]),
        curve=sketch(x),
        too_short=too_short,
        remarks=_remarks(len(good), len(v), expected, bool(findings)),
    )


def _as_losses(name: str, values: Any) -> np.ndarray:
    """``values`` as a float64 array (N,), N at least 1."""
    if hasattr(values, "ndim"):
        array = cuda.as_numpy(values)
        if array.ndim != 1:
            raise ValueError(
                f"diagnose_loss: expected {name} with one axis, got shape {array.shape}"
            )
        if array.dtype.kind not in "iufO":
            raise TypeError(
                f"diagnose_loss: expected {name} of real numbers, got {array.dtype}"
            )
        values = array.tolist()
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"diagnose_loss: expected {name} as a sequence of losses, "
            f"got {type(values).__name__}"
        )
    losses = [_as_loss(name, value) for value in values]
    if not losses:
        raise ValueError(f"diagnose_loss: expected losses in {name}, got none")
    return np.array(losses)


def _as_loss(name: str, value: Any) -> float:
    """One loss: a number, or a 0-d array or Variable, as scripts often collect them."""
    if hasattr(value, "ndim") and not isinstance(value, np.generic):
        value = cuda.as_numpy(value)
        if value.ndim:
            raise ValueError(
                f"diagnose_loss: expected {name} with one number per step, "
                f"got one of shape {value.shape}"
            )
        value = value.item()
    elif isinstance(value, (list, tuple)):
        raise ValueError(
            f"diagnose_loss: expected {name} with one number per step, "
            f"got a {type(value).__name__}"
        )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(
            f"diagnose_loss: expected {name} of real numbers, "
            f"got {type(value).__name__}"
        )
    return float(value)


def _found(kind: str, sign: signs.Sign, unit: float) -> LossFinding:
    """The finding, its losses in their own unit again."""
    evidence = {}
    for name, value in sign.evidence.items():
        of_loss = name not in signs.WITHOUT_UNIT
        evidence[name] = float(value) * (unit if of_loss else 1.0)
    return LossFinding(kind, sign.step, evidence, CAUSES[kind])


def _not_finite(
    x: np.ndarray, v: np.ndarray
) -> tuple[list[LossFinding], np.ndarray, np.ndarray]:
    """The first loss that is not finite, and what stands before it."""
    findings = []
    bad_v = np.flatnonzero(~np.isfinite(v))
    bad = np.flatnonzero(~np.isfinite(x))
    if len(bad):
        i = int(bad[0])
        evidence = {"loss": float(x[i])}
        if i:
            evidence["before"] = float(x[i - 1])
        causes = CAUSES["not finite"]
        if i >= 3 and x[i - 1] <= x[: i // 2 + 1].max():
            # Nothing had grown: rather a single bad number than a diverging training.
            causes = (*causes[1:3], causes[0], *causes[3:])
        findings.append(LossFinding("not finite", i, evidence, causes))
        v = v[: i * len(v) // len(x)]
        x = x[:i]
    elif len(bad_v):
        i = int(bad_v[0])
        evidence = {"validation loss": float(v[i])}
        findings.append(LossFinding("not finite", i, evidence, CAUSES["not finite"]))
    bad_v = np.flatnonzero(~np.isfinite(v))
    return findings, x, v[: bad_v[0]] if len(bad_v) else v


def _shapes(x: np.ndarray, v: np.ndarray, expected: float | None) -> list[LossFinding]:
    """What is wrong with the shape of finite losses, the most pressing first."""
    unit = float(max(np.abs(x).max(), np.abs(v).max(initial=0.0))) or 1.0
    x, v = x / unit, v / unit
    expected = None if expected is None else expected / unit
    rise, teeth, flat = (
        signs.sudden_rise(x),
        signs.saw_tooth(x),
        signs.flat(x, expected),
    )
    if rise and teeth and signs.is_tooth(rise, teeth, signs.start_level(x)):
        rise = None
    if rise or teeth:
        flat = None
    found = {"sudden rise": rise, "saw-tooth": teeth, "flat from the start": flat}
    if expected is not None:
        found["plateau above expectation"] = signs.plateau(x, expected)
    if len(v) >= signs.SHORTEST and not (rise or flat):
        found["falls then rises"] = signs.rises_again(v, x)
    return [_found(kind, sign, unit) for kind, sign in found.items() if sign]


def _remarks(n: int, n_v: int, expected: float | None, found: bool) -> list[str]:
    """What could not be told."""
    if n < signs.SHORTEST:
        return [
            f"With fewer than {signs.SHORTEST} finite losses only NaN and Inf are told."
        ]
    if found:
        return []
    remarks = []
    if expected is None:
        remarks.append("Whether it could be lower is told if expected= is given.")
    if n_v < signs.SHORTEST:
        remarks.append("Whether it overfits is told if validation= is given.")
    return remarks
