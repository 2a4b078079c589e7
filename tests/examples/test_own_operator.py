"""The example proves the right operator and finds five wrong ones, each by its name."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "own_operator"
MODULES = ("softclip", "cases", "wrong")


@pytest.fixture(scope="module")
def wrong():
    """The module of wrong operators, gone again afterwards: its name is a plain one."""
    path = list(sys.path)
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("wrong")
    finally:
        sys.path[:] = path
        for name in MODULES:
            sys.modules.pop(name, None)


def run(*args):
    env = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "HYPOTHESIS_PROFILE": "default",
    }
    return subprocess.run(
        [sys.executable, *args], cwd=FOLDER, env=env, capture_output=True, text=True
    )


def run_pytest(*args):
    plugins = ("-p", "pytest_dezero", "-p", "no:cacheprovider")
    return run("-m", "pytest", *plugins, *args)


def test_the_right_one_passes():
    result = run_pytest()
    assert result.returncode == 0, result.stdout
    assert re.search(r"(13 passed, 1 skipped|14 passed)", result.stdout)


def test_the_right_one_passes_without_a_test_file():
    result = run_pytest("--dezero-cases", "cases")
    assert result.returncode == 0, result.stdout
    assert re.search(r"(11 passed, 1 skipped|12 passed)", result.stdout)


REASONS = {
    "Sign": "wrong: input 1, order 1: the sign: analytic = -1 x numeric along every",
    "Factor": "wrong: input 0, order 1: about twice: analytic = 2 x numeric; counted",
    "MissingSumTo": "problem: MissingSumTo.backward: expected a gradient of shape (3,)",
    "Dtype": "problem: output 0 is float64 for float32 inputs: forward makes an array",
    "InPlace": "problem: backward changes the incoming gradient gy 0 in place",
}


def test_each_wrong_one_fails_with_its_reason(wrong):
    assert [cls.__name__ for cls in wrong.WRONG] == list(REASONS)
    for cls in wrong.WRONG:
        report = wrong.report_on(cls)
        with pytest.raises(AssertionError) as caught:
            report.assert_ok()
        text = str(caught.value)
        assert f"\n{REASONS[cls.__name__]}" in text
        assert f"gradients of {cls.__name__} " in text.splitlines()[0]
        assert max(map(len, text.splitlines())) <= 80
        # Nothing else is said to be wrong.
        named = [line for line in text.splitlines() if re.match("problem|wrong", line)]
        assert len(named) == 1
    text = " ".join(str(wrong.report_on(wrong.MissingSumTo)).split())
    assert "a sum_to is missing: derive the class from" in text


def test_the_script_prints_all_five():
    result = run("-W", "error", "wrong.py")
    assert result.returncode == 0, result.stderr
    places = [result.stdout.index(f"\n{reason}") for reason in REASONS.values()]
    assert places == sorted(places)
    # The README shows what is printed.
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    assert numbers_left_out(shown) in numbers_left_out(result.stdout)


def numbers_left_out(text):
    """The errors are rounding, another one on another machine."""
    return re.sub(r"\d\.\de-\d\d", "error", text)


def test_the_properties_find_all_five():
    chosen = "gradients or unchanged or precision or reference"
    result = run_pytest("--dezero-cases", "wrong", "-k", chosen)
    assert result.returncode == 1
    failed = set(re.findall(r"^FAILED wrong::(\S+)", result.stdout, re.MULTILINE))
    assert failed == {
        "Sign-gradients",
        "Factor-gradients",
        "MissingSumTo-gradients",
        "MissingSumTo-unchanged",
        "MissingSumTo-precision",
        "Dtype-precision",
        "InPlace-gradients",
        "InPlace-unchanged",
    }


def test_the_readme_lists_the_files_and_its_code_runs():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([\w.]+\.\w+)` \|", readme, re.MULTILINE))
    files = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert files == listed | {"README.md"}
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    result = run("-W", "error", "-c", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("right") == 5


def test_the_workflow_runs_what_the_readme_says():
    workflow = (FOLDER / "ci.yml").read_text(encoding="utf-8")
    commands = re.findall(r"run: python -m (pytest.*)", workflow)
    assert commands == ["pytest -n auto", "pytest -n auto --dezero-cases cases"]
    assert '"dezero[test] @ $DEZERO"' in workflow
    assert "\t" not in workflow
