"""MultiHeadAttention and TransformerBlock."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import no_grad, test_mode


def sequence(N=2, T=5, size=8):
    return np.random.randn(N, T, size).astype(np.float32)


def by_hand(layer, x, context, allowed=None):
    """The formula, head by head, for one sequence."""

    def linear(sub, v):
        return v @ sub.W.data + (0 if sub.b is None else sub.b.data)

    q, k, v = linear(layer.query, x), linear(layer.key, context), None
    v = linear(layer.value, context)
    D = layer.size // layer.num_heads
    heads = []
    for i in range(layer.num_heads):
        part = slice(i * D, (i + 1) * D)
        scores = q[:, part] @ k[:, part].T / np.sqrt(D)
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
    return linear(layer.out, np.concatenate(heads, axis=1))


@pytest.mark.parametrize("nobias", [False, True])
def test_formula(nobias):
    layer, x, context = L.MultiHeadAttention(8, 2, nobias=nobias), sequence(), None
    context = sequence(T=3, size=6)
    y = layer(x, context)
    assert y.shape == (2, 5, 8)
    assert y.dtype == np.float32
    for n in range(2):
        want = by_hand(layer, x[n], context[n])
        np.testing.assert_allclose(y.data[n], want, rtol=1e-4, atol=1e-5)


def test_masks():
    layer, x = L.MultiHeadAttention(8, 4), sequence()
    causal = np.tri(5, dtype=bool)
    want = [by_hand(layer, row, row, causal) for row in layer(x).data * 0 + x]
    for y in layer(x, causal=True), layer(x, mask=causal):
        np.testing.assert_allclose(y.data, want, rtol=1e-4, atol=1e-5)
    lengths = np.array([5, 2])
    mask = (np.arange(5) < lengths[:, None])[:, None]  # (N, 1, Tk)
    y = layer(x, mask=mask)
    for n in range(2):
        want = by_hand(layer, x[n], x[n], mask[n])
        np.testing.assert_allclose(y.data[n], want, rtol=1e-4, atol=1e-5)
    added = np.where(mask, 0.0, -np.inf).astype(np.float32)
    np.testing.assert_allclose(layer(x, mask=added).data, y.data, atol=1e-6)


def test_any_axes_in_front():
    layer, x = L.MultiHeadAttention(8, 2), sequence()
    want = layer(x).data
    np.testing.assert_allclose(layer(x[0]).data, want[0], atol=1e-6)
    np.testing.assert_allclose(layer(x[None]).data, want[None], atol=1e-6)


def test_dropout_in_training_only():
    layer, x = L.MultiHeadAttention(8, 2, dropout_ratio=0.5), sequence()
    assert not np.array_equal(layer(x).data, layer(x).data)
    with test_mode():
        np.testing.assert_array_equal(layer(x).data, layer(x).data)


def test_block():
    block, x = L.TransformerBlock(8, 2, hidden_size=6, activation=F.relu), sequence()
    for p in block.params():
        p.data = p.data + 0.1 * np.random.randn(*p.shape).astype(np.float32)
    y = block(x)
    z = x + block.attention(block.norm1(x))
    want = z + block.fc2(F.relu(block.fc1(block.norm2(z))))
    np.testing.assert_allclose(y.data, want.data, rtol=1e-5, atol=1e-6)
    assert L.TransformerBlock(8, 2).fc1.out_size == 32


def test_a_causal_block_does_not_look_ahead():
    block, x = L.TransformerBlock(8, 2, causal=True), sequence()
    y = block(x).data
    x[:, 3:] = 0
    np.testing.assert_allclose(block(x).data[:, :3], y[:, :3], rtol=1e-5, atol=1e-6)
    assert not np.allclose(L.TransformerBlock(8, 2)(x).data[:, :3], y[:, :3])


def test_masked_places_of_a_block_do_not_count():
    block, x = L.TransformerBlock(8, 2), sequence()
    mask = np.array([[True, True, False, False, True]])
    y = block(x, mask).data
    x[:, 2:4] = 7
    np.testing.assert_allclose(block(x, mask).data[:, 4], y[:, 4], atol=1e-5)


# ---- place by place ----------------------------------------------------------------


@pytest.mark.parametrize("parts", [[1, 1, 1, 1, 1], [5], [3, 2], [2, 1, 2]])
def test_with_a_cache_parts_give_what_the_whole_gives(parts):
    layer, x = L.MultiHeadAttention(8, 2), sequence()
    want = layer(x, causal=True).data
    cache, start = L.KeyValueCache(6), 0
    with no_grad():
        for T in parts:
            y = layer(x[:, start : start + T], causal=True, cache=cache)
            np.testing.assert_allclose(
                y.data, want[:, start : start + T], rtol=1e-5, atol=1e-6
            )
            start += T
            assert cache.length == start


def test_a_mask_beside_a_cache_counts_the_places_before():
    layer, x = L.MultiHeadAttention(8, 4), sequence()
    mask = np.array([[True, False, True, True, False], [True] * 5])[:, None]
    want = layer(x, mask=mask, causal=True).data
    cache = L.KeyValueCache(5)
    with no_grad():
        layer(x[:, :3], mask=mask[:, :, :3], causal=True, cache=cache)
        y = layer(x[:, 3:], mask=mask, causal=True, cache=cache)
    np.testing.assert_allclose(y.data, want[:, 3:], rtol=1e-5, atol=1e-6)


def test_a_call_that_fails_leaves_no_places_in_the_cache():
    layer, x = L.MultiHeadAttention(8, 2), sequence()
    cache = L.KeyValueCache(5)
    with no_grad():
        layer(x[:, :3], causal=True, cache=cache)
        with pytest.raises(ValueError, match="expected a mask that broadcasts"):
            layer(x[:, 3:4], mask=np.ones((7, 7)), causal=True, cache=cache)
        assert cache.length == 3
        y = layer(x[:, 3:4], causal=True, cache=cache)
        whole = layer(x[:, :4], causal=True)
    np.testing.assert_allclose(y.data, whole.data[:, 3:], rtol=1e-4, atol=1e-5)


def test_a_block_with_a_cache():
    block, x = L.TransformerBlock(8, 2, causal=True), sequence()
    want = block(x).data
    cache = L.KeyValueCache(5)
    with no_grad():
        ys = [block(x[:, t : t + 1], cache=cache).data for t in range(5)]
    got = np.concatenate(ys, axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


# ---- the start ---------------------------------------------------------------------


def test_initial_weights():
    half = L.initializers.Constant(0.5)
    layer = L.MultiHeadAttention(8, 2, initial_W=half)
    layer(sequence(size=6))  # the sizes that the first call tells count too
    block = L.TransformerBlock(8, 2, initial_W=half)
    for name, p in [*layer.named_params(), *block.named_params()]:
        if name.endswith("/W"):
            np.testing.assert_array_equal(p.data, 0.5, name)
    names = [name for name, _ in block.named_params() if name.endswith("/W")]
    assert len(names) == 6


def test_dropout_of_a_block():
    block, x = L.TransformerBlock(8, 2, dropout_ratio=1.0), sequence()
    np.testing.assert_array_equal(block(x).data, x)  # all that is added is dropped


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: L.MultiHeadAttention(8, 3),
            ValueError,
            "MultiHeadAttention: expected size divisible by num_heads=3, got 8",
        ),
        (
            lambda: L.MultiHeadAttention(8, 0),
            ValueError,
            "MultiHeadAttention: expected num_heads to be at least 1, got 0",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2, 1.5),
            ValueError,
            "MultiHeadAttention: expected dropout_ratio <= 1, got 1.5",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2)(np.ones(8)),
            ValueError,
            r"expected x of shape \(\.\.\., T, in_size\), got \(8,\)",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2)(sequence(), np.ones(8)),
            ValueError,
            r"expected context of shape \(\.\.\., T, in_size\), got \(8,\)",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2, initial_W=0.5),
            TypeError,
            "Linear: expected initial_W to be an initializer such as HeNormal",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2)(sequence(), cache={}),
            TypeError,
            "MultiHeadAttention: expected cache to be a KeyValueCache, got dict",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2)(
                sequence(), sequence(), cache=L.KeyValueCache(9)
            ),
            ValueError,
            "MultiHeadAttention: expected cache or context, got both: what x looks at",
        ),
        (
            lambda: L.MultiHeadAttention(8, 2)(sequence(), cache=L.KeyValueCache(9)),
            RuntimeError,
            r"KeyValueCache: expected to be used under no_grad\(\), got keys or values",
        ),
        (
            lambda: L.TransformerBlock(8, 2)(sequence(), cache=L.KeyValueCache(9)),
            ValueError,
            "TransformerBlock: expected causal=True with a cache, got False: the pla",
        ),
        (
            lambda: L.TransformerBlock(8, 3),
            ValueError,
            "expected size divisible by num_heads=3, got 8",
        ),
        (
            lambda: L.TransformerBlock(8, 2, 0),
            ValueError,
            "TransformerBlock: expected hidden_size to be at least 1, got 0",
        ),
        (
            lambda: L.TransformerBlock(8, 2, activation="gelu"),
            TypeError,
            "TransformerBlock: expected activation to be a function, got str",
        ),
        (
            lambda: L.TransformerBlock(8, 2, dtype=int),
            TypeError,
            "TransformerBlock: expected a floating dtype, got int64",
        ),
        (
            lambda: L.TransformerBlock(8, 2)(sequence(size=6)),
            ValueError,
            r"LayerNorm\(.*\): expected x of size 8 along axis -1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
