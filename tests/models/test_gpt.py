"""GPT."""

import copy
import pickle

import numpy as np
import pytest

import dezero.functions as F
from dezero.core import Parameter, Variable, no_grad, test_mode
from dezero.models import GPT
from dezero.testing import check_gradients

V = 7
IDS = np.random.RandomState(0).randint(0, V, (3, 6))
tied = pytest.mark.parametrize("tie_weights", [False, True])


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)


def small(spread=0.3, **options):
    options = {"context": 6, "width": 8, "layers": 2, "heads": 2} | options
    model = GPT(V, **options)
    for p in model.params():  # further from 0 than at the start
        p.data = p.data + spread * np.random.randn(*p.shape).astype(np.float32)
    return model


@tied
def test_shapes(tie_weights):
    model = small(tie_weights=tie_weights)
    y = model(IDS)
    assert y.shape == (3, 6, V) and y.dtype == np.float32
    assert model(Variable(IDS[:, :2].astype(np.uint8))).shape == (3, 2, V)
    assert model(IDS[:1, :1]).shape == (1, 1, V)


def layer_norm(x, gamma, beta):
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gamma + beta


@tied
def test_is_the_formula(tie_weights):
    model = small(tie_weights=tie_weights, layers=1)
    W = {name: p.data.astype(np.float64) for name, p in model.named_params()}

    def linear(name, x):
        return x @ W[f"blocks/0/{name}/W"] + W[f"blocks/0/{name}/b"]

    x = W["token/W"][IDS[0]] + W["position/W"][:6]
    z = layer_norm(x, W["blocks/0/norm1/gamma"], W["blocks/0/norm1/beta"])
    q, k, v = [linear(f"attention/{part}", z) for part in ("query", "key", "value")]
    heads = []
    for part in slice(0, 4), slice(4, 8):
        scores = np.where(np.tri(6), np.exp(q[:, part] @ k[:, part].T / 2), 0)
        heads.append(scores / scores.sum(axis=1, keepdims=True) @ v[:, part])
    x = x + linear("attention/out", np.concatenate(heads, axis=1))
    z = layer_norm(x, W["blocks/0/norm2/gamma"], W["blocks/0/norm2/beta"])
    u = linear("fc1", z)
    u = 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))
    x = x + linear("fc2", u)
    head = W["token/W"].T if tie_weights else W["head/W"]
    want = layer_norm(x, W["norm/gamma"], W["norm/beta"]) @ head
    np.testing.assert_allclose(model(IDS[:1]).data[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("t", range(5))
def test_later_ids_change_nothing_before(t):
    model, other = small(), IDS.copy()
    other[:, t + 1 :] = (other[:, t + 1 :] + 1) % V
    y, z = model(IDS).data, model(other).data
    np.testing.assert_array_equal(y[:, : t + 1], z[:, : t + 1])
    assert (y[:, t + 1 :] != z[:, t + 1 :]).any(axis=-1).all()


def test_earlier_ids_and_their_order_count():
    model, other = small(), IDS.copy()
    other[:, [0, 1]] = [[1, 2]]
    swapped = other[:, [1, 0, 2, 3, 4, 5]]
    y, z = model(other).data, model(swapped).data
    assert not np.allclose(y[:, -1], z[:, -1], atol=1e-4)


def test_scores_do_not_overflow():
    model = small()
    for p in model.params():
        p.data = p.data * np.float32(1e3)
    y = model(IDS)
    F.softmax_cross_entropy(y, IDS, axis=-1).backward()
    assert np.isfinite(y.data).all()
    assert all([np.isfinite(p.grad.data).all() for p in model.params()])


# ---- place by place ----------------------------------------------------------------


def followed(model, ids, first):
    """The scores after each of the ids from the number ``first`` on, and how many
    places are known then, in each block.
    """
    scores, lengths, memory = [], [], None
    with no_grad(), test_mode():
        for t in range(first, ids.shape[1] + 1):
            y, memory = model.follow(ids[:, :t], memory)
            scores.append(y.data)
            lengths.append([cache.length for cache in memory or []])
    return scores, lengths


@tied
@pytest.mark.parametrize("first", [1, 3, 6, 8])
def test_follow_scores_as_the_whole_does_before_and_after_the_context_is_full(
    tie_weights, first
):
    model = small(tie_weights=tie_weights, dropout=0.5)  # the context is 6
    ids = np.random.randint(0, V, (3, 11))
    followings = zip(*followed(model, ids, first), strict=True)
    for t, (y, lengths) in enumerate(followings, start=first):
        with test_mode():
            want = model(ids[:, max(t - 6, 0) : t]).data[:, -1]
        np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
        # Every place moves on by one then, and so nothing is kept.
        assert lengths == ([] if t > 6 else [t, t])


@pytest.mark.parametrize("T", [2, 3])
def test_follow_needs_an_id_that_is_new(T):
    model = small()
    with no_grad():
        _, memory = model.follow(IDS[:, :3], None)
        message = f"GPT.follow: expected ids that go on from the 3 .* got {T}; a new"
        with pytest.raises(ValueError, match=message):
            model.follow(IDS[:, :T], memory)


def test_with_a_graph_follow_keeps_nothing_and_gives_gradients():
    model = small()
    y, memory = model.follow(IDS[:, :3], None)
    assert memory is None
    F.sum(y).backward()
    assert all([p.grad is not None for p in model.params()])


def test_only_new_ids_go_through_the_blocks():
    model, sizes = small(), []
    forward = model.blocks[1].forward

    def counting(x, cache=None):
        sizes.append(x.shape[1])
        return forward(x, cache=cache)

    model.blocks[1].forward = counting
    model.generate(IDS[:, :3], 6, seed=0)
    assert sizes == [3, 1, 1, 1, 6, 6]


# ---- weights -----------------------------------------------------------------------


def test_start():
    model = GPT(500, context=64, width=128, layers=4)
    for name, p in model.named_params():
        kind = name.split("/")[-1]
        assert p.dtype == np.float32
        if kind == "W":
            added = "attention/out" in name or "fc2" in name
            std = 0.02 / np.sqrt(8) if added else 0.02
            assert abs(p.data.std() / std - 1) < 0.03, name
            assert abs(p.data.mean()) < 5 * std / np.sqrt(p.size), name
        else:
            np.testing.assert_array_equal(p.data, kind == "gamma", name)
    # All ids are about equally likely before anything is learned.
    ids = np.random.randint(0, 500, (4, 64))
    loss = F.softmax_cross_entropy(model(ids), ids, axis=-1)
    assert abs(float(loss) - np.log(500)) < 0.1


def test_number_of_parameters():
    # Radford et al. 2019 name 1.5 billion for 48 blocks of 1600; one by one:
    D, layers, context = 32, 3, 16
    block = 4 * D * D + 4 * D + 8 * D * D + 5 * D + 4 * D
    rest = (V + context) * D + 2 * D
    for tie_weights, head in ((True, 0), (False, V * D)):
        model = GPT(V, context, D, layers, tie_weights=tie_weights)
        total = sum([p.size for p in model.params()])
        assert total == layers * block + rest + head


def test_tied_weights_are_one_parameter():
    model = small(tie_weights=True)
    names = [name for name, _ in model.named_params()]
    assert "token/W" in names and not any(["head" in name for name in names])
    # An id that is nowhere gets a gradient too, as a class.
    F.softmax_cross_entropy(model(IDS * 0), IDS * 0, axis=-1).backward()
    assert np.abs(model.token.W.grad.data).sum(axis=1).all()


@tied
def test_gradients(tie_weights):
    model = small(context=3, width=4, layers=1, tie_weights=tie_weights)
    places = [
        (owner, name.split("/")[-1])
        for name, p, owner in model._walk()
        if isinstance(p, Parameter)
    ]
    parameters = [getattr(o, name).data.astype(np.float64) for o, name in places]

    def f(*parameters):
        for (owner, name), p in zip(places, parameters, strict=True):
            setattr(owner, name, p)
        return F.softmax_cross_entropy(model(IDS[:2, :3]), IDS[:2, 1:4], axis=-1)

    check_gradients(f, *parameters, directions=1).assert_ok()


@tied
def test_every_parameter_gets_a_gradient_in_single_precision(tie_weights):
    model = small(tie_weights=tie_weights)
    F.softmax_cross_entropy(model(IDS), (IDS + 1) % V, axis=-1).backward()
    for name, p in model.named_params():
        assert p.grad is not None and p.grad.dtype == np.float32, name
        assert np.any(p.grad.data), name


def test_dropout_in_training_only():
    model = small(dropout=0.5)
    assert not np.array_equal(model(IDS).data, model(IDS).data)
    with test_mode():
        np.testing.assert_array_equal(model(IDS).data, model(IDS).data)


@tied
def test_copies_and_files(tmp_path, tie_weights):
    model = small(tie_weights=tie_weights)
    for again in copy.deepcopy(model), pickle.loads(pickle.dumps(model)):
        np.testing.assert_array_equal(again(IDS).data, model(IDS).data)
    model.save_weights(tmp_path / "w")
    other = small(0.0, tie_weights=tie_weights)
    other.load_weights(tmp_path / "w")
    np.testing.assert_array_equal(other(IDS).data, model(IDS).data)


# ---- writing -----------------------------------------------------------------------


def test_looks_back_on_the_last_ids_of_its_context():
    model = small()
    long = np.random.randint(0, V, 40)
    ids = model.generate(long, 10, seed=3)
    np.testing.assert_array_equal(ids[:40], long)
    np.testing.assert_array_equal(model.generate(long[-6:], 10, seed=3), ids[34:])
    assert not np.array_equal(model.generate(long[-3:], 10, seed=3), ids[37:])


# ---- errors ------------------------------------------------------------------------


def test_longer_than_the_context():
    message = r"GPT: expected ids .* T <= context=6, got shape \(3, 7\), T=7"
    with pytest.raises(ValueError, match=message):
        small()(np.zeros((3, 7), int))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"vocabulary_size": 0}, ValueError, "vocabulary_size .* got 0"),
        ({"vocabulary_size": 5.0}, TypeError, "vocabulary_size .* got float"),
        ({"context": 0}, ValueError, "context .* got 0"),
        ({"width": 0}, ValueError, "width .* got 0"),
        ({"width": 6}, ValueError, "width divisible by heads=4, got 6"),
        ({"layers": 0}, ValueError, "layers .* got 0"),
        ({"heads": 0}, ValueError, "heads .* got 0"),
        ({"heads": 2.0}, TypeError, "heads .* got float"),
        ({"dropout": 1.5}, ValueError, "dropout <= 1, got 1.5"),
        ({"dropout": "0"}, TypeError, "dropout, got str"),
    ],
)
def test_options(options, error, message):
    with pytest.raises(error, match=f"^GPT: expected .*{message}"):
        GPT(**({"vocabulary_size": V} | options))


def test_ids():
    model = small()
    with pytest.raises(ValueError, match=r"GPT: expected ids .* got shape \(6,\)"):
        model(IDS[0])
    with pytest.raises(TypeError, match=r"GPT: expected ids as an array .* got list"):
        model([[1, 2]])
    with pytest.raises(TypeError, match="expected integers, got dtype float64"):
        model(IDS * 1.0)
    for wrong in V, -1:
        with pytest.raises(IndexError, match=rf"ids in \[0, {V}\), got {wrong}"):
            model(np.array([[0, wrong]]))
