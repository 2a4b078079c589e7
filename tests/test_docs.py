"""The pages of the site: what they name exists, what they print is true."""

import ast
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import dezero as dz
from dezero import layers, models, optimizers

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.rst")}
REFERENCE = {
    path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.rst")
}
COMING_FROM = [name for name in PAGES if name.startswith("from_")]


# ---- code ------------------------------------------------------------------------


def blocks(page):
    """The code blocks of a page that are Python."""
    pattern = r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)"
    found = re.findall(pattern, page + "\n", flags=re.MULTILINE)
    return [textwrap.dedent(block).strip() + "\n" for block in found]


CODE = {
    f"{name}-{i}": code
    for name, page in sorted(PAGES.items())
    for i, code in enumerate(blocks(page), 1)
}


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_code_prints_what_the_page_says(code, tmp_path):
    expected = re.findall(r"print\(.*\)(?:  |\n)# (.*)", code)  # beside it or below
    assert expected
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == expected


# ---- the reference ---------------------------------------------------------------


def described():
    """(module, name) of everything that the pages of the reference describe."""
    pattern = (
        r"^\.\. (?:currentmodule:: (\S+)|py:data:: (\S+)"
        r"|described::\n(?:   :members:\n)?\n((?:   .*\n)+))"
    )
    for text in REFERENCE.values():
        module = None
        for switch, data, names in re.findall(pattern, text, flags=re.MULTILINE):
            module = switch or module
            for name in [data] if data else names.split():
                yield module, name


DESCRIBED = list(described())
PUBLIC = [
    "autodiff",
    "checkpoints",
    "dataloaders",
    "datasets",
    "diagnostics",
    "functions",
    "layers",
    "models",
    "optimizers",
    "testing",
    "training",
    "transforms",
    "visualize",
]


def test_reference_names_what_exists_once():
    assert len(DESCRIBED) == len(set(DESCRIBED))
    for module, name in DESCRIBED:
        assert hasattr(importlib.import_module(module), name), (module, name)


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_in_the_reference(package):
    module = importlib.import_module(f"dezero.{package}")
    objects = [getattr(importlib.import_module(m), name) for m, name in DESCRIBED]
    missing = [
        name
        for name in module.__all__
        if not inspect.ismodule(getattr(module, name))
        and not any(getattr(module, name) is thing for thing in objects)
    ]
    assert missing == []


def test_names_of_the_package_are_in_the_reference():
    names = {name for _, name in DESCRIBED}
    values = {name: getattr(dz, name) for name in dz.__all__}
    others = {"is_simple_core"}  # for old scripts alone
    assert [
        name
        for name, value in values.items()
        if not inspect.ismodule(value) and name not in names | others
    ] == []


# ---- names in the text -----------------------------------------------------------

SPACES = {
    "F": dz.functions,
    "L": layers,
    "M": models,
    "dezero": dz,
    "dz": dz,
    "optimizers": optimizers,
    "datasets": dz.datasets,
    "utils": dz.utils,
}


def ours():
    """(page, span) of code in the text; of tables side by side, their second column."""
    for page, text in PAGES.items():
        if page == "from_chainer":  # which has an F, L and optimizers of its own
            cells = re.findall(r"^     - (.*)", text, flags=re.MULTILINE)
            text = "\n".join(cells)
        for span in re.findall(r"``([^`]+)``", text):
            yield page, span


def calls(span):
    """The tree of a span that is Python, else None."""
    code = span.removeprefix("@")
    if code.startswith("with "):
        code = code.removeprefix("with ").rstrip(":")
    try:
        return ast.parse(code)
    except SyntaxError:
        return None


def resolve(node):
    """What a dotted name that begins with one of ours stands for; None for others."""
    if isinstance(node, ast.Name):
        return SPACES.get(node.id)
    if isinstance(node, ast.Attribute):
        base = resolve(node.value)
        if inspect.ismodule(base):
            if base is dz and (ROOT / "dezero" / node.attr).is_dir():
                return importlib.import_module(f"dezero.{node.attr}")
            return getattr(base, node.attr)
    return None


SPANS = sorted(set(ours()))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_names_in_the_text_exist_and_take_these_arguments(page):
    for where, span in SPANS:
        tree = calls(span) if where == page else None
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Attribute):
                resolve(node)
            if isinstance(node, ast.Call) and callable(resolve(node.func)):
                if any(
                    isinstance(a, ast.Constant) and a.value is ... for a in node.args
                ):
                    continue
                keywords = {k.arg: None for k in node.keywords}
                signature = inspect.signature(resolve(node.func))
                signature.bind(*node.args, **keywords)


METHODS = {
    "loss": dz.Variable,
    "model": dz.Model,
    "optimizer": optimizers.Optimizer,
    "x": dz.Variable,
    "y": dz.Variable,
}


@pytest.mark.parametrize("page", COMING_FROM)
def test_methods_in_the_second_column_exist(page):
    cells = re.findall(r"^     - (.*)", PAGES[page], flags=re.MULTILINE)
    found = re.findall(r"``(\w+)\.(\w+)", "\n".join(cells))
    for name, method in found:
        if name in METHODS:
            assert hasattr(METHODS[name], method), (name, method)
    assert found


# ---- links and files -------------------------------------------------------------


def test_links_lead_to_files():
    for folder, pages in ((DOCS, PAGES), (DOCS / "api", REFERENCE)):
        for text in pages.values():
            for goal in re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)>?`", text):
                path = os.path.normpath(folder / goal)
                step = re.fullmatch(r".*/docs/steps/(?:index|part\d/(step.*))", path)
                if step is None:
                    assert any(os.path.exists(path + end) for end in (".rst", ".md")), (
                        goal
                    )
                elif step[1]:
                    assert (ROOT / "steps" / f"{step[1]}.py").exists(), goal
            for goal in re.findall(r"(?:literalinclude::|:file:) (\S+)", text):
                assert (folder / goal).exists(), goal


def test_every_page_is_in_a_table_of_contents():
    trees = re.findall(
        r"\.\. toctree::\n(?:   :.*\n)*\n((?:   \S+\n)+)",
        PAGES["index"] + REFERENCE["index"],
    )
    listed = " ".join(trees).split()
    pages = {*PAGES, *REFERENCE, "changelog"} - {"index"}
    assert {name for name in listed if "/" not in name} == pages


def test_site_loads_nothing_from_elsewhere():
    # Links to read on are fine; what a page is made of is not fetched.
    for path in [DOCS / "conf.py", *DOCS.glob("_static/*"), *DOCS.glob("drawings/*")]:
        assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path
    for text in PAGES.values():
        assert not re.search(r"(?:src=\"|image:: |figure:: )https?://", text)
