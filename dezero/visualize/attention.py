"""Where attention looks: its weights, between words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import Function
from dezero.diagnostics.calls import watch_calls
from dezero.visualize.arrays import as_finite, as_names
from dezero.visualize.axes import SEQUENTIAL, colormap, figures, plain, several
from dezero.visualize.running import copied, undisturbed

# Words along one side that can still be read.
MOST_WORDS = 60


def attention_weights(model: Any, *inputs: Any) -> list[np.ndarray]:
    """Run a model once and return the weights of each attention in it.

    A copy of the model runs in test mode, so the model stays as it is.

    Args:
        model: A Layer, or a function, that calls
            ``F.scaled_dot_product_attention``, as ``L.MultiHeadAttention``,
            ``L.TransformerBlock`` and ``models.GPT`` do.
        *inputs: What a call of it gets.

    Returns:
        The weights in the order of the calls; of ``MultiHeadAttention`` each has the
        shape (N, heads, Tq, Tk). ``weights[0][0]`` is one sequence in the first layer.

    Raises:
        TypeError: ``model`` is no function.
        ValueError: There was no attention.
    """
    found: list[np.ndarray] = []

    def look(call: Callable[..., Any], f: Function, *xs: Any) -> Any:
        outputs = call(f, *xs)
        if isinstance(f, F.ScaledDotProductAttention):
            found.append(np.array(cuda.as_numpy(f.weights)))
        return outputs

    model = copied("attention_weights", model)
    with undisturbed(), watch_calls(look):
        model(*inputs)
    if not found:
        raise ValueError(
            "attention_weights: expected calls of F.scaled_dot_product_attention, got "
            "none"
        )
    return found


def plot_attention(
    weights: Any,
    tokens: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw how much each word (row) looks at each other (column).

    ::

        weights = dz.visualize.attention_weights(gpt, ids)
        dz.visualize.plot_attention(weights[0][0], list(text))

    Args:
        weights: (Tq, Tk), or (heads, Tq, Tk) with a panel for each head; numbers in
            [0, 1].
        tokens: Tq texts, which look; without ``keys``, also what they look at.
        keys: Tk texts, where they are others.
        ax: Axes to draw into: one for one panel, a list or array for several. By
            default those of a new figure.

    Returns:
        The Axes; of several heads an array of them, (heads,).

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``weights`` has no numbers, or ``tokens`` is no list of texts.
        ValueError: The shape is another, weights are out of range or not finite, or
            there are more or fewer texts than places.
    """
    w = as_finite("plot_attention", "weights", weights)
    if w.ndim not in (2, 3):
        hint = "; weights[0] is the first of a batch" if w.ndim == 4 else ""
        raise ValueError(
            "plot_attention: expected weights of shape (Tq, Tk) or (heads, Tq, Tk), "
            f"got {w.shape}{hint}"
        )
    # Softmax in half precision may come out a little above 1.
    if w.min() < 0 or w.max() > 1.01:
        raise ValueError(
            "plot_attention: expected weights in [0, 1], got numbers from "
            f"{w.min():.3g} to {w.max():.3g}; scores go through F.softmax first"
        )
    heads = w if w.ndim == 3 else w[None]
    n, Tq, Tk = heads.shape
    queries = as_names("plot_attention", "tokens", tokens, Tq)
    if keys is None and queries is not None and Tq != Tk:
        raise ValueError(
            f"plot_attention: expected keys= for {Tk} places that {Tq} tokens look at, "
            "got none"
        )
    keys = as_names("plot_attention", "keys", keys, Tk) or queries
    axes = several("plot_attention", ax, n, _size(n, Tq, Tk), 4)
    top = float(w.max()) or 1.0
    for i, (panel, head) in enumerate(zip(axes, heads, strict=True)):
        image = panel.imshow(head, cmap=colormap(SEQUENTIAL), vmin=0, vmax=top)
        _write_words(panel, queries, keys)
        if n > 1:
            panel.set_title(f"head {i}")
        if i % 4 == 0 or ax is not None:
            panel.set_ylabel("query")
        panel.set_xlabel("key")
    figures("plot_attention").color_bar(image, "weight")
    return axes if w.ndim == 3 else axes[0]


def _write_words(ax: Any, queries: list[str] | None, keys: list[str] | None) -> None:
    for axis, words in (ax.xaxis, keys), (ax.yaxis, queries):
        if words is None:
            axis.get_major_locator().set_params(integer=True)
        else:
            every = max(1, -(-len(words) // MOST_WORDS))
            words = [_visible(word) for word in words]
            axis.set_ticks(range(0, len(words), every), words[::every])
    if keys is not None and max(map(len, keys)) > 1:
        ax.tick_params(axis="x", rotation=90)
    if keys is not None and max(len(keys), len(queries or ())) > 20:
        ax.tick_params(labelsize="small")


def _visible(word: str) -> str:
    """A word with its blanks and line ends such that they are seen."""
    if not word.strip() or word != word.strip():
        word = repr(word)[1:-1].replace(" ", "·")
    return plain(word)


def _size(n: int, Tq: int, Tk: int) -> tuple[float, float]:
    """Inches for a panel; smaller ones where there are several."""
    step, room = (0.3, 2.0) if n == 1 else (0.2, 1.0)
    return min(12.0, max(2.4, room + step * Tk)), min(12.0, max(2.4, 1.1 + step * Tq))
