"""From text to pictures: programs, file types, errors, nothing left behind."""

import os
import stat
import subprocess

import numpy as np
import pytest

import dezero.functions as F
from dezero.core import Variable
from dezero.visualize import draw_graph, graph_rendering
from dezero.visualize.graph_rendering import (
    Drawing,
    file_format,
    find_renderer,
    picture,
)

STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "jpg": b"\xff\xd8", "jpeg": b"\xff\xd8"}


@pytest.fixture
def drawing():
    x = Variable(np.ones((2, 3)), name="x <größe>")
    return draw_graph(F.sum(x * x))


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Make a program of the given name and script the only one there is."""

    def make(name, script):
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/bin{os.pathsep}/usr/bin")
        return str(path)

    return make


@pytest.fixture
def no_program(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(graph_rendering, "_installed_pure", lambda: None)


@pytest.mark.parametrize("kind", STARTS)
def test_files_by_suffix(tmp_path, drawing, kind):
    path = tmp_path / f"graph.{kind}"
    drawing.save(path)
    assert path.read_bytes().startswith(STARTS[kind])
    assert os.listdir(tmp_path) == [path.name]
    assert drawing.render(kind).startswith(STARTS[kind])


def test_svg_holds_the_names(drawing):
    svg = drawing.render().decode("utf-8")
    assert "x &lt;größe&gt;" in svg
    assert "MulSum" not in svg
    assert "Sum" in svg


def test_capital_suffixes_blanks_and_other_letters(tmp_path, drawing):
    folder = tmp_path / "meine Bilder 図"
    folder.mkdir()
    path = folder / 'graph of "y"; $(x).SVG'
    drawing.save(path)
    assert path.read_bytes().startswith(STARTS["svg"])
    drawing.save(os.fsencode(folder / "g.png"))
    assert sorted(os.listdir(folder)) == sorted([path.name, "g.png"])


@pytest.mark.parametrize("suffix", ["dot", "gv"])
def test_text_needs_no_program(tmp_path, drawing, no_program, suffix):
    path = tmp_path / f"graph.{suffix}"
    drawing.save(path)
    assert path.read_text(encoding="utf-8") == drawing.dot


@pytest.mark.parametrize("name", ["graph", "graph.docx", "graph.", ".png"])
def test_unknown_types(tmp_path, drawing, name):
    with pytest.raises(ValueError, match=r"Drawing.save: expected .* \.svg, \.png"):
        drawing.save(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_file_format():
    assert file_format("f", "a/b.c/Graph.PDF") == "pdf"


def test_a_missing_folder(tmp_path, drawing):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        drawing.save(tmp_path / "nowhere" / "graph.png")


def test_no_program(tmp_path, drawing, no_program):
    assert find_renderer() is None
    with pytest.raises(ImportError, match=r"pip install 'dezero\[plot\]'"):
        drawing.save(tmp_path / "graph.png")
    with pytest.raises(ImportError, match="Drawing.render"):
        drawing.render()
    assert drawing._repr_svg_() is None
    assert drawing._repr_png_() is None
    assert "pip install 'dezero[plot]'" in repr(drawing)


def test_dot_on_the_path_comes_first(tmp_path, drawing, program):
    path = program("dot", 'for a; do out="$a"; done; echo "$@" > "$out"')
    assert find_renderer() == path
    drawing.save(tmp_path / "graph.pdf")
    asked = (tmp_path / "graph.pdf").read_text().split()
    assert asked[:3] == ["-Kdot", "-Tpdf", "-o"]


def test_graphviz_pure_on_the_path(program):
    path = program("graphviz-pure", "echo drawn")
    assert find_renderer() == path
    assert picture("f", "digraph {}", "svg") == b"drawn\n"


def test_graphviz_pure_beside_the_path(monkeypatch, tmp_path):
    # Without an activated environment, its programs are not on the PATH.
    monkeypatch.setenv("PATH", str(tmp_path))
    path = find_renderer()
    assert path is not None
    assert "graphviz-pure" in path
    assert picture("f", "digraph {}", "svg").startswith(STARTS["svg"])


def test_graphviz_pure_that_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(graph_rendering, "_PURE", "no-such-package-as-this")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_renderer() is None


def test_what_graphviz_pure_does_not_write(tmp_path, drawing, program):
    program("graphviz-pure", "echo drawn")
    with pytest.raises(ValueError, match=r"svg, png, jpg, jpeg, which .* got pdf; dot"):
        drawing.save(tmp_path / "graph.pdf")
    with pytest.raises(ValueError, match="Drawing.render: expected one of the types"):
        drawing.render("gif")


def test_a_program_that_fails(tmp_path, drawing, program):
    program("dot", "echo 'Format: no such thing' >&2; exit 3")
    path = tmp_path / "graph.png"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="failed with status 3: Format: no such"):
        drawing.save(path)
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["graph.png", "programs"]
    with pytest.raises(RuntimeError, match="Drawing.render: .* failed"):
        drawing.render()
    assert drawing._repr_svg_() is None


def test_a_program_that_fails_without_a_word(drawing, program):
    program("dot", "exit 1")
    with pytest.raises(RuntimeError, match="it said nothing"):
        drawing.render()


def test_a_program_that_writes_nothing(tmp_path, drawing, program):
    program("dot", "exit 0")
    with pytest.raises(RuntimeError, match="wrote nothing"):
        drawing.save(tmp_path / "graph.png")
    with pytest.raises(RuntimeError, match="wrote nothing"):
        drawing.render()
    assert os.listdir(tmp_path) == ["programs"]


def test_a_program_that_does_not_start(drawing, program):
    path = program("dot", "")
    with open(path, "w") as file:
        file.write("#!/no/such/shell\n")
    with pytest.raises(RuntimeError, match="did not start"):
        drawing.render()


def test_a_program_that_takes_too_long(monkeypatch, program):
    program("dot", "")

    def run(command, timeout, **options):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(RuntimeError, match=r"within 2 seconds; draw less"):
        picture("f", "digraph {}", "svg", timeout=2)


def test_large_drawings_have_fewer_pixels(program):
    program("dot", 'echo "$@"')
    small = picture("f", "digraph {}", "png")
    large = picture("f", "digraph {}" + " " * 40_000, "png")
    assert b"-Gdpi=144" in small
    assert b"-Gdpi=96" in large
    assert b"-Gdpi" not in picture("f", "digraph {}", "svg")


def test_in_a_notebook(drawing):
    assert drawing._repr_svg_().startswith("<?xml")
    assert drawing._repr_png_().startswith(STARTS["png"])
    assert repr(drawing) == "Drawing(2 functions; save('graph.svg') draws it)"


def test_a_lone_surrogate_is_no_error():
    assert Drawing('digraph {a [label="\ud800"]}', "").render()
