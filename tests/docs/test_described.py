"""A page of the reference, made by Sphinx where the extra `docs` is installed."""

import os
import subprocess
import sys

import pytest

from .extensions import EXTENSIONS

pytest.importorskip("sphinx", reason="makes a page: that needs the extra docs")

CONF = """
import sys
sys.path[:0] = {folders!r}
extensions = ["sphinx.ext.autodoc", "described"]
"""
SHELF = '''
"""Things that are documented."""
from typing import Any

class Box:
    """A box."""

    def open(self) -> None:
        """Opens it."""

def put(box: Any, n: int = 1) -> Any:
    """Puts *n* boxes.

    One after the other.
    """
'''
PAGE = """\
Shelf
=====

.. currentmodule:: shelf

.. described::

   put

.. described::
   :members:

   Box
"""


def make(folder, page):
    """What Sphinx says, and the page as text."""
    (folder / "shelf.py").write_text(SHELF)
    (folder / "index.rst").write_text(page)
    folders = [str(folder), str(EXTENSIONS)]
    (folder / "conf.py").write_text(CONF.format(folders=folders))
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "text", ".", "made"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    made = folder / "made" / "index.txt"
    return result.stderr, made.read_text() if made.exists() else None


def test_page(tmp_path):
    errors, text = make(tmp_path, PAGE)
    assert errors == ""
    words = " ".join(text.split())
    table, functions, classes = (
        words.index(part)
        for part in (
            '"put" | Puts *n* boxes.',
            "shelf.put(box, n: int = 1)",
            "class shelf.Box",
        )
    )
    assert table < functions < classes
    assert "One after the other." in words
    assert "Opens it." in words and words.count("A box.") == 2


def test_a_name_that_is_not_there(tmp_path):
    errors, _ = make(tmp_path, PAGE.replace("   put\n", "   take\n"))
    assert "module 'shelf' has no attribute 'take'" in errors
