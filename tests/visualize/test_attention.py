"""Where attention looks: the weights of a model, and the map of them."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero.functions as F
import dezero.layers as L
from dezero import Variable
from dezero.models import GPT, MLP
from dezero.visualize import attention_weights, plot_attention

RNG = np.random.default_rng(0)
W = RNG.dirichlet(np.ones(4), 3)  # (Tq, Tk)
WORDS = ["the", "cat", "sat"]


def cells(ax):
    return np.array(ax.images[0].get_array())


def words(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(ax):
    ax.figure.draw_without_rendering()
    return ax


# ---- weights ---------------------------------------------------------------------


def test_weights_of_a_layer():
    layer = L.MultiHeadAttention(6, 2, dropout_ratio=0.5)
    x = RNG.standard_normal((3, 5, 6)).astype(np.float32)
    layer(x)
    state = np.random.get_state()[1].copy()
    (found,) = attention_weights(layer, x)
    assert found.shape == (3, 2, 5, 5)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-5)
    q, k = [
        np.moveaxis(layer_of(x).data.reshape(3, 5, 2, 3), 1, 2)
        for layer_of in (layer.query, layer.key)
    ]
    expected = F.softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(3), axis=-1).data
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert (np.random.get_state()[1] == state).all()


def test_weights_of_a_model_layer_by_layer():
    model = GPT(10, context=8, width=8, layers=3, heads=2)
    found = attention_weights(model, np.array([[1, 2, 3, 4]]))
    assert [w.shape for w in found] == [(1, 2, 4, 4)] * 3
    assert (np.triu(found[0], 1) == 0).all()  # it does not look ahead
    drawn(plot_attention(found[0][0], list("abcd"))[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: attention_weights(MLP((2,)), np.ones((1, 2), np.float32)),
            ValueError,
            "calls of F.scaled_dot_product_attention, got none",
        ),
        (lambda: attention_weights(3), TypeError, "model to be a Layer or .* got int"),
    ],
)
def test_errors_of_weights(call, error, message):
    with pytest.raises(error, match=f"^attention_weights: expected {message}"):
        call()


# ---- pictures --------------------------------------------------------------------


@pytest.mark.parametrize("w", [W, Variable(W), W.tolist()])
def test_one_map(w):
    ax = drawn(plot_attention(w, WORDS, list("abcd")))
    np.testing.assert_array_equal(cells(ax), W)
    assert words(ax.yaxis) == WORDS and words(ax.xaxis) == list("abcd")
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")


def test_self_attention_has_the_same_words_on_both_sides():
    ax = drawn(plot_attention(W[:, :3], WORDS))
    assert words(ax.xaxis) == words(ax.yaxis) == WORDS


def test_a_panel_for_each_head():
    heads = np.stack([W, W[::-1]])
    axes = plot_attention(heads)
    drawn(axes[0])
    assert axes.shape == (2,)
    assert [ax.get_title() for ax in axes] == ["head 0", "head 1"]
    np.testing.assert_array_equal(cells(axes[1]), heads[1])
    assert axes[0].images[0].get_clim() == axes[1].images[0].get_clim()


def test_blanks_are_seen_and_nothing_is_a_formula():
    ax = drawn(plot_attention(np.eye(4), [" the", "\n", "$x$", " "]))
    assert words(ax.yaxis) == ["·the", r"\n", r"\$x\$", "·"]


def test_long_texts_are_thinned():
    n = 150
    ax = drawn(plot_attention(np.eye(n), ["word"] * n))
    assert len(words(ax.yaxis)) == 50
    assert max(ax.figure.get_size_inches()) <= 12


def test_weights_that_are_all_zero():
    drawn(plot_attention(np.zeros((2, 2))))


def test_given_axes():
    ax = Figure().subplots()
    assert drawn(plot_attention(W, ax=ax)) is ax
    grid = Figure().subplots(1, 2)
    assert plot_attention(np.stack([W, W]), ax=grid).tolist() == list(grid)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: plot_attention(W[None, None]),
            ValueError,
            r"weights of shape .* got \(1, 1, 3, 4\); weights\[0\] is the first",
        ),
        (lambda: plot_attention(W[0]), ValueError, r"weights of shape .* got \(4,\)"),
        (lambda: plot_attention(W - 1), ValueError, r"weights in \[0, 1\], got numb"),
        (lambda: plot_attention(W * 9), ValueError, ".* scores go through F.softmax"),
        (lambda: plot_attention(W * np.nan), ValueError, "weights to be finite"),
        (lambda: plot_attention(W[:0]), ValueError, "weights to hold numbers, got no"),
        (lambda: plot_attention(W, ["a"]), ValueError, "tokens to have 3 texts, got 1"),
        (
            lambda: plot_attention(W, WORDS),
            ValueError,
            "keys= for 4 places that 3 tokens look at, got none",
        ),
        (lambda: plot_attention(W, WORDS, ["a"]), ValueError, "keys to have 4 texts"),
        (lambda: plot_attention(W, "the"), TypeError, "tokens to be a list of texts"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_attention: expected {message}"):
        call()
