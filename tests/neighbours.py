"""Scripts that import each other as neighbours, imported for a test."""

import contextlib
import importlib
import sys
from pathlib import Path

import pytest


@contextlib.contextmanager
def imported(folder, names):
    """The modules by name; afterwards none of that folder is left."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield {name: importlib.import_module(name) for name in names}
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and folder in Path(file).parents:
            del sys.modules[name]
