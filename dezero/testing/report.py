"""What a gradient check found: numbers, verdicts, and a table to print."""

from __future__ import annotations

from dataclasses import dataclass

BANDS = ((1e-7, "right"), (1e-5, "rounding"), (1e-3, "suspicious"))


def verdict(error: float) -> str:
    """What a relative error says about a gradient.

    Up to 1e-7 it is "right"; up to 1e-5 the difference may be "rounding"; up to 1e-3 it
    is "suspicious"; above, or if it is no number, the gradient is "wrong".
    """
    for limit, name in BANDS:
        if error <= limit:
            return name
    return "wrong"


@dataclass(frozen=True)
class GradientCheck:
    """One derivative, computed in two ways.

    Attributes:
        order: 1 for the gradient of f, 2 for the gradient of its gradient, and so on.
        by: What was varied: an input or, from order 2 on, the incoming gradient gy of
            an output; at order 3 also the gradient ggx that comes in for an input's gx.
        shape: The shape of what was varied.
        analytic: The derivative along the direction, from ``backward``.
        numeric: The same from central differences.
        error: ``|analytic - numeric| / (sum |g_i d_i| + tiny)``, the largest over the
            directions; the other two are those of that direction.
    """

    order: int
    by: str
    shape: tuple[int, ...]
    analytic: float
    numeric: float
    error: float

    @property
    def verdict(self) -> str:
        """The band that the error falls into, see :func:`verdict`."""
        return verdict(self.error)


@dataclass(frozen=True)
class GradientReport:
    """What :func:`check_gradients` found. Printed, it is a table."""

    name: str
    checks: tuple[GradientCheck, ...]

    @property
    def error(self) -> float:
        """The largest error."""
        return max([check.error for check in self.checks], default=0.0)

    @property
    def verdict(self) -> str:
        """The worst verdict."""
        return verdict(self.error)

    def assert_ok(self, limit: float = 1e-5) -> None:
        """Fail, with the table, if an error exceeds ``limit``.

        Raises:
            AssertionError: One does.
        """
        if not self.error <= limit:
            raise AssertionError(
                f"gradients of {self.name[:40]} differ by more than {limit:g}\n{self}"
            )

    def __str__(self) -> str:
        lines = [
            f"{'order':5}  {'by':9}  {'shape':14}  "
            f"{'analytic':>10}  {'numeric':>10}  {'error':>7}  verdict"
        ]
        for check in self.checks:
            lines.append(
                f"{check.order:<5}  {check.by:9}  {_fit(check.shape, 14):14}  "
                f"{check.analytic:10.3g}  {check.numeric:10.3g}  {check.error:7.1e}  "
                f"{check.verdict}"
            )
        return "\n".join(lines)


def _fit(shape: tuple[int, ...], width: int) -> str:
    text = str(shape)
    return text if len(text) <= width else text[: width - 3] + "..."
