"""Import, drawings."""

import os
import pathlib
import stat
import subprocess
import sys

import numpy as np
import pytest

import dezero as dz
from dezero import utils

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code, **environment):
    """What the code prints in a fresh interpreter."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# The sources warned while they were compiled, and so a program that turns warnings into
# errors could not import them.
def test_the_import_warns_of_nothing(tmp_path):
    run(
        "import warnings, numpy; warnings.simplefilter('error'); import dezero",
        PYTHONPYCACHEPREFIX=str(tmp_path),  # nothing there: it compiles anew
    )


# The import needed Pillow, which was not among the requirements.
@pytest.mark.parametrize("missing", ["PIL", "matplotlib", "graphviz", "IPython"])
def test_the_import_needs_no_package_for_pictures(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import numpy as np, dezero, dezero.utils
x = dezero.Variable(np.array(3.0))
(x * x).backward()
print(x.grad.data)
"""
    assert run(code).strip() == "6.0"


# A Variable that no Function made could not be drawn.
def test_a_leaf_can_be_drawn():
    dot = utils.get_dot_graph(dz.Variable(np.array(1.0), name="alone"))
    assert dot.startswith("digraph")
    assert "alone" in dot


# A blank in the path split the command that was given to the shell.
@pytest.mark.parametrize("folder", ["my graphs", "a;b", "$(echo x)", "it's"])
def test_a_path_is_one_word(tmp_path, monkeypatch, folder):
    dot = tmp_path / "programs" / "dot"
    dot.parent.mkdir()
    # The last argument is where the picture goes.
    dot.write_text('#!/bin/sh\nfor a; do out="$a"; done\necho drawn > "$out"\n')
    dot.chmod(dot.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{dot.parent}{os.pathsep}{os.environ['PATH']}")
    target = tmp_path / folder / "g.png"
    target.parent.mkdir()
    x = dz.Variable(np.array(1.0), name="x")
    utils.plot_dot_graph(x * 2.0, to_file=str(target))
    assert target.read_text() == "drawn\n"
    assert os.listdir(target.parent) == ["g.png"]
