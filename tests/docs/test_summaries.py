"""The tables of the reference, and the signatures below them."""

import types

import pytest

from .extensions import extension

summaries = extension("summaries")


def documented(text):
    def function():
        pass

    function.__doc__ = text
    return function


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One line.", "One line."),
        ("Two\n    lines.\n\n    And more.", "Two lines."),
        ("\n    Begins  below.\n", "Begins below."),
        ("Keeps ``code``: and all.", "Keeps ``code``: and all."),
        ("", ""),
        (None, ""),
    ],
)
def test_first_words(text, words):
    assert summaries.first_words(documented(text)) == words


def module():
    class Box:
        """A box.

        For a number.
        """

    module = types.ModuleType("a.shelf")
    module.Box, module.put = Box, documented("Puts a box.")
    return module


TABLE = """\
.. list-table::
   :class: described
   :widths: auto

   * - :py:obj:`~a.shelf.put`
     - Puts a box.
   * - :py:obj:`~a.shelf.Box`
     - A box.

.. autofunction:: put

.. autoclass:: Box"""


def test_table_and_what_stands_below():
    assert summaries.described(module(), ["put", "Box"], members=False) == TABLE
    with_members = summaries.described(module(), ["put", "Box"], members=True)
    assert with_members == TABLE + "\n   :members:"


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"'a\.shelf' has no attribute 'take'"):
        summaries.described(module(), ["put", "take"], members=False)


@pytest.mark.parametrize(
    ("arguments", "result", "expected"),
    [
        ("(x: Any)", "Variable", ("(x)", "Variable")),
        ("(x: ~typing.Any, b: Any | None = None)", None, ("(x, b=None)", None)),
        ("(x: typing.Any = 3, *, n: int = 2)", "Any", ("(x=3, *, n: int = 2)", None)),
        (
            "(f: Callable[[Any], Any])",
            "~typing.Any",
            ("(f: Callable[[Any], Any])", None),
        ),
        ("(x: AnyStr)", "dict[str, Any]", ("(x: AnyStr)", "dict[str, Any]")),
        ("(*xs: Any, n: Any | int)", None, ("(*xs, n: Any | int)", None)),
    ],
)
def test_signatures_without_any(arguments, result, expected):
    assert summaries.without_any(arguments, result) == expected
