"""Cases as tests: in a file, from the command line, passing, failing and misused."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import dezero as dz
from dezero.testing import Case, arrays, cases_test
from dezero.testing.pytest_cases import load_cases, named_properties, prove

pytest_plugins = ["pytester"]

ROOT = pathlib.Path(__file__).resolve().parents[2]

FEW_EXAMPLES = """
from hypothesis import settings
settings.register_profile("few", max_examples=10)
settings.load_profile("few")
"""

CASES = """
import numpy as np
from dezero import Function, Variable, functions as F
from dezero.testing import Case, arrays

class Wrong(Function):
    def forward(self, x):
        return np.sin(x)
    def backward(self, gy):
        return -gy * F.cos(self.inputs[0])

def sine(x):
    return F.sin(x)

def wrong(x):
    return Wrong()(x)

def broken(x):
    raise KeyError("no such thing")

RIGHT = [Case(sine, arrays(max_dims=1), reference=np.sin)]
WRONG = [Case(wrong, arrays(max_dims=1), reference=np.sin)]
BROKEN = [Case(broken, arrays(max_dims=1))]
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest on its own in a folder that has a package of cases."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # The plugin may be installed here, under its name, or be there as a module alone.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(FEW_EXAMPLES)
    pytester.mkpydir("mine")
    pytester.path.joinpath("mine/functions.py").write_text(CASES)
    for name in "RIGHT", "WRONG", "BROKEN":
        path = pytester.path.joinpath(f"mine/{name.lower()}.py")
        path.write_text(f"from mine.functions import {name} as CASES\n")

    def run(*args):
        plugins = ("-p", "pytest_dezero", "-p", "xdist")
        return pytester.runpytest_subprocess(*plugins, *args)

    return run


def test_right_cases_pass_and_nothing_else_is_run(run, pytester):
    pytester.makepyfile("def test_other(): assert False")
    result = run("--dezero-cases", "mine.right", "-v", "-rs")
    device = dz.cuda.gpu_enable
    result.assert_outcomes(passed=11 + device, skipped=1 - device)
    result.stdout.fnmatch_lines(["*mine.right::sine-reference PASSED*"])
    result.stdout.fnmatch_lines(["*mine.right::sine-gradients PASSED*"])
    if not device:
        result.stdout.fnmatch_lines(["*no usable CuPy device: CPU and GPU cannot*"])


def test_failures_name_case_property_and_report(run):
    result = run("--dezero-cases", "mine.wrong", "--dezero-cases", "mine.right")
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1
    text = result.stdout.str()
    for line in (
        "Case(wrong): property 'gradients' does not hold",
        "(Derivatives up to the order of the case are those that differences give.)",
        "gradients of wrong differ by more than 1e-05",
        "order  by       shape    analytic     numeric    error  verdict",
        "wrong: input 0, order 1: the sign: analytic = -1 x numeric along every",
    ):
        assert line in text
    assert re.search(r"FAILED mine.wrong::wrong-gradients", text)
    assert re.search(r"(Failing|Falsifying) \w+( \w+)?: check\(", text)
    assert "Traceback" not in text
    assert "hypothesis/core.py" not in text


def test_an_error_of_the_function_shows_its_lines(run):
    result = run("--dezero-cases", "mine.broken", "-k", "no_grad")
    result.assert_outcomes(failed=1, deselected=10)
    text = result.stdout.str()
    assert 'raise KeyError("no such thing")' in text
    assert "Case(broken): property 'no_grad' does not hold" in text
    assert "mine/functions.py" in text
    assert "hypothesis/core.py" not in text
    assert "pluggy/" not in text
    assert "collected 11 items / 10 deselected / 1 selected" in text


def test_files_are_run_too_where_they_are_named(run, pytester):
    pytester.makepyfile("def test_other(): pass")
    result = run(
        "--dezero-cases", "mine.right", "-k", "other or reference", pytester.path
    )
    result.assert_outcomes(passed=2, deselected=11)


def test_several_processes_share_the_cases(run):
    args = ("--dezero-cases", "mine.right", "--dezero-cases", "mine.wrong", "-n", "2")
    result = run(*args)
    counts = result.parseoutcomes()
    assert counts["failed"] == 1
    assert counts["passed"] == 21 + 2 * dz.cuda.gpu_enable
    assert "Case(wrong): property 'gradients' does not hold" in result.stdout.str()


