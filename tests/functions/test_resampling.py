import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, shapes


@st.composite
def shuffled(draw):
    r = draw(st.integers(1, 3))
    lead = draw(shapes(max_dims=2, max_side=2))
    C, H, W = draw(st.tuples(*[st.integers(1, 2)] * 3))
    return r, (*lead, C, r, r, H, W)


@st.composite
def channels(draw):
    r, shape = draw(shuffled())
    *lead, C, _, _, H, W = shape
    return draw(arrays((*lead, C * r * r, H, W)))


@st.composite
def spaces(draw):
    r, shape = draw(shuffled())
    *lead, C, _, _, H, W = shape
    return draw(arrays((*lead, C, H * r, W * r)))


def factors_of_channels(x):
    return st.sampled_from([{"r": r} for r in (1, 2, 3) if x.shape[-3] % (r * r) == 0])


def factors_of_sides(x):
    fits = [r for r in (1, 2, 3) if x.shape[-1] % r == x.shape[-2] % r == 0]
    return st.sampled_from([{"r": r} for r in fits])


def shuffle_by_loops(x, r):
    *lead, K, H, W = x.shape
    y = np.zeros((*lead, K // (r * r), H * r, W * r), x.dtype)
    for k, h, w in itertools.product(range(K), range(H), range(W)):
        c, i, j = k // (r * r), k // r % r, k % r
        y[..., c, r * h + i, r * w + j] = x[..., k, h, w]
    return y


def unshuffle_by_loops(x, r):
    *lead, C, OH, OW = x.shape
    y = np.zeros((*lead, C * r * r, OH // r, OW // r), x.dtype)
    for c, h, w in itertools.product(range(C), range(OH), range(OW)):
        y[..., c * r * r + h % r * r + w % r, h // r, w // r] = x[..., c, h, w]
    return y


images = arrays(min_dims=4, max_dims=4, max_side=4)


@st.composite
def sizes_or_factors(draw, modes, corners=False):
    options = {"mode": draw(modes)}
    pair = st.tuples(*[st.integers(1, 7)] * 2)
    factor = st.sampled_from([0.5, 0.6, 1, 1.02, 1.5, 2, 2.2, 3])
    if draw(st.booleans()):
        options["size"] = draw(st.one_of(st.integers(1, 7), pair))
    else:
        options["scale_factor"] = draw(st.one_of(factor, st.tuples(factor, factor)))
    if corners:
        options["align_corners"] = draw(st.booleans())
    return options


def has_pixels(x):
    def check(options):
        s = options.get("scale_factor", 1)
        s = s if isinstance(s, tuple) else (s, s)
        return x.shape[2] * s[0] >= 1 and x.shape[3] * s[1] >= 1

    return check


def nearest_options(x):
    return sizes_or_factors(st.just("nearest")).filter(has_pixels(x))


def bilinear_options(x):
    return sizes_or_factors(st.just("bilinear"), True).filter(has_pixels(x))


def interpolate_by_loops(
    x, size=None, scale_factor=None, mode="nearest", align_corners=False
):
    N, C, H, W = x.shape
    if size is not None:
        OH, OW = size if isinstance(size, tuple) else (size, size)
        steps = H / OH, W / OW
    else:
        s = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * 2
        OH, OW = int(H * s[0]), int(W * s[1])
        steps = 1 / s[0], 1 / s[1]
    matrices = []
    for I, O, step in zip((H, W), (OH, OW), steps, strict=True):
        R = np.zeros((O, I))
        for i in range(O):
            if I == O:
                R[i, i] = 1
            elif mode == "nearest":
                step = 0.5 if O == 2 * I else step
                R[i, min(int(i * step + 1e-12), I - 1)] = 1
            else:
                p = i * (I - 1) / max(O - 1, 1) if align_corners else 0.0
                p = p if align_corners else (i + 0.5) * step - 0.5
                p = min(max(p, 0.0), I - 1.0)
                low = int(p)
                R[i, low] += 1 - (p - low)
                R[i, min(low + 1, I - 1)] += p - low
        matrices.append(R)
    return matrices[0] @ x @ matrices[1].T


CASES = [
    Case(
        F.pixel_shuffle,
        channels(),
        reference=shuffle_by_loops,
        options=factors_of_channels,
    ),
    Case(
        F.pixel_unshuffle,
        spaces(),
        reference=unshuffle_by_loops,
        options=factors_of_sides,
    ),
    Case(
        F.interpolate, images, reference=interpolate_by_loops, options=nearest_options
    ),
    Case(
        F.interpolate, images, reference=interpolate_by_loops, options=bilinear_options
    ),
]

IMAGE = np.ones((1, 4, 2, 3))


def resized(*args, **kwargs):
    return lambda: F.interpolate(IMAGE, *args, **kwargs)


ERRORS = [
    (
        lambda: F.pixel_shuffle(np.ones((2, 2)), 1),
        ValueError,
        r"pixel_shuffle: .*C, H, W.*\(2, 2\)",
    ),
    (
        lambda: F.pixel_shuffle(IMAGE, 3),
        ValueError,
        r"pixel_shuffle: .*multiple of 9 channels.*got 4",
    ),
    (
        lambda: F.pixel_shuffle(IMAGE, 0),
        ValueError,
        r"pixel_shuffle: .*at least 1, got 0",
    ),
    (lambda: F.pixel_shuffle(IMAGE, 2.0), TypeError, r"pixel_shuffle: .*integer as r"),
    (
        lambda: F.pixel_unshuffle(np.ones(2), 1),
        ValueError,
        r"pixel_unshuffle: .*C, H, W.*\(2,\)",
    ),
    (
        lambda: F.pixel_unshuffle(IMAGE, 2),
        ValueError,
        r"pixel_unshuffle: .*multiples of 2.*\(1, 4, 2, 3\)",
    ),
    (
        lambda: F.pixel_unshuffle(IMAGE, -1),
        ValueError,
        r"pixel_unshuffle: .*at least 1, got -1",
    ),
    (
        lambda: F.pixel_unshuffle(IMAGE, "2"),
        TypeError,
        r"pixel_unshuffle: .*integer as r",
    ),
    (
        lambda: F.interpolate(np.ones((2, 3, 4)), 2),
        ValueError,
        r"interpolate: .*N, C, H, W.*\(2, 3, 4\)",
    ),
    (
        lambda: F.interpolate(np.ones((1, 1, 0, 4)), 2),
        ValueError,
        r"interpolate: .*one pixel.*\(1, 1, 0, 4\)",
    ),
    (resized(2, mode="cubic"), ValueError, r"interpolate: .*as mode, got 'cubic'"),
    (resized(2, align_corners=True), ValueError, r"interpolate: .*align_corners=False"),
    (resized(), ValueError, r"interpolate: .*either size or scale_factor, got none"),
    (
        resized(2, 2.0),
        ValueError,
        r"interpolate: .*either size or scale_factor, got both",
    ),
    (resized((2, 2, 2)), ValueError, r"interpolate: .*one or two numbers as size"),
    (resized(2.5), TypeError, r"interpolate: .*integer as size, got float"),
    (
        resized((0, 2)),
        ValueError,
        r"interpolate: .*at least one pixel, got size \(0, 2\)",
    ),
    (
        resized(scale_factor=0.4),
        ValueError,
        r"interpolate: .*one pixel, got size \(0, 1\)",
    ),
    (resized(scale_factor=-1.0), ValueError, r"interpolate: .*above 0, got -1.0"),
    (resized(scale_factor=(2, float("nan"))), ValueError, r"interpolate: .*above 0"),
    (resized(scale_factor="2"), TypeError, r"interpolate: .*scale_factor, got str"),
]


def test_shuffling_and_back_changes_nothing():
    x = np.arange(72.0).reshape(2, 9, 2, 2)
    assert np.array_equal(F.pixel_unshuffle(F.pixel_shuffle(x, 3), 3).data, x)


def test_a_batch_without_images():
    x = Variable(np.zeros((0, 4, 2, 2)))
    for y in (F.pixel_shuffle(x, 2), F.interpolate(x, 3, mode="bilinear")):
        x.cleargrad()
        y.backward()
        assert x.grad.shape == x.shape
    assert F.interpolate(x, 3, mode="bilinear").shape == (0, 4, 3, 3)


def test_the_size_that_is_there_changes_nothing():
    x = Variable(IMAGE)
    assert F.interpolate(x, (2, 3)) is x
    assert F.interpolate(x, scale_factor=1.1, mode="bilinear") is x


def test_aligned_corners_stay():
    x = np.arange(6.0).reshape(1, 1, 2, 3)
    y = F.interpolate(x, (5, 9), mode="bilinear", align_corners=True).data
    assert y[0, 0, ::4, ::8].tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert y[0, 0, 0].tolist() == [0.25 * i for i in range(9)]


def test_an_infinite_pixel_stays_where_it_is():
    x = np.zeros((1, 1, 2, 4))
    x[0, 0, 0, 1] = np.inf
    y = F.interpolate(x, scale_factor=2).data
    assert np.isinf(y).sum() == 4 and not np.isnan(y).any()


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("I", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("O", [1, 2, 5, 12, 30])
def test_the_gradient_is_the_adjoint(mode, I, O):
    rng = np.random.RandomState(0)
    x = Variable(rng.randn(1, 2, I, 4))
    y = F.interpolate(x, (O, 5), mode=mode)
    gy = rng.randn(*y.shape)
    y.backward(grad=gy)
    assert np.isclose((y.data * gy).sum(), (x.data * x.grad.data).sum())


def test_integers():
    x = np.arange(4).reshape(1, 1, 2, 2)
    assert F.interpolate(x, 3).dtype == x.dtype
    assert F.interpolate(x, 3, mode="bilinear").dtype == np.float64


def test_half_precision_adds_up_in_single():
    x = Variable(np.ones((1, 1, 1, 1), np.float16))
    F.interpolate(x, 64).backward()
    assert x.grad.dtype == np.float16 and x.grad.item() == 4096.0
