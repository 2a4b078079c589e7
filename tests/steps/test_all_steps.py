"""Every step and every solution runs, says something, and has the form of a step."""

import ast
import contextlib
import gc
import pathlib
import random
import re
import runpy
import sys
import threading

import numpy as np
import pytest

from dezero import Config, Function
from dezero.steps import PARTS, find_steps, title_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "steps"
COUNT = 72
STEPS = sorted(FOLDER.glob("step*.py"))
SOLUTIONS = sorted((FOLDER / "solutions").glob("step*.py"))
SCRIPTS = STEPS + SOLUTIONS
DRAWING = [path for path in SCRIPTS if "matplotlib" in path.read_text(encoding="utf-8")]
# Those that build the framework repeat it, to run by themselves: they are longer.
LONGEST = {True: 400, False: 250}
ALONE = 22  # up to this step


def named(paths):
    return pytest.mark.parametrize(
        "path", paths, ids=[path.relative_to(FOLDER).as_posix() for path in paths]
    )


def number_of(path):
    return int(path.name[4:6])


# ---- they run --------------------------------------------------------------------


@contextlib.contextmanager
def states_given_back():
    """What a script may leave behind in this process is undone."""
    state, python_state = np.random.get_state(), random.getstate()
    config = Config.enable_backprop, Config.train
    call, limit, collects = Function.__call__, sys.getrecursionlimit(), gc.isenabled()
    with np.errstate(), np.printoptions():
        yield
        left = Config.enable_backprop, Config.train
        same_call = Function.__call__ is call
    np.random.set_state(state)
    random.setstate(python_state)
    Config.enable_backprop, Config.train = config
    Function.__call__ = call
    sys.setrecursionlimit(limit)
    (gc.enable if collects else gc.disable)()
    assert left == config, "Config is not as it was"
    assert same_call, "Function.__call__ is not as it was"


@contextlib.contextmanager
def figures_closed():
    """Figures are drawn without a display, and none stays open."""
    try:
        import matplotlib
    except ImportError:
        yield
        return
    backend = matplotlib.get_backend()
    matplotlib.use("agg")
    try:
        with matplotlib.rc_context():
            yield
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
        matplotlib.use(backend)


def run(path, folder, monkeypatch, capfd):
    """Run a script in a folder, as a script; return what it printed."""
    monkeypatch.chdir(folder)
    threads = threading.active_count()
    with states_given_back(), figures_closed():
        runpy.run_path(str(path), run_name="__main__")
    gc.collect()
    assert threading.active_count() <= threads
    printed, warned = capfd.readouterr()
    assert warned == ""
    return printed


@named(SCRIPTS)
def test_runs(path, tmp_path, monkeypatch, capfd):
    # pytest makes every warning an error, NumPy's about overflow and NaN too.
    printed = run(path, tmp_path, monkeypatch, capfd)
    assert printed.strip()
    for file in tmp_path.rglob("*.png"):
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.name in printed, "a picture that nobody is told of"


@named(DRAWING)
def test_runs_without_matplotlib(path, tmp_path, monkeypatch, capfd):
    for name in [*sys.modules, "matplotlib", "matplotlib.pyplot"]:
        if name.split(".")[0] in ("matplotlib", "mpl_toolkits"):
            monkeypatch.setitem(sys.modules, name, None)
    assert run(path, tmp_path, monkeypatch, capfd).strip()


# ---- they are complete -----------------------------------------------------------


def test_no_number_is_missing():
    assert [number_of(path) for path in STEPS] == list(range(1, COUNT + 1))
    names = [f"step{number:02}.py" for number in range(1, COUNT + 1)]
    assert [path.name for path in SOLUTIONS] == names


def test_the_folder_has_nothing_else():
    known = {*SCRIPTS, FOLDER / "README.md", FOLDER / "solutions"}
    found = {path for path in FOLDER.rglob("*") if not is_cache(path)}
    assert found == known


def is_cache(path):
    """Is a path what Python or a tool leaves behind?"""
    names = path.relative_to(FOLDER).parts
    return any(name == "__pycache__" or name.startswith(".") for name in names)


def test_parts_begin_where_the_map_says():
    numbers = [step.number for step in find_steps(FOLDER)]
    assert set(PARTS) <= set(numbers)


# ---- they look like steps --------------------------------------------------------


def cells_of(text):
    """The cells of a script: what follows each ``# %%``."""
    return re.split(r"^# %%.*\n", text, flags=re.MULTILINE)[1:]


def exercises_of(text):
    """The numbers of the exercises of a step."""
    last = cells_of(text)[-1]
    assert re.match(r"# Exercises\n# -{9}\n", last), "the last cell is no Exercises"
    code = [line for line in last.splitlines() if line and not line.startswith("#")]
    assert code == [], "code below the exercises"
    return [int(n) for n in re.findall(r"^# (\d+)\. ", last, flags=re.MULTILINE)]


def faults_of_form(text, number):
    """What is wrong with the form of a step or its solutions, in words."""
    lines = text.splitlines()
    tree = ast.parse(text)
    docstring = (ast.get_docstring(tree) or "").splitlines()
    if len(docstring) < 2 or docstring[1] != "=" * len(docstring[0]):
        yield "no title with an underline of its length"
    elif not {f"{n}" for n in re.findall(r"step (\d+)", docstring[0].lower())} <= {
        f"{number:02}"
    }:
        yield "the title has another number"
    if len(cells_of(text)) < 2:
        yield "no cells"
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        yield "nothing is asserted"
    if len(lines) > LONGEST[number <= ALONE]:
        yield f"{len(lines)} lines"
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield "no single line end at the end"
    yield from forbidden(tree)


