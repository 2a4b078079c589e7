"""A training to be watched: in a notebook a picture, elsewhere a line of text."""

import io
import sys
import types

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.models import MLP
from dezero.optimizers import SGD
from dezero.visualize import LivePlot

HISTORY = {
    "epoch": [1, 2, 3],
    "loss": [1.0, 0.5, 0.25],
    "accuracy": [0.25, 0.5, 0.75],
    "validation_loss": [1.0, 0.75, 0.5],
    "lr": [0.1, 0.1, 0.1],
    "seconds": [1.0, 1.0, 1.0],
}


def utf8():
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def text(stream):
    stream.seek(0)
    return stream.read()


class Notebook:
    """A stand-in for IPython in a notebook: it writes down what is shown where."""

    def __init__(self):
        self.shown = []
        display = types.ModuleType("IPython.display")
        display.display = self.display
        shell = types.SimpleNamespace(kernel=object())
        self.modules = {
            "IPython": types.SimpleNamespace(get_ipython=lambda: shell),
            "IPython.display": display,
        }

    def display(self, figure, display_id):
        assert display_id is True
        self.shown.append(("new", figure))
        return self

    def update(self, figure):
        self.shown.append(("update", figure))


@pytest.fixture
def notebook(monkeypatch):
    made = Notebook()
    for name, module in made.modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


def test_a_line_per_epoch_in_a_terminal():
    stream = utf8()
    live = LivePlot(stream=stream)
    live(HISTORY)
    assert text(stream) == "loss █▃▁ 0.25 (validation 0.5)  accuracy ▁▅█ 0.75\n"
    assert live.axes is None


def test_chosen_panels_and_validation_alone():
    stream = utf8()
    LivePlot(["accuracy", "lr"], stream=stream)(HISTORY)
    assert text(stream) == "accuracy ▁▅█ 0.75  lr ▅▅▅ 0.1\n"
    stream = utf8()
    LivePlot(stream=stream)({"validation_loss": [2.0, 1.0]})
    assert text(stream) == "loss █▁ 1\n"


def test_width():
    stream = utf8()
    LivePlot(["loss"], width=5, stream=stream)({"loss": list(range(50))})
    assert text(stream) == "loss ▁▃▅▇█ 49\n"


def test_as_a_callback_of_fit(capsys):
    dz.seed(0)
    x = np.random.randn(8, 2).astype(np.float32)
    model = MLP((1,))
    history = dz.fit(
        model,
        [(x, x[:, :1])],
        F.mean_squared_error,
        SGD(0.01).setup(model),
        epochs=5,
        progress=False,
        callbacks=[LivePlot(every=2)],
    )
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and len(history["loss"]) == 5
    assert lines[-1].endswith(f" {history['loss'][-1]:.4g}")


def test_a_picture_in_its_place_in_a_notebook(notebook):
    live = LivePlot(log=True)
    live({"loss": [1.0]})
    first = live.axes
    live({"loss": [1.0, 0.5]})
    (kind, figure), (again, later) = notebook.shown
    assert (kind, again) == ("new", "update")
    assert figure is first[0].figure and later is live.axes[0].figure
    (line,) = live.axes[0].get_lines()
    assert list(line.get_ydata()) == [1.0, 0.5]
    assert later._repr_png_().startswith(b"\x89PNG")


def test_the_last_epoch_can_be_drawn_afterwards(notebook):
    live = LivePlot(every=10)
    for n in 1, 2, 3:
        live({"loss": [1.0] * n})
    assert len(notebook.shown) == 1
    live.draw()
    assert len(live.axes[0].get_lines()[0].get_ydata()) == 3


def test_a_training_does_not_end_because_of_its_picture(notebook):
    stream = utf8()
    live = LivePlot(log=True, stream=stream)
    live({"loss": [1.0], "validation_loss": [np.nan]})
    live({"loss": [1.0, 0.5], "validation_loss": [np.nan, 0.5]})
    live({"loss": [1.0, 0.5, 0.0], "validation_loss": [np.nan, 0.5, 0.25]})
    assert [kind for kind, _ in notebook.shown] == ["new"]
    lines = text(stream).splitlines()
    assert lines[0].startswith("plot_history: expected a finite number in 'validation")
    assert lines[1] == "loss ▅ 1 (validation nan)"
    assert lines[2].startswith("plot_history: expected 'loss' above 0")
    with pytest.raises(ValueError, match="panels among"):
        LivePlot(["los"], stream=stream)({"loss": [1.0]})


def test_a_terminal_with_ipython_is_no_notebook(notebook, monkeypatch):
    shell = types.SimpleNamespace()
    notebook.modules["IPython"].get_ipython = lambda: shell
    stream = utf8()
    LivePlot(stream=stream)(HISTORY)
    assert not notebook.shown and text(stream)


def test_a_notebook_without_matplotlib(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    stream = utf8()
    LivePlot(stream=stream)(HISTORY)
    assert not notebook.shown and text(stream)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LivePlot(every=0), ValueError, "every >= 1, got 0"),
        (lambda: LivePlot(width="a"), TypeError, "width to be an integer, got str"),
        (lambda: LivePlot().draw(), ValueError, "a history to draw, got none yet"),
        (
            lambda: LivePlot(["los"], stream=utf8())(HISTORY),
            ValueError,
            "panels among epoch, loss, .*, got 'los'",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^LivePlot: expected {message}"):
        call()
