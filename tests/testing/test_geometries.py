"""Do the geometries of convolutions fit, and reach every form?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dezero.functions as F
from dezero.testing import (
    conv_geometries,
    deconv_geometries,
    images_and_kernels,
    window_geometries,
)

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
DECONV = {1: F.deconv1d, 2: F.deconv2d, 3: F.deconv3d}


def drawn(geometries, ndim, n=100, **kwargs):
    """Pairs of arrays and options, the same in every run."""
    found = []

    @settings(max_examples=n, database=None, derandomize=True)
    @given(
        images_and_kernels(ndim, **kwargs).flatmap(
            lambda xs: st.tuples(st.just(xs), geometries(*xs))
        )
    )
    def collect(example):
        found.append(example)

    collect()
    return found


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_geometries_leave_an_output(ndim):
    for xs, options in drawn(conv_geometries, ndim):
        assert CONV[ndim](*xs, **options).size
    for xs, options in drawn(window_geometries, ndim, groups=(1,)):
        assert CONV[ndim](*xs, **options).size
    for xs, options in drawn(deconv_geometries, ndim, transposed=True):
        assert DECONV[ndim](*xs, **options).size


def test_all_forms_come_up():
    found = [options for _, options in drawn(conv_geometries, 2, 200)]
    assert {type(o["stride"]) for o in found} == {int, tuple}
    assert {type(o["pad"]) for o in found} == {int, tuple, str}
    assert {o["groups"] for o in found} == {1, 2, 3}
    assert {o["dilation"] for o in found} == {1, 2, (2, 1)}
    transposed = [o for _, o in drawn(deconv_geometries, 2, 200, transposed=True)]
    assert {type(o.get("outsize")) for o in transposed} == {type(None), tuple}
    assert {o["groups"] for o in transposed} == {1, 2, 3}


def test_images_and_kernels_fit_each_other():
    for (x, W, b), _ in drawn(conv_geometries, 2):
        assert (x.ndim, W.ndim, b.ndim) == (4, 4, 1)
        assert len(W) == len(b)
        assert x.shape[1] % W.shape[1] == 0
        assert all(a.dtype == np.float64 for a in (x, W, b))
