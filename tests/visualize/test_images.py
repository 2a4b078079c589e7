"""Images out of arrays of every layout, and predictions marked right or wrong."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dezero import Variable
from dezero.datasets import Digits
from dezero.visualize import plot_images

RNG = np.random.default_rng(0)
GREY = RNG.random((5, 4, 6))
COLOR = RNG.random((5, 3, 4, 6))


def shown(axes):
    return np.array([ax.images[0].get_array() for ax in axes])


def titles(axes):
    return [ax.get_title() for ax in axes]


def drawn(axes):
    axes[0].figure.draw_without_rendering()
    return axes


@pytest.mark.parametrize(
    "x", [GREY, GREY[:, None], GREY[..., None], Variable(GREY), list(GREY)]
)
def test_grey_images(x):
    axes = drawn(plot_images(x))
    np.testing.assert_array_equal(shown(axes), GREY)
    assert axes[0].images[0].get_clim() == (0, 1)
    assert titles(axes) == [""] * 5


@pytest.mark.parametrize("x", [COLOR, COLOR.transpose(0, 2, 3, 1)])
def test_colored_images(x):
    axes = drawn(plot_images(x))
    np.testing.assert_array_equal(shown(axes), COLOR.transpose(0, 2, 3, 1))


def test_bytes():
    x = np.array([[[0, 51], [102, 255]]], np.uint8)
    np.testing.assert_allclose(shown(plot_images(x))[0], [[0, 0.2], [0.4, 1]])
    # What never goes beyond 1 is black and white.
    np.testing.assert_array_equal(shown(plot_images(x > 60))[0], x[0] > 60)


def test_other_ranges_are_scaled_together():
    x = np.array([[[-1.0, 0.0]], [[1.0, 3.0]]])
    np.testing.assert_allclose(shown(plot_images(x)).ravel(), [0, 0.25, 0.5, 1])
    assert shown(plot_images(np.full((1, 2, 2), 7.0))).max() == 0


def test_labels_and_names():
    assert titles(plot_images(GREY, t=[0, 1, 2, 3, 4])) == list("01234")
    names = ["cat", "dog"]
    axes = plot_images(GREY, t=[0, 1, 0, 1, 0], classes=names)
    assert titles(axes) == ["cat", "dog", "cat", "dog", "cat"]
    assert titles(plot_images(GREY, y=[1] * 5)) == ["1"] * 5


def test_wrong_predictions_are_marked_by_words_and_lines():
    axes = drawn(plot_images(GREY[:3], t=[3, 1, 2], y=[8, 1, 2]))
    assert titles(axes) == ["8, not 3", "1", "2"]
    wrong, right = axes[0], axes[1]
    assert wrong.title.get_weight() == "bold" and right.title.get_weight() == "normal"
    frames = [ax.spines["left"] for ax in (wrong, right)]
    assert frames[0].get_linewidth() > frames[1].get_linewidth()
    assert frames[0].get_linestyle() != "-" and frames[1].get_linestyle() == "solid"
    axes = plot_images(GREY[:1], t=[0], y=[1], classes=["bicycle", "zebra"])
    assert titles(axes) == ["zebra,\nnot bicycle"]


def test_scores():
    scores = Variable(np.eye(3, dtype=np.float32)[[2, 0]])
    assert titles(plot_images(GREY[:2], t=[2, 1], y=scores)) == ["2", "0, not 1"]


def test_titles_of_ones_own():
    axes = plot_images(GREY[:2], t=[0, 1], y=[0, 0], titles=["a", "$b$"])
    assert titles(axes) == ["a", r"\$b\$"]
    assert axes[1].spines["left"].get_linewidth() == 3


def test_a_limit_is_told():
    axes = drawn(plot_images(np.zeros((70, 2, 2)), t=np.zeros(70, int)))
    assert len(axes) == 64
    assert axes[0].figure.get_suptitle() == "first 64 of 70 images"
    assert len(plot_images(GREY, limit=2)) == 2


def test_columns():
    axes = drawn(plot_images(GREY, columns=5))
    assert len({round(ax.get_position().y0, 3) for ax in axes}) == 1


def test_real_digits():
    digits = Digits(train=False)
    axes = drawn(plot_images(digits.data[:12], digits.label[:12]))
    np.testing.assert_array_equal(shown(axes), digits.data[:12, 0])
    assert titles(axes) == [str(t) for t in digits.label[:12]]


def test_given_axes():
    grid = Figure().subplots(1, 5)
    assert plot_images(GREY, ax=grid).tolist() == list(grid)
    ax = Figure().subplots()
    assert plot_images(GREY[:1], ax=ax)[0] is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plot_images(GREY[0]), ValueError, r".*got \(4, 6\); one image x is x"),
        (lambda: plot_images(GREY[:0]), ValueError, r"x of shape .* got \(0, 4, 6\)"),
        (
            lambda: plot_images(np.zeros((2, 5, 4, 7))),
            ValueError,
            r"x with 1 or 3 channels, got shape \(2, 5, 4, 7\); plot_feature_maps",
        ),
        (
            lambda: plot_images(np.full((1, 2, 2), np.nan)),
            ValueError,
            "x to be finite, got NaN or infinity",
        ),
        (lambda: plot_images(GREY, t=[0]), ValueError, "t for each of 5 images, got 1"),
        (lambda: plot_images(GREY, y=[0]), ValueError, "y for each of 5 images, got 1"),
        (lambda: plot_images(GREY, t=[0.0] * 5), TypeError, "t to be integers"),
        (
            lambda: plot_images(GREY, t=[2] * 5, classes=["a", "b"]),
            ValueError,
            r"t in \[0, 2\), got 2",
        ),
        (
            lambda: plot_images(GREY, y=[2] * 5, classes=["a", "b"]),
            ValueError,
            r"y in \[0, 2\), got 2",
        ),
        (lambda: plot_images(GREY, titles=["a"]), ValueError, "titles to have 5 texts"),
        (lambda: plot_images(GREY, limit=0), ValueError, "limit >= 1, got 0"),
        (lambda: plot_images(GREY, columns=0), ValueError, "columns >= 1, got 0"),
        (lambda: plot_images(["a"]), TypeError, "x to hold numbers"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_images: expected {message}"):
        call()


def test_the_widest_range_there_is():
    x = np.array([[[1.7e308, -1.7e308], [0.0, 0.0]]])
    np.testing.assert_array_equal(shown(plot_images(x))[0], [[1, 0], [0.5, 0.5]])
