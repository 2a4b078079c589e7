"""Values that left the graph, and what they went on as."""

from __future__ import annotations

from dezero.core import Variable
from dezero.diagnostics.chain_reports import ChainReport, name_of
from dezero.diagnostics.graphs import Use, live_uses
from dezero.diagnostics.likeness import Relatives
from dezero.diagnostics.tracing import Break


def broken_report(param: Variable, breaks: list[Break]) -> ChainReport:
    """The report of where the chain ended in the run."""
    first = breaks[0]
    value = first.value.label if first.value.maker else name_of(param)
    into = f"{first.into} got" if first.into else "the loss is"
    door = f" by {first.door}" if first.door else ""
    remedy = _REMEDIES[first.kind]
    if first.kind == "no_grad" and first.door:
        message = (
            f"{value} went into {first.into} in a backward pass that was not recorded: "
            "its results are constants."
        )
        remedy = "backward(create_graph=True), or dz.grad with create_graph=True."
    elif first.kind == "no_grad":
        what = f"{value} went into {first.into} under no_grad."
        message = f"{what} What is computed there is a constant."
    elif first.kind == "frozen":
        message = f"{first.into} got {value}, whose requires_grad was False."
    elif first.kind == "cut":
        message = (
            f"{into} {value}, which unchain() or unchain_backward() has made a leaf: "
            "the gradient ends there."
        )
    elif first.kind == "detached":
        message = f"{into} the array of {value} as a constant{door}."
    elif first.kind == "new variable":
        message = (
            f"{into} a new Variable around the array of {value}{door}: the gradient "
            "ends in that Variable."
        )
    elif first.kind == "copied":
        message = (
            f"{into} an array with the same numbers as {value} in other memory{door}: "
            "most likely a copy, which no gradient leaves."
        )
    elif first.kind == "cast":
        message = (
            f"{into} integers, {value} without the fraction{door}: most likely it was "
            "cast, and integers have no gradient."
        )
    else:
        message = (
            f"{into} integers, the places of the greatest or least of {value}{door}: "
            "they have no gradient."
        )
    if len(breaks) > 1:
        more = len(breaks) - 1
        message += f" And {more} more such place{'s' if more > 1 else ''}."
    return ChainReport(False, first.kind, _sentence(message), remedy, first.lines)


_REMEDIES = {
    "no_grad": "Compute the loss outside no_grad.",
    "frozen": "requires_grad = True before the forward pass.",
    "cut": "Cut after backward(), or cut further back.",
    "detached": "Pass the Variable itself, without .data or detach().",
    "new variable": "Pass the Variable itself instead of Variable(x.data).",
    "copied": "Pass the Variable itself, and use dezero.functions in place of NumPy on "
    "arrays. Of a copied model, ask for the parameter of the copy.",
    "cast": "Keep it floating; cast only what needs no gradient.",
    "counted": "Use a loss that changes smoothly, such as softmax_cross_entropy.",
}


# =============================================================================
# Constants and what they may have come from
# =============================================================================


def candidates_for(param: Variable) -> Relatives:
    """The parameter, and what is alive of the results that depend on it."""
    relatives = Relatives()
    for use in [Use(None, param, param.data, param.shape), *live_uses(param)]:
        relatives.add(use.data, use)
    return relatives


def match(x: Variable, candidates: Relatives) -> tuple[str, Use] | None:
    """How ``x`` may have come from one of the candidates: surely, or by its values.

    The places of maxima do not count: they may as well be labels that the model knows.
    """
    for kind, use in candidates.of(x.data):
        if use.x is not x and kind != "counted":
            return kind, use
    return None


def found_report(
    param: Variable, where: str, x: Variable, kind: str, use: Use
) -> ChainReport:
    """The report on a constant or leaf that is like something that depends on param."""
    if use.function is None:
        value = name_of(param)
    else:
        label = f" {use.x.name!r}" if use.x is not None and use.x.name else ""
        value = f"the result{label} of {type(use.function).__name__} {use.shape}"
    where = "the loss is" if where == "loss" else where
    if kind == "memory":
        new = x.requires_grad
        kind = "new variable" if new else "detached"
        what = (
            f"another Variable around the array of {value}: the gradient ends in that "
            "Variable"
            if new
            else f"the array of {value} as a constant (.data or detach())"
        )
    elif kind == "copied":
        what = (
            f"an array with the same numbers as {value}, in other memory: most likely "
            "a copy (np.array, .copy(), deepcopy), which no gradient leaves"
        )
    else:
        what = (
            f"integers that are {value} without the fraction: most likely it was cast "
            "(astype(int)), and integers have no gradient"
        )
    return ChainReport(False, kind, _sentence(f"{where} {what}."), _REMEDIES[kind])


def _sentence(text: str) -> str:
    """Capital T for "the"; the name of a parameter stays as it is."""
    return "The" + text[3:] if text.startswith("the ") else text
