"""Random transforms: what they do, and that seeds make them repeat."""

import pickle

import numpy as np
import pytest

from dezero import cuda
from dezero.transforms import (
    ColorJitter,
    Cutout,
    Normalize,
    RandomCrop,
    RandomHorizontalFlip,
    RandomRotation,
    RandomVerticalFlip,
    ToArray,
    ToPIL,
)
from dezero.transforms.augmentation import rotate

X = np.arange(1, 61, dtype=np.uint8).reshape(3, 4, 5)


def makers():
    return [
        lambda **seed: RandomHorizontalFlip(**seed),
        lambda **seed: RandomVerticalFlip(**seed),
        lambda **seed: RandomCrop((2, 3), **seed),
        lambda **seed: RandomCrop((5, 4), pad=2, **seed),
        lambda **seed: RandomRotation(90, **seed),
        lambda **seed: ColorJitter(0.5, 0.5, 0.5, **seed),
        lambda **seed: Cutout(2, **seed),
    ]


@pytest.mark.parametrize("make", makers())
def test_seeds(make):
    def run(transform, n=12):
        return [transform(X).tolist() for _ in range(n)]

    np.random.seed(5)
    first = run(make())
    assert any(x != first[0] for x in first)
    np.random.seed(5)
    assert run(make()) == first
    np.random.seed(7)
    state = np.random.rand()
    np.random.seed(7)
    own = run(make(seed=3))
    assert np.random.rand() == state  # a seed of one's own leaves the others alone
    assert run(make(seed=3)) == own
    assert run(make(seed=4)) != own
    transform = make(seed=3)
    run(transform, 4)
    assert run(pickle.loads(pickle.dumps(transform)), 8) == own[4:]


@pytest.mark.parametrize("make", makers())
def test_input_stays_and_dtype_is_kept(make):
    for x in X.copy(), X.astype(np.float32), X.astype(np.float16):
        before = x.copy()
        for seed in range(5):
            y = make(seed=seed)(x)
            assert y.dtype == x.dtype and y.shape[0] == 3
            np.testing.assert_array_equal(x, before)


def test_flips():
    np.testing.assert_array_equal(RandomHorizontalFlip(p=1)(X), X[..., ::-1])
    np.testing.assert_array_equal(RandomVerticalFlip(p=1)(X), X[:, ::-1])
    assert RandomHorizontalFlip(p=0)(X) is X
    flip = RandomHorizontalFlip(0.3, seed=0)
    share = np.mean([flip(X)[0, 0, 0] != 1 for _ in range(2000)])
    assert 0.27 < share < 0.33


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomHorizontalFlip(1),
        lambda: RandomVerticalFlip(1),
        lambda: RandomCrop(3, seed=1),
        lambda: RandomCrop(6, pad=2, seed=1),
        lambda: RandomRotation(0, seed=1),
    ],
)
def test_pictures_and_arrays_alike(make):
    pytest.importorskip("PIL.Image")
    picture = ToPIL()(X)
    np.testing.assert_array_equal(ToArray(np.uint8)(make()(picture)), make()(X))


def test_crop():
    transform = RandomCrop((2, 3), seed=0)
    seen = set()
    for _ in range(300):
        y = transform(X)
        assert y.shape == (3, 3, 2)
        top, left = divmod(int(y[0, 0, 0]) - 1, 5)
        np.testing.assert_array_equal(y, X[:, top : top + 3, left : left + 2])
        seen.add((top, left))
    assert seen == {(top, left) for top in range(2) for left in range(4)}


def test_crop_of_a_padded_picture():
    transform = RandomCrop((5, 4), pad=1, seed=0)
    padded = np.pad(X, [(0, 0), (1, 1), (1, 1)])
    places = [
        padded[:, top : top + 4, left : left + 5].tolist()
        for top in range(3)
        for left in range(3)
    ]
    found = {places.index(transform(X).tolist()) for _ in range(200)}
    assert found == set(range(9))


@pytest.mark.parametrize("shape", [(3, 4, 4), (1, 5, 5), (4, 4), (2, 3, 5, 5)])
def test_quarter_turns(shape):
    x = np.random.RandomState(0).randint(0, 99, shape)
    for quarters in range(-4, 5):
        expected = np.rot90(x, quarters, axes=(-2, -1))
        np.testing.assert_array_equal(rotate(x, 90 * quarters), expected)


def test_rotation_of_a_picture_that_is_not_square():
    half = rotate(X, 180)
    np.testing.assert_array_equal(half, X[:, ::-1, ::-1])
    assert rotate(X, 45).shape == X.shape and rotate(X, 45)[0, 0, 0] == 0
    np.testing.assert_array_equal(rotate(X, 0), X)


def test_rotation_turns_as_pillow_does():
    pytest.importorskip("PIL.Image")
    x = np.zeros((1, 41, 41), np.uint8)
    x[0, 18:23, 25:39] = 200  # a bar to the right of the centre
    for degrees in -70, 30, 110:
        theirs = ToArray(np.uint8)(ToPIL()(x).rotate(degrees))
        assert np.mean(theirs != rotate(x, degrees)) < 0.02


def test_angles():
    transform = RandomRotation(20, seed=0)
    x = np.zeros((1, 101, 101), np.float32)
    x[0, 50, 100] = 1
    x[0, 45:56, 90:] = 1
    angles = []
    for _ in range(100):
        _, row, column = np.nonzero(transform(x))
        angles.append(np.degrees(np.arctan2(50 - row.mean(), column.mean() - 50)))
    assert -21 < min(angles) < -15 and 15 < max(angles) < 21


