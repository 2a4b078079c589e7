"""Curves of a training: what is drawn, for one run and several."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero as dz
import dezero.functions as F
from dezero.models import MLP
from dezero.optimizers import SGD, StepLR
from dezero.visualize import plot_history

HISTORY = {
    "epoch": [1, 2, 3],
    "loss": [0.9, 0.5, 0.2],
    "accuracy": [0.1, 0.6, 0.9],
    "validation_loss": [1.0, 0.6, 0.4],
    "validation_accuracy": [0.2, 0.5, 0.8],
    "lr": [0.1, 0.1, 0.01],
    "seconds": [1.0, 1.1, 1.0],
}


def lines(ax):
    """By label, what each line shows."""
    return {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}


def titles(axes):
    return [ax.get_title() for ax in axes]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(axes):
    """Draw it all: some warnings and errors come only then."""
    axes[0].figure.draw_without_rendering()
    return axes


def test_panels_of_a_run():
    axes = drawn(plot_history(HISTORY))
    assert titles(axes) == ["loss", "accuracy", "learning rate"]
    assert lines(axes[0]) == {
        "training": HISTORY["loss"],
        "validation": HISTORY["validation_loss"],
    }
    assert lines(axes[1])["validation"] == HISTORY["validation_accuracy"]
    assert list(lines(axes[2]).values()) == [HISTORY["lr"]]
    assert legend(axes[0]) == ["training", "validation"]
    assert axes[2].get_legend() is None
    training, validation = axes[0].get_lines()
    # More than colour tells them apart.
    assert training.get_linestyle() == "-" and validation.get_linestyle() == "--"
    assert training.get_marker() != validation.get_marker()
    assert list(training.get_xdata()) == [1, 2, 3]


def test_a_learning_rate_that_stays_is_not_drawn():
    axes = plot_history(HISTORY | {"lr": [0.1] * 3})
    assert titles(axes) == ["loss", "accuracy"]
    assert titles(plot_history(HISTORY | {"lr": [0.1] * 3}, ["lr"])) == [
        "learning rate"
    ]


def test_chosen_panels():
    axes = plot_history(HISTORY, ["seconds", "loss", "loss"])
    assert titles(axes) == ["seconds per epoch", "loss"]


def test_what_fit_returns():
    dz.seed(0)
    x = np.random.randn(8, 2).astype(np.float32)
    model = MLP((3, 1))
    optimizer = SGD(0.1).setup(model)
    history = dz.fit(
        model,
        [(x, x[:, :1])],
        F.mean_squared_error,
        optimizer,
        epochs=4,
        validation=[(x, x[:, :1])],
        schedule=StepLR(optimizer, 2),
        progress=False,
    )
    axes = drawn(plot_history(history, log=True))
    assert titles(axes) == ["loss", "learning rate"]
    assert lines(axes[0])["validation"] == history["validation_loss"]


def test_several_runs_of_different_lengths_and_columns():
    runs = {"Adam": HISTORY, "SGD": {"loss": [0.8, 0.7, 0.6, 0.5], "extra": [1] * 4}}
    axes = drawn(plot_history(runs))
    assert titles(axes) == ["loss", "accuracy", "learning rate", "extra"]
    assert legend(axes[0]) == ["Adam training", "Adam validation", "SGD"]
    first, dashed, second = axes[0].get_lines()
    assert first.get_color() == dashed.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert dashed.get_linestyle() == "--" and second.get_linestyle() == "-"
    assert list(second.get_xdata()) == [1, 2, 3, 4]
    assert list(lines(axes[3])) == ["SGD"]


def test_logarithmic_scales():
    axes = drawn(plot_history(HISTORY, log=True))
    assert [ax.get_yscale() for ax in axes] == ["log", "linear", "linear"]
    axes = drawn(plot_history(HISTORY, log=["lr"]))
    assert [ax.get_yscale() for ax in axes] == ["linear", "linear", "log"]
    assert axes[2].yaxis.get_major_formatter()(0.01) == "0.01"
    # Within a decade the ticks between the powers have numbers too.
    (ax,) = drawn(plot_history({"loss": [0.9, 0.6, 0.3]}, log=True))
    texts = [tick.label1.get_text() for tick in ax.yaxis.get_minor_ticks()]
    assert {"0.3", "0.4", "0.6"} <= set(texts)


def test_what_is_not_finite_is_a_gap_and_a_cross():
    history = {"loss": [1.0, np.nan, np.inf, 0.5]}
    (ax,) = drawn(plot_history(history, log=True))
    curve, crosses = ax.get_lines()
    np.testing.assert_array_equal(curve.get_ydata(), [1, np.nan, np.nan, 0.5])
    assert list(crosses.get_xdata()) == [2, 3] and crosses.get_marker() == "x"
    assert legend(ax) == ["training", "training: not finite"]
    assert np.isinf(history["loss"][2])


def test_one_epoch_can_be_seen():
    (ax,) = drawn(plot_history({"loss": [0.5]}))
    (line,) = ax.get_lines()
    assert line.get_marker() == "o"
    assert [t for t in ax.get_xticks() if t % 1] == []


def test_columns_may_be_arrays_and_variables():
    history = {
        "loss": [dz.Variable(np.array(1.0)), np.float32(0.5)],
        "accuracy": np.array([0.5, 0.75], np.float32),
    }
    axes = plot_history(history)
    assert lines(axes[1])["training"] == [0.5, 0.75]


def test_validation_alone():
    (ax,) = plot_history({"validation_loss": [2.0, 1.0]})
    assert ax.get_title() == "loss" and list(lines(ax)) == ["validation"]


def test_given_axes():
    ax = Figure().subplots()
    (found,) = plot_history(HISTORY, ["loss"], ax=ax)
    assert found is ax
    grid = Figure().subplots(3)
    assert plot_history(HISTORY, ax=grid).tolist() == list(grid)


def test_names_are_no_formulas_and_no_secrets():
    runs = {"_a $x$": {"loss": [1, 2]}, "b": {"loss": [2, 1]}}
    (ax,) = drawn(plot_history(runs))
    assert len(legend(ax)) == 2


def test_long_histories_are_drawn_without_a_search():
    (ax,) = drawn(
        plot_history({"loss": np.ones(30_000), "validation_loss": [2] * 30_000})
    )
    assert ax.get_legend()._loc == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot_history([1]), TypeError, "a dict of lists, .* got list"),
        (lambda: plot_history({}), ValueError, "columns, got an empty dict"),
        (lambda: plot_history({"loss": []}), ValueError, "epochs in history, got none"),
        (lambda: plot_history({"a": {}}), ValueError, "epochs in 'a', got none"),
        (
            lambda: plot_history({"loss": [1, 2], "accuracy": [1]}),
            ValueError,
            "columns of one length in history, got: loss has 2, accuracy has 1",
        ),
        (
            lambda: plot_history({"a": {"loss": [1]}, "loss": [1]}),
            TypeError,
            "either lists or dicts .* got both",
        ),
        (lambda: plot_history({"loss": ["a"]}), TypeError, "'loss' to hold numbers"),
        (
            lambda: plot_history({"loss": [[1, 2]]}),
            ValueError,
            r"'loss' to have one number per epoch, got shape \(1, 2\)",
        ),
        (lambda: plot_history({"epoch": [1]}), ValueError, "a column beside epoch"),
        (
            lambda: plot_history(HISTORY, ["los"]),
            ValueError,
            "panels among 'loss', 'accuracy', 'lr', 'seconds', got 'los'",
        ),
        (lambda: plot_history(HISTORY, []), ValueError, "panels among .*, got none"),
        (lambda: plot_history(HISTORY, "loss"), TypeError, "panels to be a list of"),
        (
            lambda: plot_history(HISTORY, ["loss"], log=["lr"]),
            ValueError,
            "log to be True or names among 'loss', got 'lr'",
        ),
        (
            lambda: plot_history({"loss": [np.nan, np.inf]}),
            ValueError,
            "a finite number in 'loss', got only NaN or infinity; dz.detect_anomaly",
        ),
        (
            lambda: plot_history({"loss": [1, 1], "validation_loss": [1, 0]}, log=True),
            ValueError,
            "'validation_loss' above 0 on a logarithmic scale, got 0",
        ),
        (lambda: plot_history(HISTORY, ax=3), TypeError, "ax to be matplotlib Axes"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_history: expected {message}"):
        call()