def test_three_lines_in_a_file(run, pytester):
    pytester.makepyfile(
        test_mine="""
        from mine.functions import RIGHT, WRONG
        from dezero.testing import cases_test
        test_mine = cases_test(RIGHT + WRONG + RIGHT)
        """
    )
    result = run("-v", "-k", "gradients or reference")
    assert result.parseoutcomes() == {"passed": 5, "failed": 1, "deselected": 30}
    result.stdout.fnmatch_lines(
        [
            "*test_mine*sine-gradients* PASSED*",
            "*test_mine*sine-2-gradients* PASSED*",
            "*Case(wrong): property 'gradients' does not hold*",
            "*wrong: input 0, order 1: the sign*",
        ]
    )
    assert "hypothesis/core.py" not in result.stdout.str()


def test_items_are_listed_and_written_to_a_file(run, pytester):
    result = run("--dezero-cases", "mine.right", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["mine.right::sine-reference", "12 tests collected*"])
    result = run("--dezero-cases", "mine.right", "-k", "layout", "--junitxml=r.xml")
    result.assert_outcomes(passed=1, deselected=11)
    assert 'name="sine-layout"' in pytester.path.joinpath("r.xml").read_text()


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("nowhere.cases", "", "cannot be imported: ModuleNotFoundError: .*'nowhere'"),
        ("bad", "1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("bad", "def f(:", "cannot be imported: SyntaxError: invalid syntax"),
        ("bad", "case = 1", "expected a list CASES in .*bad.py, found none"),
        ("bad", "CASES = 3", "expected a list of Case, got int, in CASES of .*bad.py"),
        ("bad", "CASES = 'c'", "expected a list of Case, got str, in CASES of"),
        ("bad", "CASES = [3]", "expected a list of Case, got int as item 0, in CASES"),
        ("bad", "CASES = []", "expected at least one Case, got none, in CASES of"),
        ("bad.py", "", "expected the name of a module, as in .*, got a file"),
    ],
)
def test_misuse_is_a_usage_error(tmp_path, monkeypatch, name, source, message):
    (tmp_path / "bad.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(pytest.UsageError) as caught:
            load_cases(name)
    finally:
        sys.modules.pop("bad", None)
    found = str(caught.value)
    assert re.fullmatch(f"--dezero-cases {name}: .*{message}.*", found), found


def test_a_usage_error_ends_the_run(run, pytester):
    pytester.path.joinpath("bad.py").write_text("CASES = [3]")
    result = run("--dezero-cases", "bad")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --dezero-cases bad: expected a list of Case, got int as item 0, in *"]
    )
    assert "Traceback" not in result.stderr.str()


def test_the_plugin_alone_imports_nothing():
    code = """
import sys
before = set(sys.modules)
import pytest_dezero
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - sys.stdlib_module_names))
"""
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.split() == ["pytest_dezero"]


def test_without_the_option_dezero_is_not_imported(run, pytester):
    pytester.makepyfile(
        """
        import sys
        def test_not_there():
            assert "dezero" not in sys.modules and "numpy" not in sys.modules
        """
    )
    run().assert_outcomes(passed=1)


# ---- inside this process ---------------------------------------------------------


def test_cases_test_refuses_what_is_no_list_of_cases():
    case = Case(np.sin, arrays())
    for wrong, message in (
        (case, "cases_test: expected a list of Case, got Case"),
        (3, "cases_test: expected a list of Case, got int"),
        ([case, np.sin], "cases_test: expected a list of Case, got ufunc as item 1"),
    ):
        with pytest.raises(TypeError, match=message):
            cases_test(wrong)
    with pytest.raises(ValueError, match="cases_test: expected at least one Case, got"):
        cases_test(iter([]))


def test_ids_are_unique_and_properties_follow_the_case():
    plain = Case(np.sin, arrays(), differentiable=False)
    labels = [label for label, _, _ in named_properties([plain, plain])]
    assert len(set(labels)) == len(labels)
    assert "sin-unchanged" in labels
    assert "sin-2-devices" in labels
    assert "sin-reference" not in labels
    assert "sin-gradients" not in labels


def test_a_gradient_of_the_wrong_shape_is_explained_by_every_property():
    class Unsummed(dz.Function):
        def forward(self, x, y):
            return x * y

        def backward(self, gy):
            x, y = self.inputs
            return gy * y, gy * x

    case = Case(
        lambda x, y: Unsummed()(x, y),
        arrays(shape=(2, 3)),
        arrays(shape=(3,)),
        name="u",
    )
    for name in "gradients", "passes":
        with pytest.raises(
            pytest.fail.Exception, match="a sum_to is missing"
        ) as caught:
            prove(case, name)
        text = str(caught.value)
        assert text.startswith(f"Case(u): property {name!r} does not hold\n(")
        assert "expected a gradient of shape (3,)" in " ".join(text.split())
