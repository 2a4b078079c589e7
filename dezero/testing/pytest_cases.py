"""Cases as pytest's tests: one for each case and property.

In a test file by :func:`cases_test`, from the command line by ``--dezero-cases``.
"""

from __future__ import annotations

import collections
import importlib
import os
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import hypothesis
import pytest

from dezero import cuda
from dezero.testing.cases import Case
from dezero.testing.diagnosis import explain_shape
from dezero.testing.properties import PROPERTIES, properties_of, run_on_examples
from dezero.testing.report import WIDTH

NO_DEVICE = "no usable CuPy device: CPU and GPU cannot be compared"

# What a case is checked for is called in ids by these names.
Named = tuple[str, Case, str]  # id, case, property


def cases_test(cases: Iterable[Case]) -> Callable[..., None]:
    """A test function for pytest: every property of every case.

    In a test file::

        from my_package.my_cases import CASES
        from dezero.testing import cases_test
        test_my_functions = cases_test(CASES)

    Args:
        cases: What :class:`Case` objects there are to prove.

    Returns:
        A function parametrized by case and property, as in
        ``test_my_functions[softclip-gradients]``.

    Raises:
        TypeError: Something else than cases.
        ValueError: There is none.
    """
    named = named_properties(_as_cases("cases_test", cases))

    @pytest.mark.parametrize(
        ("case", "name"),
        [pytest.param(case, name, id=label) for label, case, name in named],
    )
    def test(case: Case, name: str) -> None:
        __tracebackhide__ = True
        prove(case, name)

    return test


def prove(case: Case, name: str) -> None:
    """Check one property of a case on drawn examples; fail with what was found.

    Skips the comparison of devices where no device answers. Errors of the function
    itself come through as they are.
    """
    __tracebackhide__ = True
    if name == "devices" and not cuda.gpu_enable:
        pytest.skip(NO_DEVICE)
    try:
        run_on_examples(case, [name])
        return
    except AssertionError as error:
        text = _message(case, name, error, str(error))
    except Exception as error:
        shape = explain_shape(error) if isinstance(error, ValueError) else None
        if shape is None:
            error.__traceback__ = _lines_of_the_user(error.__traceback__)
            raise
        text = _message(case, name, error, shape)
    # A traceback through Hypothesis and the properties would say nothing more.
    pytest.fail(text, pytrace=False)


def _message(case: Case, name: str, error: Exception, text: str) -> str:
    meaning = (PROPERTIES[name].__doc__ or "").split("\n", 1)[0]
    headline = f"{case!r}: property {name!r} does not hold"
    lines = text.splitlines()
    if len(lines) == 1:
        lines = textwrap.wrap(text, WIDTH)
    # Hypothesis adds the example as a note.
    notes = [n for n in getattr(error, "__notes__", ()) if n != headline]
    return "\n".join([headline, f"({meaning})", "", *lines, "", *notes])


def _lines_of_the_user(tb: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames of Hypothesis and of this package."""
    ours = tuple([os.path.dirname(path) for path in (__file__, hypothesis.__file__)])
    frames = []
    while tb is not None:
        if not tb.tb_frame.f_code.co_filename.startswith(ours):
            frames.append(tb)
        tb = tb.tb_next
    kept = None
    for tb in reversed(frames):
        kept = types.TracebackType(kept, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return kept


def named_properties(cases: Sequence[Case]) -> list[Named]:
    """Each case with each of its properties, under an id of its own."""
    return [
        (f"{label}-{name}", case, name)
        for label, case in zip(_labels(cases), cases, strict=True)
        for name in [*properties_of(case), "devices"]
    ]


def _labels(cases: Sequence[Case]) -> Iterator[str]:
    """The names of cases, numbered where one comes up again: sum, sum-2."""
    seen: collections.Counter[str] = collections.Counter()
    for case in cases:
        seen[case.name] += 1
        count = seen[case.name]
        yield case.name if count == 1 else f"{case.name}-{count}"


def _as_cases(function: str, cases: Any) -> list[Case]:
    if isinstance(cases, (Case, str)) or not isinstance(cases, Iterable):
        raise TypeError(
            f"{function}: expected a list of Case, got {type(cases).__name__}"
        )
    cases = list(cases)
    for i, case in enumerate(cases):
        if not isinstance(case, Case):
            raise TypeError(
                f"{function}: expected a list of Case, got {type(case).__name__} as "
                f"item {i}"
            )
    if not cases:
        raise ValueError(f"{function}: expected at least one Case, got none")
    return cases


# =============================================================================
# The command line
# =============================================================================


class CasesPlugin:
    """Adds the cases of the modules that ``--dezero-cases`` names to the tests.

    Raises:
        pytest.UsageError: A module cannot be imported or has no list ``CASES``.
    """

    def __init__(self, config: pytest.Config) -> None:
        folder = str(config.invocation_params.dir)
        if folder not in sys.path:
            sys.path.insert(0, folder)  # as `python -m pytest` does
        modules = config.getoption("dezero_cases")
        self.cases = {name: load_cases(name) for name in modules}
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = []  # no files were asked for: run these cases alone

    @pytest.hookimpl(tryfirst=True)  # so that -k and -m choose among them too
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add the cases to what pytest found."""
        for name, cases in self.cases.items():
            parent: Any = CasesModule.from_parent(session, name=name, nodeid=name)
            parent.cases = cases
            items.extend(session.genitems(parent))


def load_cases(name: str) -> list[Case]:
    """The list ``CASES`` of a module.

    Raises:
        pytest.UsageError: The module cannot be imported, or has no such list.
    """
    option = f"--dezero-cases {name}"
    if name.endswith(".py") or os.sep in name:
        raise pytest.UsageError(
            f"{option}: expected the name of a module, as in my_package.my_cases, got "
            "a file"
        )
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise pytest.UsageError(
            f"{option}: the module cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, "CASES"):
        raise pytest.UsageError(
            f"{option}: expected a list CASES in {module.__file__}, found none"
        )
    try:
        return _as_cases(option, module.CASES)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{error}, in CASES of {module.__file__}") from None


class CasesModule(pytest.Collector):
    """A module of cases among pytest's nodes."""

    cases: list[Case]

    def collect(self) -> Iterable[pytest.Item]:
        """An item for each case and property."""
        for label, case, name in named_properties(self.cases):
            item: Any = CaseItem.from_parent(self, name=label)
            item.case, item.property = case, name
            yield item


class CaseItem(pytest.Item):
    """One property of one case."""

    case: Case
    property: str

    def runtest(self) -> None:
        """Check it."""
        prove(self.case, self.property)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """An error of the user's function: the lines of it, without ours."""
        hidden = excinfo.traceback.cut(path=__file__).filter(excinfo)
        if hidden:
            excinfo.traceback = hidden
        return super().repr_failure(excinfo, style or "short")

    def reportinfo(self) -> tuple[str, None, str]:
        """Where it stands: the module, and the id."""
        return self.parent.name if self.parent else "", None, self.name
