"""The directive `described`: a table of names, and below it what each of them is.

The names are those of the current module, in the order given::

    .. currentmodule:: dezero.functions

    .. described::

       exp log sqrt

With the option ``:members:``, methods and attributes of classes are described too.
"""

import importlib
import inspect
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def first_words(value: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


class Described(SphinxDirective):
    """A summary of the names, then their docstrings."""

    has_content = True
    option_spec = {"members": lambda argument: argument}

    def run(self) -> list[nodes.Node]:
        """Write the two parts as RST and let Sphinx read them."""
        module = importlib.import_module(self.env.ref_context["py:module"])
        names = " ".join(self.content).split()
        lines = [".. list-table::", "   :class: described", "   :widths: auto", ""]
        for name in names:
            lines.append(f"   * - :py:obj:`~{module.__name__}.{name}`")
            lines.append(f"     - {first_words(getattr(module, name))}")
        for name in names:
            kind = "class" if inspect.isclass(getattr(module, name)) else "function"
            lines += ["", f".. auto{kind}:: {name}"]
            if kind == "class" and "members" in self.options:
                lines.append("   :members:")
        return self.parse_text_to_nodes("\n".join(lines))


def without_any(
    app: Sphinx,
    what: str,
    name: str,
    obj: object,
    options: object,
    arguments: str | None,
    result: str | None,
) -> tuple[str, str | None] | None:
    """Leave the hint Any out of a signature: the text says which arrays fit."""
    if arguments is None:
        return None
    hint = r": (?:~?typing\.)?Any(?: \| None)?(?: (=) )?"
    if result and re.fullmatch(r"(?:~?typing\.)?Any", result):
        result = None
    return re.sub(hint, r"\1", arguments), result


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about it."""
    app.add_directive("described", Described)
    app.connect("autodoc-process-signature", without_any)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
