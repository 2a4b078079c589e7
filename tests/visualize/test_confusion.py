"""Which class was taken for which: counts, shares, and numbers that can be read."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dezero import Variable
from dezero.visualize import plot_confusion

Y, T = [0, 0, 1, 2, 2, 2], [0, 0, 1, 1, 2, 0]
COUNTS = [[2, 0, 1], [0, 1, 1], [0, 0, 1]]


def cells(ax):
    return np.array(ax.images[0].get_array())


def texts(ax):
    return [text.get_text() for text in ax.texts]


def drawn(ax):
    ax.figure.draw_without_rendering()
    return ax


SCORES = Variable(np.eye(3, dtype=np.float32)[Y])


@pytest.mark.parametrize(
    "arguments",
    [(Y, T), (np.array(Y), np.array(T)), (SCORES, Variable(np.array(T))), (COUNTS,)],
)
def test_counts(arguments):
    ax = drawn(plot_confusion(*arguments))
    np.testing.assert_array_equal(cells(ax), COUNTS)
    assert texts(ax) == "2 0 1 0 1 1 0 0 1".split()
    assert ax.get_title() == "66.7% of 6 right"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")


def test_shares_of_each_row():
    ax = drawn(plot_confusion([[199, 1], [0, 0]], normalize=True))
    np.testing.assert_array_equal(cells(ax)[0], [99.5, 0.5])
    assert np.ma.getmaskarray(ax.images[0].get_array())[1].all()
    assert texts(ax) == ["100", "0", "no samples"]
    assert texts(plot_confusion([[999, 1], [0, 9]], normalize=True))[1] == "<1"


def test_all_classes_are_there_whatever_occurs():
    ax = plot_confusion([0, 1], [0, 0], classes=["cat", "dog", "$cow$"])
    assert cells(ax).shape == (3, 3)
    labels = [label.get_text() for label in drawn(ax).get_xticklabels()]
    assert labels == ["cat", "dog", r"\$cow\$"]
    assert cells(plot_confusion(SCORES, [0, 0, 1, 1, 1, 0])).shape == (3, 3)


def test_numbers_can_be_read_on_every_ground():
    ax = plot_confusion(np.arange(100).reshape(10, 10))
    image = ax.images[0]
    for text in ax.texts:
        j, i = text.get_position()
        ground = image.cmap(image.norm(10 * i + j))[:3]
        light, dark = sorted([luminance(ground), luminance(to_rgb(text.get_color()))])
        assert (dark + 0.05) / (light + 0.05) >= 4.5


def luminance(rgb):
    rgb = np.array(rgb)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def test_long_numbers_fit_into_their_cells():
    ax = drawn(plot_confusion(np.full((20, 20), 12_345)))
    cell = ax.get_window_extent().width / 20
    widths = [text.get_window_extent().width for text in ax.texts]
    assert max(widths) < cell


def test_many_classes_have_no_numbers():
    ax = drawn(plot_confusion(np.eye(31)))
    assert texts(ax) == [] and len(ax.get_xticks()) <= 30


def test_shares_given_as_matrix():
    assert texts(plot_confusion([[0.75, 0.25], [0, 1]])) == ["0.75", "0.25", "0", "1"]


def test_no_samples_at_all():
    assert drawn(plot_confusion(np.zeros((2, 2)))).get_title() == "no samples"


def test_given_axes():
    ax = Figure().subplots()
    assert drawn(plot_confusion(COUNTS, ax=ax)) is ax
    parts = Figure().subfigures(1, 2)
    ax = parts[1].subplots()
    assert plot_confusion(COUNTS, ax=ax) is ax
    parts[0].get_figure().draw_without_rendering()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot_confusion(Y, T[:3]), ValueError, "as many y as t, got 6 and 3"),
        (lambda: plot_confusion(Y, [0.0] * 6), TypeError, "t to be integers, got fl"),
        (lambda: plot_confusion([0.0] * 6, T), TypeError, "y to be integers, got fl"),
        (
            lambda: plot_confusion(SCORES, [3] * 6),
            ValueError,
            r"t in \[0, 3\), got 3",
        ),
        (
            lambda: plot_confusion(Y, T, classes=["a", "b"]),
            ValueError,
            r"y in \[0, 2\), got 2",
        ),
        (lambda: plot_confusion([-1], [0]), ValueError, "y 0 or above, got -1"),
        (
            lambda: plot_confusion(np.zeros((2, 3))),
            ValueError,
            r"counts of shape \(C, C\), or t beside y, got one array of shape \(2, 3\)",
        ),
        (lambda: plot_confusion(Y), ValueError, r"counts of shape \(C, C\), or t be"),
        (lambda: plot_confusion([[1, -1], [0, 1]]), ValueError, "counts of 0 or more"),
        (
            lambda: plot_confusion([[np.nan, 1], [0, 1]]),
            ValueError,
            "y to be finite, got 1 of 4",
        ),
        (lambda: plot_confusion([0], [0]), ValueError, "two classes or more, got one"),
        (
            lambda: plot_confusion(COUNTS, classes=["a"]),
            ValueError,
            "classes to have 3 texts, got 1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_confusion: expected {message}"):
        call()
