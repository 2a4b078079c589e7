"""Whether cuDNN is there, and whether it is wanted."""

import sys
import types

import pytest

import dezero as dz
from dezero import cuda


def test_it_is_used_where_it_is_there():
    assert dz.cudnn.version() == "9.28.0"


def test_off_and_on():
    assert dz.cudnn.use(False) is False
    assert dz.cudnn.version() is None and dz.cudnn.front_end() is None
    assert dz.cudnn.use() is True
    assert dz.cudnn.version() == "9.28.0"


@pytest.mark.parametrize("wish", ["", "1"])
def test_an_environment_that_says_nothing(monkeypatch, wish):
    monkeypatch.setenv("DEZERO_CUDNN", wish)
    assert dz.cudnn.version() == "9.28.0"


def test_the_environment_has_the_last_word(monkeypatch):
    monkeypatch.setenv("DEZERO_CUDNN", "0")
    assert dz.cudnn.use(True) is False
    assert dz.cudnn.version() is None


def test_an_environment_that_is_not_understood(monkeypatch):
    monkeypatch.setenv("DEZERO_CUDNN", "yes")
    with pytest.raises(
        ValueError, match="cudnn.use: expected DEZERO_CUDNN, .* 0 or 1, got 'yes'"
    ):
        dz.cudnn.use()


@pytest.mark.parametrize(
    "module", [None, types.ModuleType("cudnn")], ids=["not installed", "another one"]
)
def test_no_front_end(monkeypatch, module):
    monkeypatch.setitem(sys.modules, "cudnn", module)
    assert dz.cudnn.use() is False


@pytest.mark.parametrize("version", [None, 8_09_07])
def test_no_library_or_an_old_one(cudnn, version):
    cudnn.version = version
    assert dz.cudnn.version() is None


def test_a_library_that_does_not_fit_to_the_driver(cudnn):
    cudnn.handle_error = RuntimeError("cudnnHandle Create failed")
    assert dz.cudnn.use() is False


def test_no_device(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cuda, "_usable_cupy", lambda: None)
        assert dz.cudnn.version() is None
        with pytest.raises(RuntimeError, match="current_stream: expected CuPy with a"):
            cuda.current_stream()


def test_the_handle_that_tried_is_given_back(cudnn):
    dz.cudnn.version()
    assert [handle.open for handle in cudnn.handles] == [False]


def test_the_runtime_is_loaded_from_where_pip_put_it(monkeypatch):
    loaded = []
    pathfinder = types.ModuleType("cuda.pathfinder")
    pathfinder.load_nvidia_dynamic_lib = loaded.append
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", pathfinder)
    assert dz.cudnn.use() is True
    assert loaded == ["cudart"]
