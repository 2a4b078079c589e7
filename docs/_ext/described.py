"""The directive `described`: a table of names, and below it what each of them is.

The names are those of the current module, in the order given::

    .. currentmodule:: dezero.functions

    .. described::

       exp log sqrt

With the option ``:members:``, methods and attributes of classes are described too.
"""

import importlib

import summaries
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Described(SphinxDirective):
    """A summary of the names, then their docstrings."""

    has_content = True
    option_spec = {"members": lambda argument: argument}

    def run(self) -> list[nodes.Node]:
        """Write the two parts as RST and let Sphinx read them."""
        module = importlib.import_module(self.env.ref_context["py:module"])
        names = " ".join(self.content).split()
        return self.parse_text_to_nodes(
            summaries.described(module, names, "members" in self.options)
        )


def without_any(
    app: Sphinx,
    what: str,
    name: str,
    obj: object,
    options: object,
    arguments: str | None,
    result: str | None,
) -> tuple[str, str | None] | None:
    """Leave the hint Any out of a signature."""
    return None if arguments is None else summaries.without_any(arguments, result)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about it."""
    app.add_directive("described", Described)
    app.connect("autodoc-process-signature", without_any)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
