"""use_pooled_malloc: freed memory stays in the process, where the C library can."""

import ctypes
import os
import pathlib
import platform
import subprocess
import sys

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import allocation
from dezero.optimizers import SGD

ROOT = pathlib.Path(__file__).resolve().parents[1]

needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting"
)


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(allocation.VARIABLE, raising=False)


def run(code, **environment):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


FAULTS = """
import resource
import numpy as np
import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.optimizers import SGD

x = np.ones(2**20, np.float32)  # 4 MiB, 1024 pages

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        (x * 2) + 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def fit():
    batch = np.ones((2, 3), np.float32), np.zeros((2, 1), np.float32)
    dz.fit(L.Linear(1), [batch], F.mean_squared_error, SGD(), progress=False)

faults()
before = faults()
{call}
faults()
print(before, faults())
"""


@needs_glibc
@pytest.mark.parametrize("call", ["assert dz.use_pooled_malloc()", "fit()"])
def test_freed_memory_is_used_again(call):
    # A huge page of 2 MiB is one fault, so there may be far less than 1024 per array.
    before, after = map(int, run(FAULTS.format(call=call)))
    assert before >= 20
    assert after * 10 < before


@needs_glibc
@pytest.mark.parametrize("call", ["assert not dz.use_pooled_malloc()", "fit()", ""])
def test_the_environment_has_the_last_word(call):
    before, after = map(int, run(FAULTS.format(call=call), DEZERO_POOLED_MALLOC="0"))
    assert after * 2 > before >= 20


@needs_glibc
def test_the_import_sets_nothing():
    before, after = map(int, run(FAULTS.format(call=""), DEZERO_POOLED_MALLOC="1"))
    assert after * 2 > before >= 20


@needs_glibc
@pytest.mark.parametrize("value", [None, "", "1"])
def test_twice_is_as_once(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv(allocation.VARIABLE, value)
    assert [dz.use_pooled_malloc(), dz.use_pooled_malloc()] == [True, True]


@pytest.mark.parametrize("value", ["yes", "off", "2"])
def test_other_values_are_an_error(monkeypatch, value):
    monkeypatch.setenv(allocation.VARIABLE, value)
    text = (
        r"^use_pooled_malloc: expected DEZERO_POOLED_MALLOC, if it is set, to be 0 or "
        rf"1, got '{value}'$"
    )
    with pytest.raises(ValueError, match=text):
        dz.use_pooled_malloc()


# ---- C libraries -------------------------------------------------------------------


class Library:
    """Stands for a C library; notes the calls."""

    def __init__(self, refuses=(), glibc=True):
        self.calls = []
        self.refuses = refuses
        if glibc:
            self.gnu_get_libc_version = None

    def mallopt(self, option, value):
        self.calls.append((option, value))
        return int((option, value) not in self.refuses)


def use(monkeypatch, library):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    return dz.use_pooled_malloc()


def test_both_limits_are_raised(monkeypatch):
    library = Library()
    assert use(monkeypatch, library) is True
    assert library.calls == [(-3, 2**30), (-1, 2**30)]


def test_an_old_glibc_takes_32_mib(monkeypatch):
    library = Library(refuses=[(-3, 2**30)])
    assert use(monkeypatch, library) is True
    assert library.calls == [(-3, 2**30), (-3, 2**25), (-1, 2**30)]


@pytest.mark.parametrize("refuses", [[(-3, 2**30), (-3, 2**25)], [(-1, 2**30)]])
def test_a_glibc_that_refuses(monkeypatch, refuses):
    assert use(monkeypatch, Library(refuses)) is False


def test_a_mallopt_of_another_library_is_not_called(monkeypatch):
    library = Library(glibc=False)  # bionic, of Android
    assert use(monkeypatch, library) is False
    assert library.calls == []


@pytest.mark.parametrize("error", [TypeError, OSError, AttributeError])
def test_no_such_library(monkeypatch, error):
    def fail(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert dz.use_pooled_malloc() is False


def test_a_python_without_ctypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert dz.use_pooled_malloc() is False


# ---- who calls it ------------------------------------------------------------------


def test_fit_works_without_glibc(monkeypatch):
    library = Library(glibc=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    batch = np.ones((2, 3), np.float32), np.zeros((2, 1), np.float32)
    loss = F.mean_squared_error
    history = dz.fit(L.Linear(1), [batch], loss, SGD(), progress=False)
    assert len(history["loss"]) == 1


@pytest.mark.parametrize("name", ["train_digits", "write_shakespeare"])
def test_examples_call_it(name):
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert "    dz.use_pooled_malloc()\n    dz.seed(0)\n" in source


class Libc:
    """Notes what it is asked for; its heap begins at an odd place."""

    def __init__(self, start):
        self.calls = []

        def noting(name, answer):
            def call(*arguments):
                self.calls.append((name, *arguments))
                return answer

            return call

        self.malloc = noting("malloc", start)
        self.free = noting("free", None)
        self.madvise = noting("madvise", -1)  # a kernel that refuses is no error


def test_large_pages_are_asked_for_inside_the_block_and_aligned():
    start = 5 * allocation.HUGE + 16
    libc = Libc(start)
    allocation._advise_huge_pages(ctypes, libc)
    (_, size), (_, first, length, advice), (_, freed) = libc.calls
    assert [call[0] for call in libc.calls] == ["malloc", "madvise", "free"]
    assert first % allocation.HUGE == length % allocation.HUGE == 0
    assert start <= first and first + length <= start + size
    assert length >= size - 2 * allocation.HUGE
    assert freed == start and advice == allocation.MADV_HUGEPAGE


def test_large_pages_without_memory_or_madvise():
    libc = Libc(None)  # malloc has none to give
    allocation._advise_huge_pages(ctypes, libc)
    assert [call[0] for call in libc.calls] == ["malloc"]
    libc = Libc(1)
    del libc.madvise
    allocation._advise_huge_pages(ctypes, libc)
    assert libc.calls == []
