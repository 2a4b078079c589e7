"""Normalization layers. What they compute is tested with the functions."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Variable, test_mode


def numbers(*shape, dtype=np.float32):
    return (3 + 2 * np.random.randn(*shape)).astype(dtype)


def test_running_statistics():
    bn, x = L.BatchNorm(decay=0.8), numbers(5, 3)
    y = bn(x)
    np.testing.assert_allclose(y.data.mean(axis=0), np.zeros(3), atol=1e-5)
    np.testing.assert_allclose(bn.avg_mean.data, 0.2 * x.mean(axis=0), rtol=1e-5)
    want = 0.8 + 0.2 * x.var(axis=0, ddof=1)
    np.testing.assert_allclose(bn.avg_var.data, want, rtol=1e-5)
    with test_mode():
        mean, var = bn.avg_mean.data.copy(), bn.avg_var.data.copy()
        z = bn(x)
        np.testing.assert_allclose(
            z.data, (x - mean) / np.sqrt(var + bn.eps), rtol=1e-4, atol=1e-5
        )
    np.testing.assert_array_equal(bn.avg_mean.data, mean)


def test_statistics_are_saved_and_never_trained(tmp_path):
    bn = L.BatchNorm()
    assert [name for name, _ in bn.named_params()] == [
        "avg_mean",
        "avg_var",
        "gamma",
        "beta",
    ]
    bn(Variable(numbers(4, 3))).sum().backward()
    assert bn.avg_mean.grad is None
    assert bn.avg_var.grad is None
    bn.save_weights(tmp_path / "w")
    again = L.BatchNorm()
    again.load_weights(tmp_path / "w")
    np.testing.assert_array_equal(again.avg_var.data, bn.avg_var.data)
    assert not again.avg_var.requires_grad


def test_dtypes_of_the_first_input():
    bn = L.BatchNorm()
    bn(numbers(4, 3, dtype=np.float64))
    assert {p.dtype for p in bn.params()} == {np.dtype(np.float64)}
    bn = L.BatchNorm()
    bn(numbers(4, 3, dtype=np.float16))
    assert bn.gamma.dtype == np.float16
    # A hundredth of a small change is no change in half precision.
    assert bn.avg_mean.dtype == bn.avg_var.dtype == np.float32
    assert L.LayerNorm(dtype=np.float64, in_size=3).gamma.dtype == np.float64
    bn = L.BatchNorm()
    bn(np.arange(6).reshape(3, 2))
    assert bn.gamma.dtype == np.float32


@pytest.mark.parametrize(
    ("layer", "function", "shape"),
    [
        (L.BatchNorm(eps=0.1), F.batch_norm, (3, 4, 2, 5)),
        (L.LayerNorm(eps=0.1), F.layer_norm, (2, 3, 4)),
        (L.RMSNorm(eps=0.1), F.rms_norm, (2, 3, 4)),
        (L.GroupNorm(2, eps=0.1), F.group_norm, (3, 4, 5)),
        (L.InstanceNorm(eps=0.1), F.instance_norm, (3, 4, 5)),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_calls_its_function(layer, function, shape):
    x = numbers(*shape)
    layer(x)
    for p in layer.params():
        if p.requires_grad:
            p.data = numbers(4)
    arguments = [layer.gamma]
    if function is not F.rms_norm:
        arguments.append(layer.beta)
    if function is F.group_norm:
        arguments.insert(0, 2)
    if function is F.batch_norm:
        arguments += [np.zeros(4), np.ones(4)]
    want = function(x, *arguments, eps=0.1)
    np.testing.assert_allclose(layer(x).data, want.data, rtol=1e-6)


def test_repr():
    assert repr(L.BatchNorm()) == "BatchNorm()"
    bn = L.BatchNorm(0.5, 1e-3, np.float64, 3)
    assert repr(bn) == "BatchNorm(decay=0.5, eps=0.001, dtype=float64, in_channels=3)"
    layer = L.LayerNorm()
    layer(numbers(2, 5))
    assert repr(layer) == "LayerNorm(in_size=5)"
    assert repr(L.GroupNorm(2, in_channels=4)) == "GroupNorm(2, in_channels=4)"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: L.BatchNorm(in_channels=3)(numbers(2, 4)),
            ValueError,
            r"BatchNorm\(in_channels=3\): expected x of size 3 along axis 1, as "
            r"avg_mean has, got shape \(2, 4\)",
        ),
        (
            lambda: L.BatchNorm()(numbers(4)),
            ValueError,
            r"BatchNorm\(\): expected x with at least 2 axes, got shape \(4,\)",
        ),
        (
            lambda: L.LayerNorm()(np.array(1.0)),
            ValueError,
            r"LayerNorm\(\): expected x with an axis, got shape \(\)",
        ),
        (
            lambda: L.LayerNorm(in_size=3)(numbers(3, 2)),
            ValueError,
            r"expected x of size 3 along axis -1, as gamma has, got shape \(3, 2\)",
        ),
        (
            lambda: L.BatchNorm()(numbers(3, 0)),
            ValueError,
            r"expected x with at least one element along axis 1, got shape \(3, 0\)",
        ),
        (
            lambda: L.GroupNorm(3)(numbers(2, 4, 5)),
            ValueError,
            "GroupNorm: expected a number of channels divisible by num_groups=3, got 4",
        ),
        (
            lambda: L.GroupNorm(3, in_channels=4),
            ValueError,
            "GroupNorm: expected a number of channels divisible by num_groups=3, got 4",
        ),
        (
            lambda: L.GroupNorm(0),
            ValueError,
            "GroupNorm: expected num_groups to be at least 1, got 0",
        ),
        (lambda: L.BatchNorm(1.5), ValueError, "BatchNorm: expected decay <= 1, got"),
        (lambda: L.BatchNorm(-1), ValueError, "BatchNorm: expected decay >= 0, got"),
        (
            lambda: L.BatchNorm("0.9"),
            TypeError,
            "BatchNorm: expected a number as decay, got str",
        ),
        (lambda: L.RMSNorm(0), ValueError, "RMSNorm: expected eps > 0, got 0"),
        (
            lambda: L.InstanceNorm(dtype=int),
            TypeError,
            "InstanceNorm: expected a floating dtype, got int64",
        ),
        (
            lambda: L.LayerNorm(in_size=0),
            ValueError,
            "LayerNorm: expected in_size to be at least 1, got 0",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
