"""The extensions of Sphinx that the site has of its own, imported without Sphinx."""

import pathlib

from ..neighbours import imported

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSIONS = ROOT / "docs" / "_ext"


def extension(name):
    with imported(EXTENSIONS, [name]) as modules:
        return modules[name]
