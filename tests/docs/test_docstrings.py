"""Docstrings read on a page as they do in the source."""

import ast
import pathlib
import re

import pytest

import dezero

PACKAGE = pathlib.Path(dezero.__file__).parent
DOCUMENTED = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef, ast.Module)


def results(text):
    """(name, first line) of what the docstrings of a source say is returned."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and (doc := ast.get_docstring(node)):
            for line in re.findall(r"^(?:Returns|Yields):\n +(.*)", doc, re.MULTILINE):
                yield getattr(node, "name", ""), line


def named_as_types(text):
    """The results whose first words Sphinx would set in italics, as a type.

    It takes them for one up to a colon that is in no ``code`` and no :role:`name`.
    """
    for name, line in results(text):
        if ":" in re.sub(r"``.*?``|:\w+:`.*?`", "", line):
            yield name, line


@pytest.mark.parametrize(
    "path",
    sorted(PACKAGE.rglob("*.py")),
    ids=lambda p: p.relative_to(PACKAGE).as_posix(),
)
def test_results_begin_with_words_and_not_with_a_type(path):
    assert list(named_as_types(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("A report: what was found.", True),
        ("``(a, b)``: two arrays.", True),
        ("``{a: b}`` and :class:`Variable`.", False),
        ("Variable of the shape of ``x``.", False),
    ],
)
@pytest.mark.parametrize("section", ["Returns", "Yields"])
def test_such_lines_are_found(section, line, is_found):
    source = f'def f():\n    """Does it.\n\n    {section}:\n        {line}\n    """\n'
    assert list(named_as_types(source)) == ([("f", line)] if is_found else [])
