"""Convolution and transposed convolution along one, two and three axes."""

import numpy as np
import pytest
from scipy import signal

import dezero.functions as F
from dezero import Variable
from dezero.testing import (
    Case,
    check_gradients,
    conv_geometries,
    deconv_geometries,
    images_and_kernels,
    window_geometries,
)


def pairs_of(pad, sizes, kernel, stride, dilation):
    """``pad`` as pairs; "same" as TensorFlow has it."""
    if pad != "same":
        pads = [pad] * len(sizes) if isinstance(pad, int) else pad
        return [(p, p) if isinstance(p, int) else p for p in pads]
    pads = []
    for I, K, S, D in zip(sizes, kernel, stride, dilation, strict=True):
        reach = (K - 1) * D + 1
        total = max(0, reach - (I % S or S))
        pads.append((total // 2, total - total // 2))
    return pads


def convolution(x, W, b=None, stride=1, pad=0, dilation=1, groups=1):
    """By definition: a loop over the places."""
    ndim = x.ndim - 2
    stride = np.broadcast_to(stride, ndim).tolist()
    dilation = np.broadcast_to(dilation, ndim).tolist()
    kernel = W.shape[2:]
    pads = pairs_of(pad, x.shape[2:], kernel, stride, dilation)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    reach = [(K - 1) * D + 1 for K, D in zip(kernel, dilation, strict=True)]
    places = [
        range(0, I - R + 1, S)
        for I, R, S in zip(x.shape[2:], reach, stride, strict=True)
    ]
    y = np.zeros((len(x), len(W), *map(len, places)))
    for index in np.ndindex(*map(len, places)):
        met = tuple(
            slice(i * S, i * S + R, D)
            for i, S, R, D in zip(index, stride, reach, dilation, strict=True)
        )
        xs = np.split(x[(..., *met)], groups, axis=1)
        Ws = np.split(W, groups)
        axes = (range(1, ndim + 2),) * 2
        parts = [np.tensordot(u, v, axes) for u, v in zip(xs, Ws, strict=True)]
        y[(..., *index)] = np.concatenate(parts, axis=1)
    return y if b is None else y + b.reshape(-1, *[1] * ndim)


def transposed_convolution(
    x, W, b=None, stride=1, pad=0, outsize=None, dilation=1, groups=1
):
    """By definition: a copy of the kernel for each element."""
    ndim = x.ndim - 2
    kernel, sizes = W.shape[2:], x.shape[2:]
    reach = [(K - 1) * D + 1 for K, D in zip(kernel, dilation, strict=True)]
    if pad == "same":
        outsize = [I * S for I, S in zip(sizes, stride, strict=True)]
        pads = pairs_of("same", outsize, kernel, stride, dilation)
    else:
        pads = pad
    most = [(I - 1) * S + R for I, S, R in zip(sizes, stride, reach, strict=True)]
    spare = [n + max(stride) for n in most]
    y = np.zeros((len(x), W.shape[1] * groups, *spare))
    for index in np.ndindex(*sizes):
        met = tuple(
            slice(i * S, i * S + R, D)
            for i, S, R, D in zip(index, stride, reach, dilation, strict=True)
        )
        xs = np.split(x[(..., *index)], groups, axis=1)
        Ws = np.split(W, groups)
        parts = [np.tensordot(u, v, 1) for u, v in zip(xs, Ws, strict=True)]
        y[(..., *met)] += np.concatenate(parts, axis=1)
    if outsize is None:
        outsize = [n - p - q for n, (p, q) in zip(most, pads, strict=True)]
    inside = [slice(p, p + n) for n, (p, _) in zip(outsize, pads, strict=True)]
    y = y[(..., *inside)]
    return y if b is None else y + b.reshape(-1, *[1] * ndim)


CASES = [
    *[
        Case(
            function,
            images_and_kernels(ndim),
            reference=convolution,
            options=conv_geometries,
        )
        for ndim, function in enumerate([F.conv1d, F.conv2d, F.conv3d], start=1)
    ],
    *[
        Case(
            function,
            images_and_kernels(ndim, transposed=True),
            reference=transposed_convolution,
            options=deconv_geometries,
        )
        for ndim, function in enumerate([F.deconv1d, F.deconv2d, F.deconv3d], start=1)
    ],
    Case(
        F.conv2d_simple,
        images_and_kernels(2, groups=(1,)),
        reference=convolution,
        options=window_geometries,
    ),
    Case(  # each derivative that the second one does not reach yet
        lambda x, W: F.sum(F.tanh(F.conv2d(x, W, pad=1)) ** 2),
        images_and_kernels(2, groups=(1,)).map(lambda t: t[:2]),
        name="conv2d",
        order=3,
    ),
]

X, W = np.ones((2, 4, 5, 6)), np.ones((6, 4, 3, 2))
V = np.ones((4, 6, 3, 2))
ERRORS = [
    (
        lambda: F.conv2d(X[0], W),
        ValueError,
        r"conv2d: expected x \(N, C, IH, IW\) .*got x of shape \(4, 5, 6\), W of",
    ),
    (
        lambda: F.conv2d(X, W[0]),
        ValueError,
        r"conv2d: .*W \(O, C/groups, KH, KW\).*W of shape \(4, 3, 2\) and groups=1",
    ),
    (lambda: F.conv2d(X[:, :3], W), ValueError, r"conv2d: .*x of shape \(2, 3, 5, 6\)"),
    (lambda: F.conv2d(X, W, groups=2), ValueError, "conv2d: .*groups=2"),
    (lambda: F.conv2d(X, W[:5, :2], groups=2), ValueError, "conv2d: .*O divisible"),
    (lambda: F.conv2d(X, W, groups=0), ValueError, "conv2d: .*groups of at least 1"),
    (lambda: F.conv2d(X, W, groups=1.0), TypeError, "conv2d: .*groups, got 1.0"),
    (
        lambda: F.conv2d(X, W, np.ones(4)),
        ValueError,
        r"conv2d: expected b of shape \(6,\), .* got \(4,\)",
    ),
    (lambda: F.conv2d(X, W, np.ones((6, 1))), ValueError, r"conv2d: .*got \(6, 1\)"),
    (lambda: F.conv2d(X, W, stride=0), ValueError, "conv2d: .*stride of at least 1"),
    (lambda: F.conv2d(X, W, stride=1.5), TypeError, "conv2d: .*as stride, got 1.5"),
    (
        lambda: F.conv2d(X, W, stride=(1, 2, 3)),
        ValueError,
        r"conv2d: .*2 integers as stride, got \(1, 2, 3\)",
    ),
    (lambda: F.conv2d(X, W, dilation=0), ValueError, "conv2d: .*dilation of at least"),
    (lambda: F.conv2d(X, W, pad=-1), ValueError, "conv2d: .*pad of at least 0, got -1"),
    (lambda: F.conv2d(X, W, pad=0.5), TypeError, "conv2d: .*'same' as pad, got 0.5"),
    (lambda: F.conv2d(X, W, pad="full"), TypeError, "conv2d: .*pad, got 'full'"),
    (
        lambda: F.conv2d(X, W, pad=((1, 2), (1, 2, 3))),
        ValueError,
        r"conv2d: .*pad, got \(\(1, 2\), \(1, 2, 3\)\)",
    ),
    (lambda: F.conv2d(X, W, pad=(1, 2, 3)), ValueError, r"conv2d: .*got \(1, 2, 3\)"),
    (
        lambda: F.conv2d(X[:, :, :2], W),
        ValueError,
        r"conv2d: .*size \(3, 2\) to fit into the image, got an image of size \(2, 6\)",
    ),
    (
        lambda: F.conv2d(X, W, pad=(1, 0), dilation=4),
        ValueError,
        r"conv2d: .*\(3, 2\), \(9, 5\) with its dilation.*\(5, 6\), \(7, 6\) with",
    ),
    (lambda: F.conv1d(X, W), ValueError, r"conv1d: expected x \(N, C, I\) and W"),
    (lambda: F.conv3d(X, W), ValueError, r"conv3d: expected x \(N, C, ID, IH, IW\)"),
    (
        lambda: F.deconv2d(X[0], V),
        ValueError,
        r"deconv2d: expected x \(N, C, IH, IW\) and W \(C, O/groups, KH, KW\)",
    ),
    (lambda: F.deconv2d(X, W), ValueError, r"deconv2d: .*W of shape \(6, 4, 3, 2\)"),
    (lambda: F.deconv2d(X, V, groups=3), ValueError, "deconv2d: .*C divisible by gr"),
    (lambda: F.deconv2d(X, V, np.ones(4)), ValueError, r"deconv2d: .*b of shape \(6,"),
    (lambda: F.deconv2d(X, V, pad=4), ValueError, "deconv2d: .*at least one element"),
    (
        lambda: F.deconv2d(X, V, stride=2, outsize=(13, 12)),
        ValueError,
        r"deconv2d: .*outsize from \(11, 12\) to \(12, 13\).*got \(13, 12\)",
    ),
    (lambda: F.deconv2d(X, V, outsize=6.0), TypeError, "deconv2d: .*outsize, got 6.0"),
    (lambda: F.deconv1d(X, V), ValueError, "deconv1d: expected x .*I.* and W"),
    (lambda: F.deconv3d(X, V), ValueError, "deconv3d: .*ID, IH, IW.*KD, KH, KW"),
    (lambda: F.conv2d_simple(X[0], W), ValueError, "conv2d_simple: expected x"),
    (
        lambda: F.conv2d_simple(X, W, np.ones(1)),
        ValueError,
        r"conv2d_simple: expected b of shape \(6,\), .* got \(1,\)",
    ),
]


def random(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_scipy_says_the_same(ndim):
    x, W = random(1, 1, *(6, 5, 4)[:ndim]), random(1, 1, *(3, 2, 2)[:ndim])
    conv = (F.conv1d, F.conv2d, F.conv3d)[ndim - 1]
    deconv = (F.deconv1d, F.deconv2d, F.deconv3d)[ndim - 1]
    expected = signal.correlate(x[0, 0], W[0, 0], mode="valid")
    np.testing.assert_allclose(conv(x, W).data[0, 0], expected, atol=1e-13)
    expected = signal.convolve(x[0, 0], W[0, 0], mode="full")
    np.testing.assert_allclose(deconv(x, W).data[0, 0], expected, atol=1e-13)


def test_a_known_convolution():
    x = np.arange(9.0).reshape(1, 1, 3, 3)
    W = np.array([[[[1.0, 0.0], [0.0, -1.0]]]])
    y = F.conv2d(x, W, np.array([10.0]))
    np.testing.assert_array_equal(y.data, [[[[6.0, 6.0], [6.0, 6.0]]]])


def test_deconv2d_is_the_gradient_of_conv2d():
    x, W = Variable(random(2, 4, 7, 6)), random(6, 2, 3, 2)
    y = F.conv2d(x, W, None, (3, 2), ((1, 0), (2, 1)), (2, 1), 2)
    gy = random(*y.shape)
    y.backward(grad=gy)
    back = F.deconv2d(gy, W, None, (3, 2), ((1, 0), (2, 1)), (7, 6), (2, 1), 2)
    np.testing.assert_allclose(back.data, x.grad.data, atol=1e-13)


@pytest.mark.parametrize(("stride", "size"), [(1, 7), (2, 4), (3, 3), (9, 1)])
def test_same_gives_the_size_divided_by_the_stride(stride, size):
    x, W = random(1, 1, 7, 7), random(1, 1, 4, 2)
    y = F.conv2d(x, W, stride=stride, pad="same", dilation=2)
    assert y.shape == (1, 1, size, size)
    z = F.deconv2d(y, W, stride=stride, pad="same", dilation=2)
    assert z.shape == (1, 1, size * stride, size * stride)


def test_depthwise_convolution_keeps_channels_apart():
    x, W = random(2, 3, 5, 5), random(3, 1, 3, 3)
    y = F.conv2d(x, W, pad=1, groups=3)
    for c in range(3):
        one = F.conv2d(x[:, c : c + 1], W[c : c + 1], pad=1)
        np.testing.assert_allclose(y.data[:, c], one.data[:, 0], atol=1e-13)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_kernel_of_one_element(stride):
    x, W = Variable(random(2, 3, 5, 4)), Variable(random(6, 3, 1, 1))
    y = F.conv2d(x, W, stride=stride)
    expected = np.einsum("nchw,oc->nohw", x.data, W.data[:, :, 0, 0])
    np.testing.assert_allclose(y.data, expected[..., ::stride, ::stride], atol=1e-13)
    check_gradients(
        lambda x, W: F.conv2d(x, W, stride=stride), x.data, W.data
    ).assert_ok()


@pytest.mark.parametrize("f", [F.conv2d, F.deconv2d])
def test_no_examples_and_no_channels(f):
    x = Variable(np.ones((0, 4, 5, 6)))
    W, b = Variable(np.ones((4, 4, 3, 2))), Variable(np.ones(4))
    y = f(x, W, b)
    assert y.shape[:2] == (0, 4)
    y.backward()
    assert x.grad.shape == x.shape
    assert not W.grad.data.any() and not b.grad.data.any()
    y = F.conv2d(np.ones((2, 0, 5, 6)), np.ones((4, 0, 3, 2)), b)
    np.testing.assert_array_equal(y.data, np.ones((2, 4, 3, 5)))
    assert F.deconv2d(np.ones((2, 4, 5, 6)), np.ones((4, 0, 3, 2))).shape[1] == 0
    assert F.conv2d(np.ones((2, 4, 5, 6)), np.ones((0, 4, 1, 1))).shape == (2, 0, 5, 6)


def test_gradients_that_nobody_asked_for_are_not_computed(monkeypatch):
    def never(*args):
        raise AssertionError

    module = "dezero.functions.convolution."
    x, W = random(1, 2, 4, 4), random(3, 2, 3, 3)
    monkeypatch.setattr(module + "correlate_transposed", never)
    F.conv2d(x, Variable(W), Variable(np.ones(3))).backward()  # the first layer
    monkeypatch.undo()
    monkeypatch.setattr(module + "correlate_kernel", never)
    F.conv2d(Variable(x), W).backward()
    F.deconv2d(Variable(x), random(2, 3, 3, 3)).backward()


def test_half_precision_does_not_overflow_on_the_way():
    x = np.full((1, 2, 1, 1), 60000, np.float16)
    W = np.array([1, 1, -1, -1], np.float16)[None, :, None, None]
    y = F.conv2d(np.tile(x, (1, 2, 1, 1)), W)
    assert y.dtype == np.float16 and y.data.item() == 0


def test_dtypes_that_differ_give_the_wider_one():
    x, W = random(1, 2, 4, 4), Variable(random(3, 2, 3, 3).astype(np.float32))
    b = Variable(np.ones(3))
    assert F.conv2d(x.astype(np.float32), W).dtype == np.float32
    assert F.conv2d(x, W).dtype == np.float64
    y = F.conv2d(x.astype(np.float32), W, b)  # a wide bias widens, as NumPy's + does
    assert y.dtype == np.float64
    y.backward()
    assert (W.grad.dtype, b.grad.dtype) == (np.float32, np.float64)
    pixels = (x * 100).astype(np.uint8)
    assert F.conv2d(pixels, W).dtype == np.float32
    ints = F.conv2d(np.ones((1, 1, 2, 2), int), np.ones((1, 1, 2, 2), int))
    assert ints.dtype.kind == "i" and ints.data.item() == 4


@pytest.mark.parametrize("cls", ["Conv2d", "Deconv2d"])
def test_classes_can_be_called(cls):
    x, W = random(2, 3, 5, 5), random(3, 3, 3, 3)
    function = getattr(F, cls.lower())
    y = getattr(F, cls)(2, 1)(x, W, np.ones(3))
    expected = function(x, W, np.ones(3), 2, 1)
    np.testing.assert_array_equal(y.data, expected.data)


def test_a_seed_of_repeated_ones_is_as_good_as_any():
    x, W = Variable(random(2, 3, 5, 5)), Variable(random(4, 3, 3, 3))
    F.sum(F.conv2d(x, W)).backward()
    gx, gW = x.grad.data, W.grad.data
    x.cleargrad()
    W.cleargrad()
    F.conv2d(x, W).backward()
    np.testing.assert_allclose(gx, x.grad.data, atol=1e-12)
    np.testing.assert_allclose(gW, W.grad.data, atol=1e-12)


def test_arguments_may_be_lists_and_numpy_integers():
    x, W = random(1, 2, 6, 6), random(3, 2, 3, 3)
    expected = F.conv2d(x, W, None, (2, 2), ((1, 1), (0, 2)))
    given = F.conv2d(x, W, None, np.int64(2), [[1, 1], np.array([0, 2])])
    np.testing.assert_array_equal(given.data, expected.data)