def forbidden(tree):
    """Options, path tricks, the network, guards, types."""
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
            if node.level:
                yield "a relative import"
        for module in modules:
            if module.split(".")[0] in (
                "argparse",
                "urllib",
                "http",
                "socket",
                "typing",
            ):
                yield f"imports {module}"
            if re.match(r"step\d|steps", module):
                yield f"imports {module}, another step"
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path":
            yield "sys.path"
        if isinstance(node, ast.Constant) and node.value == "__main__":
            yield "__main__"
        if isinstance(node, ast.AnnAssign):
            yield "a type"
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield "a type"


@named(SCRIPTS)
def test_form(path):
    text = path.read_text(encoding="utf-8")
    assert list(faults_of_form(text, number_of(path))) == []


@named(STEPS)
def test_form_of_a_step(path):
    text = path.read_text(encoding="utf-8")
    assert re.fullmatch(r"step\d\d_[a-z0-9_]+\.py", path.name)
    introduction = ast.get_docstring(ast.parse(text))
    assert re.search(r"^New (since the step before|in this step)\b", introduction, re.M)
    marks = re.findall(r"^ *# New in this step\b", text, flags=re.MULTILINE)
    assert len(marks) == 1
    assert exercises_of(text) in ([1, 2], [1, 2, 3])
    if number_of(path) <= ALONE:
        assert not re.search(r"^(import|from) dezero", text, flags=re.MULTILINE)
    else:
        assert re.search(r"^(import|from) dezero", text, flags=re.MULTILINE)


def solved_in(text):
    """The exercises that have a cell of their own, and an assertion there or below."""
    solved = {}
    for cell in cells_of(text):
        match = re.match(r"# (?:Exercise )?(\d+)(?:\. \S|\n)", cell)
        if match:
            solved[int(match[1])] = False
        if solved and re.search(r"^ *assert ", cell, flags=re.MULTILINE):
            solved[list(solved)[-1]] = True
    return [number for number, asserted in solved.items() if asserted]


@named(STEPS)
def test_every_exercise_is_solved(path):
    solutions = FOLDER / "solutions" / f"step{number_of(path):02}.py"
    solved = solved_in(solutions.read_text(encoding="utf-8"))
    assert solved == exercises_of(path.read_text(encoding="utf-8"))


# ---- these tests find what they look for -----------------------------------------

GOOD = '''"""
Step 30: good
=============
"""

# %%
# One cell.
x = 1
assert x == 1

# %%
# Another.
'''


def test_a_good_form_is_accepted():
    assert list(faults_of_form(GOOD, 30)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("=============", "===", "no title with an underline of its length"),
        ("Step 30: good", "Step 31: good", "the title has another number"),
        ("# %%\n# Another.", "# Another.", "no cells"),
        ("assert x == 1", "print(x)", "nothing is asserted"),
        ("# Another.\n", "# Another.\n" * 240, "251 lines"),
        ("# Another.\n", "# Another.\n\n", "no single line end at the end"),
        ("x = 1", "x = 1\nimport argparse", "imports argparse"),
        ("x = 1", "x = 1\nfrom urllib import request", "imports urllib"),
        ("x = 1", "x = 1\nimport step29_newton", "imports step29_newton, another step"),
        ("x = 1", "x = 1\nfrom . import y", "a relative import"),
        ("x = 1", "x = 1\nimport sys\nsys.path.append('.')", "sys.path"),
        ("x = 1", "x = 1\nif __name__ == '__main__':\n    pass", "__main__"),
        ("x = 1", "x: int = 1", "a type"),
        ("x = 1", "x = 1\ndef f(y: int):\n    pass", "a type"),
    ],
)
def test_a_fault_of_form_is_found(old, new, fault):
    assert old in GOOD
    assert list(faults_of_form(GOOD.replace(old, new, 1), 30)) == [fault]


def test_solutions_are_recognised():
    text = "# %%\n# {}\nassert 1\n\n# %%\n# {}\n\n# %%\nx = 1\nassert x\n"
    assert solved_in(text.format("1. How?", "2. Why?")) == [1, 2]
    assert solved_in(text.format("Exercise 1. How?", "Exercise 2\n# ---")) == [1, 2]
    assert solved_in(text.format("The class.", "1. How?")) == [1]
    assert solved_in(text.format("1. How?", "2. Why?").replace("assert x", "x")) == [1]


def test_what_a_script_leaves_behind_is_noticed(tmp_path, monkeypatch, capfd):
    script = tmp_path / "script.py"
    state = np.random.get_state()[1].copy()
    script.write_text(
        "import numpy as np\n"
        "from dezero import Config\n"
        "np.random.seed(5)\n"
        "np.seterr(all='ignore')\n"
        "Config.train = False\n"
    )
    errors = np.geterr()
    with pytest.raises(AssertionError, match="Config is not as it was"):
        run(script, tmp_path, monkeypatch, capfd)
    assert Config.train
    assert np.geterr() == errors
    assert np.array_equal(np.random.get_state()[1], state)


def test_a_warning_of_numpy_fails_a_script(tmp_path, monkeypatch, capfd):
    script = tmp_path / "script.py"
    script.write_text("import numpy as np\nnp.log(np.zeros(1))\n")
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        run(script, tmp_path, monkeypatch, capfd)


def test_titles_are_there():
    assert all(title_of(path) for path in STEPS)
