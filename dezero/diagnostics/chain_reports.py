"""What explain_grad says: the reason, the place, the remedy."""

from __future__ import annotations

from dataclasses import dataclass, field

from dezero.core import Variable
from dezero.diagnostics.tables import Report, Table


@dataclass(frozen=True)
class Ending:
    """Something in the graph of the loss that passes no gradient on.

    Attributes:
        function: The Function that got it, or "loss".
        place: Which of its inputs it is.
        shape: Its shape; None if it was not kept.
        what: "constant", or "leaf" and its name.
    """

    function: str
    place: int
    shape: tuple[int, ...] | None
    what: str


@dataclass(frozen=True)
class ChainReport(Report):
    """What :func:`explain_grad` found.

    Attributes:
        reaches: Does ``loss.backward()`` bring the parameter a gradient that is finite
            and not zero everywhere?
        reason: One word or two: "reaches"; "zero", "not finite", "no gradient" (a
            backward returned None) or "error"; "intermediate"; "frozen", "boolean" or
            "no data", which the parameter is; "no_grad"; "constant", "integer", "leaf"
            or "no variable", which the loss is; "detached", "new variable", "copied",
            "cast", "counted" or "left", which a value that depends on the parameter
            was; "cut" or "freed", which the graph was; "unused", "elsewhere" or
            "unknown".
        message: What was found.
        remedy: What to do about it.
        lines: Where in the user's code that is, if the run was observed.
        path: The Functions from the loss to the parameter, if there is such a path.
        norm: The L2 norm of the gradient, if one arrives.
        endings: What else in the graph of the loss passes no gradient on; looked up
            only where the reason is not certain.
    """

    reaches: bool
    reason: str
    message: str
    remedy: str = ""
    lines: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    norm: float | None = None
    endings: list[Ending] = field(default_factory=list)

    def title(self) -> str:
        """The outcome."""
        return f"explain_grad: {self.reason}. {self.message}"

    def table(self) -> Table:
        """What passes no gradient on, where the reason is not certain."""
        shown = self.endings[:10]
        return Table(
            ("graph of loss ends in", "input", "what", "shape"),
            [
                (
                    e.function,
                    str(e.place),
                    e.what,
                    "not kept" if e.shape is None else str(e.shape),
                )
                for e in shown
            ],
            right=(1,),
        )

    def notes(self) -> list[str]:
        """Lines, path and remedy."""
        notes = []
        if len(self.endings) > 10:
            notes.append(f"... and {len(self.endings) - 10} more")
        if self.lines:
            notes.append("\n".join(["At (innermost first):", *self.lines]))
        if self.path:
            names = self.path
            if len(names) > 12:
                names = [*names[:6], f"({len(names) - 12} more)", *names[-6:]]
            notes.append("Path from the loss: " + " > ".join(names))
        if self.remedy:
            notes.append(f"Remedy: {self.remedy}")
        return notes


def name_of(param: Variable) -> str:
    """What reports call a parameter."""
    return param.name or "param"
