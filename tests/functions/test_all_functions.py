"""One table proves the functions: every case of every family, every property.

The families' files beside this one hold ``CASES`` and ``ERRORS``; dezero.testing.Case
says what a case holds.
"""

import collections
import importlib.util
import inspect
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dezero.functions as F
from dezero.testing.properties import PROPERTIES, check_property, properties_of


def load_families():
    """The modules of this folder. pytest's own copies are not needed, nor disturbed."""
    modules = []
    for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        if path != pathlib.Path(__file__):
            spec = importlib.util.spec_from_file_location(f"cases_of_{path.stem}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            modules.append(module)
    return modules


def numbered(names):
    """Ids that stay unique when a name comes up several times: sum, sum-2, sum-3."""
    seen = collections.Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


FAMILIES = load_families()
CASES = [case for module in FAMILIES for case in getattr(module, "CASES", ())]
ERRORS = [error for module in FAMILIES for error in getattr(module, "ERRORS", ())]
CASE_IDS = list(numbered(case.name for case in CASES))
ERROR_IDS = list(numbered(regex.split(":")[0].strip("^") for _, _, regex in ERRORS))


PUBLIC = sorted(F.__all__)


# An example is checked for many properties: drawing it costs more than most of them.
GROUPS = {
    "forward": ["reference", "unchanged", "precision", "no_grad", "constants"],
    "gradients": ["gradients"],
    "passes": ["one_variable", "separate", "add_up", "passes", "layout"],
}


@pytest.mark.parametrize(
    ("case", "names"),
    [
        pytest.param(case, names, id=f"{case_id}-{group}")
        for case, case_id in zip(CASES, CASE_IDS, strict=True)
        for group, members in GROUPS.items()
        if (names := [name for name in members if name in properties_of(case)])
    ],
)
@given(data=st.data())
def test_properties(case, names, data):
    xs, options = data.draw(case.examples())
    for name in names:
        check_property(name, case, xs, options)


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@given(data=st.data())
def test_devices_agree(case, data):
    xs, options = data.draw(case.examples())
    check_property("devices", case, xs, options)


@pytest.mark.parametrize(("call", "error", "regex"), ERRORS, ids=ERROR_IDS)
def test_error(call, error, regex):
    with pytest.raises(error, match=regex) as raised:
        call()
    assert raised.type is error


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_has_a_case(name):
    assert name in {case.name for case in CASES}, (
        f"dezero.functions.{name} has no Case in tests/functions/test_*.py"
    )


@pytest.mark.parametrize("name", sorted({case.name for case in CASES}))
def test_every_case_proves_a_public_function(name):
    assert name in PUBLIC, f"no function {name} in dezero.functions.__all__"


def test_public_names_are_functions():
    # The classes can be reached, but what is listed is what has a case.
    assert [name for name in F.__all__ if inspect.isclass(getattr(F, name))] == []


def test_every_name_exists_once():
    assert len(set(F.__all__)) == len(F.__all__)
    assert [name for name in F.__all__ if not hasattr(F, name)] == []


def test_every_property_is_in_a_group():
    assert sorted([*sum(GROUPS.values(), []), "devices"]) == sorted(PROPERTIES)


def test_no_case_stands_in_the_table_twice():
    assert len({id(case) for case in CASES}) == len(CASES)
    assert len(set(CASE_IDS)) == len(CASE_IDS)
