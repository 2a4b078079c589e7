"""What a page of the reference says of its names, as RST. Sphinx is not needed here."""

import inspect
import re
from collections.abc import Iterable
from types import ModuleType


def first_words(value: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def described(module: ModuleType, names: Iterable[str], members: bool) -> str:
    """A table of the names of a module, and below it what each of them is.

    Args:
        module: Where the names are, and what Sphinx takes as the current module.
        names: In the order of the page.
        members: Are the methods of classes described too?
    """
    values = {name: getattr(module, name) for name in names}
    lines = [".. list-table::", "   :class: described", "   :widths: auto", ""]
    for name, value in values.items():
        lines.append(f"   * - :py:obj:`~{module.__name__}.{name}`")
        lines.append(f"     - {first_words(value)}")
    for name, value in values.items():
        kind = "class" if inspect.isclass(value) else "function"
        lines += ["", f".. auto{kind}:: {name}"]
        if members and kind == "class":
            lines.append("   :members:")
    return "\n".join(lines)


def without_any(arguments: str, result: str | None) -> tuple[str, str | None]:
    """A signature without the hint Any: the text says which arrays fit."""
    if result and re.fullmatch(r"(?:~?typing\.)?Any", result):
        result = None
    hint = r": (?:~?typing\.)?Any(?: \| None)?(?: (=) |(?=[,)]))"
    return re.sub(hint, r"\1", arguments), result
