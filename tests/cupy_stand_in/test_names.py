"""What dezero asks of ``xp``, read from its source: CuPy has all of it."""

import ast
import pathlib

import pytest

import dezero

from .names import CLASSES, MODULES, VERSION, signature_of

ROOT = pathlib.Path(dezero.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
OF_UFUNCS = {"out", "dtype", "casting"}
# ``cuda`` asks for what NumPy has not, and asks no one else.
CUBLAS = "cupy_backends.cuda.libs.cublas"
PATHS = {"xp": "cupy", "cupy": "cupy", "cublas": CUBLAS}


def path_of(node):
    """``xp.random.rand`` as ("cupy.random", "rand"); None for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in PATHS or not names:
        return None
    path = PATHS[node.id]
    while names[1:] and f"{path}.{names[0]}" in {**MODULES, **CLASSES}:
        path = f"{path}.{names.pop(0)}"
    return path, names[0]


def asked_for(tree):
    """(module, name, keywords) of each attribute of ``xp`` in a file."""
    calls = {
        id(node.func): [k.arg for k in node.keywords if k.arg]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    for node in ast.walk(tree):
        found = path_of(node)
        if found and not found[1].startswith("__"):
            yield (*found, calls.get(id(node), []), node.lineno)


def problems(path, name, keywords):
    entry = {**MODULES, **CLASSES}[path].get(name)
    if entry is None:
        yield f"CuPy {VERSION} has no {path}.{name}"
    elif isinstance(entry, dict):
        yield from [f"{name} takes no {k}" for k in keywords if k not in OF_UFUNCS]
    elif entry.startswith("("):
        taken = signature_of(path, name).parameters.values()
        names = {p.name for p in taken if p.kind not in (p.VAR_KEYWORD,)}
        if not any([p.kind is p.VAR_KEYWORD for p in taken]):
            yield from [f"{name} takes no {k}" for k in keywords if k not in names]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_cupy_has_what_is_asked_of_it(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = [
        f"line {line}: {problem}"
        for path, name, keywords, line in asked_for(tree)
        for problem in problems(path, name, keywords)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "xp.errstate()",
        "xp.sum(x, where=m)",
        "xp.exp(x, where=m)",
        "xp.random.get_state()",
        "xp.float128",
    ],
)
def test_a_wrong_name_is_found(line):
    assert [
        problem
        for path, name, keywords, _ in asked_for(ast.parse(line))
        for problem in problems(path, name, keywords)
    ]


def test_something_is_asked_for():
    files = (ROOT / "functions").glob("*.py")
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    names = {name for tree in trees for _, name, _, _ in asked_for(tree)}
    assert {"where", "einsum", "random_sample"} <= names