def test_colour_jitter():
    x = np.random.RandomState(0).rand(3, 4, 5).astype(np.float32) * 0.4 + 0.1
    np.testing.assert_allclose(ColorJitter()(x), x, rtol=1e-6)
    ratio = ColorJitter(brightness=0.5, seed=0)(x) / x
    np.testing.assert_allclose(ratio, ratio[0, 0, 0], rtol=1e-5)
    assert 0.5 <= ratio[0, 0, 0] <= 1.5
    y = ColorJitter(contrast=0.5, seed=0)(x)
    ratio = (y - x.mean()) / (x - x.mean())
    np.testing.assert_allclose(ratio, ratio[0, 0, 0], rtol=1e-3)
    y = ColorJitter(saturation=1, seed=0)(x)
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    np.testing.assert_allclose(
        np.tensordot(weights, y, 1), np.tensordot(weights, x, 1), rtol=1e-5
    )
    grey = x[:1]
    np.testing.assert_allclose(ColorJitter(saturation=1)(grey), grey, rtol=1e-6)


def test_colour_jitter_stays_in_range():
    bright = np.full((3, 2, 2), 250, np.uint8)
    for seed in range(20):
        y = ColorJitter(0.5, seed=seed)(bright)
        assert y.dtype == np.uint8 and 124 <= y.min() and y.max() <= 255
        assert ColorJitter(0.9, seed=seed)(bright / 255).max() <= 1
        assert ColorJitter(0.9, high=10, seed=seed)(bright / 25.0).max() <= 10


def test_cutout():
    transform = Cutout(3, seed=0)
    sizes, whole = set(), np.ones((2, 8, 9))
    for _ in range(300):
        hole = transform(whole) == 0
        assert np.array_equal(hole[0], hole[1])
        rows, columns = np.flatnonzero(hole[0].any(1)), np.flatnonzero(hole[0].any(0))
        assert hole[0].sum() == len(rows) * len(columns)
        assert len(rows) == np.ptp(rows) + 1 and len(columns) == np.ptp(columns) + 1
        sizes.add((len(rows), len(columns)))
    assert sizes == {(a, b) for a in (2, 3) for b in (2, 3)}
    assert np.all(Cutout(99)(whole) == 0)


@pytest.mark.gpu
@pytest.mark.parametrize("make", [*makers(), lambda seed: Normalize([1, 2, 3], 4)])
def test_on_the_gpu(make):
    for x in X, X.astype(np.float32):
        y = make(seed=1)(cuda.as_cupy(x))
        assert isinstance(y, cuda.cupy.ndarray)
        np.testing.assert_allclose(y.get(), make(seed=1)(x), rtol=1e-5)


ERRORS = [
    (lambda: RandomHorizontalFlip(1.5), ValueError, r"RandomHorizontalFlip: .*got 1.5"),
    (lambda: RandomVerticalFlip(-1), ValueError, r"RandomVerticalFlip: .*\[0, 1\]"),
    (lambda: RandomHorizontalFlip()([1]), TypeError, "Flip: expected a PIL .*got list"),
    (lambda: RandomVerticalFlip()(np.ones(2)), ValueError, r"Flip: .*shape \(2,\)"),
    (lambda: RandomCrop(2, pad=-1), ValueError, "RandomCrop: .*pad >= 0, got -1"),
    (lambda: RandomCrop(0), ValueError, "RandomCrop: expected size .*got 0"),
    (lambda: RandomCrop(5)(X), ValueError, "RandomCrop: .* 5 x 5, got 5 x 4"),
    (lambda: RandomRotation(-1), ValueError, "RandomRotation: .*>= 0, got -1"),
    (lambda: RandomRotation(np.inf), ValueError, "RandomRotation: .*got inf"),
    (lambda: RandomRotation(1)("a"), TypeError, "RandomRotation: .*got str"),
    (lambda: ColorJitter(2), ValueError, r"ColorJitter: .*brightness in \[0, 1\]"),
    (lambda: ColorJitter(0, -1), ValueError, r"ColorJitter: .*contrast .*got -1"),
    (lambda: ColorJitter()([1]), TypeError, "ColorJitter: .*array, got list"),
    (lambda: ColorJitter()(np.ones((2, 3, 3))), ValueError, r"got .*\(2, 3, 3\)"),
    (lambda: Cutout(0), ValueError, "Cutout: expected size >= 1, got 0"),
    (lambda: Cutout(1)([1]), TypeError, "Cutout: expected an array, got list"),
    (lambda: Cutout(1)(np.ones(3)), ValueError, r"Cutout: .*shape \(3,\)"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_state_of_a_seed():
    x = np.arange(48.0).reshape(3, 4, 4)
    first, second = RandomCrop(2, seed=1), RandomCrop(2, seed=2)
    first(x)
    state = first.state_dict()
    expected = [first(x).tolist() for _ in range(5)]
    second.load_state_dict(state)
    assert [second(x).tolist() for _ in range(5)] == expected
    second.load_state_dict(state)  # which is a copy
    assert [second(x).tolist() for _ in range(5)] == expected
    without = RandomCrop(2)
    assert without.state_dict() == {}
    without.load_state_dict({})
    message = (
        "RandomCrop.load_state_dict: expected the state of a transform with {}, "
        "got one of {}$"
    )
    with pytest.raises(ValueError, match=message.format("no seed", "a seed")):
        without.load_state_dict(state)
    with pytest.raises(ValueError, match=message.format("a seed", "no seed")):
        first.load_state_dict({})
    message = "RandomCrop.load_state_dict: expected a dict that state_dict gave, got"
    for other in {"x": 1}, [1]:
        with pytest.raises(TypeError, match=f"{message} {type(other).__name__}"):
            first.load_state_dict(other)
