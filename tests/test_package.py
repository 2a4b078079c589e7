"""The package as others meet it: its import, its metadata, its files, its README."""

import configparser
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

import pytest

import dezero

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(code):
    """Run code in a fresh interpreter that turns warnings into errors."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


@pytest.fixture(scope="module")
def config():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg")
    return parser


def lines(text):
    return text.split()


def test_import_needs_numpy_alone():
    # Packages that numpy or a .pth file of this environment bring do not count.
    code = """
import sys, numpy
before = {name.partition(".")[0] for name in sys.modules}
import dezero
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(after - before - sys.stdlib_module_names))
"""
    assert lines(run(code)) == ["dezero"]


def test_import_leaves_the_random_state_alone():
    code = "import numpy as np; np.random.seed(0); {} print(np.random.rand())"
    assert run(code.format("import dezero;")) == run(code.format(""))


def test_version_is_a_literal(config):
    # setuptools then reads it without importing the package, and so without NumPy.
    assert config["metadata"]["version"] == "attr: dezero.__version__"
    source = (ROOT / "dezero/__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{dezero.__version__}"' in source


def test_installed_metadata():
    metadata = importlib.metadata.metadata("dezero")
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"cuda12", "cuda13", "plot", "test", "dev", "demo"} <= set(
        metadata.get_all("Provides-Extra")
    )
    required = importlib.metadata.requires("dezero")
    assert [name for name in required if "extra" not in name] == ["numpy>=2.0"]


def test_every_data_file_is_shipped(config):
    package = ROOT / "dezero"
    shipped = {
        path
        for pattern in lines(config["options.package_data"]["dezero"])
        for path in package.glob(pattern)
    }
    present = {path for path in package.rglob("*") if path.is_file()}
    others = {p for p in present if p.suffix != ".py" and "__pycache__" not in p.parts}
    assert others == shipped
    assert {"py.typed", "data/digits.npz", "data/digits.txt"} <= {
        path.relative_to(package).as_posix() for path in shipped
    }


def test_every_folder_of_code_is_a_package():
    for path in (ROOT / "dezero").rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), path


def test_data_names_its_source_and_licence():
    text = (ROOT / "dezero/data/digits.txt").read_text(encoding="utf-8")
    for fact in "E. Alpaydin and C. Kaynak", "10.24432/C50P49", "CC BY 4.0":
        assert fact in text
        assert fact.split()[0] in (ROOT / "README.md").read_text(encoding="utf-8")


README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_readme_prints_what_it_says(code):
    expected = re.findall(r"print\(.*\)(?:  |\n)# (.*)", code)  # beside it or below
    assert expected
    assert run(code).splitlines() == expected


def test_readme_opens_with_the_two_commands():
    commands = re.findall(r"^\$ (make \w+)", README, flags=re.MULTILINE)
    assert commands == ["make demo", "make test"]
