"""Where windows stand, and the arguments that describe them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dezero.functions.window_arguments import make_transposed_window, make_window
from dezero.functions.windows import get_conv_outsize, get_deconv_outsize


@st.composite
def windows(draw):
    """A window along two axes, and by a loop what each tap meets at each place."""
    axes = []
    for _ in range(2):
        size, kernel, stride, dilation = [draw(st.integers(1, 4)) for _ in range(4)]
        before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        after += max(0, (kernel - 1) * dilation + 1 - size - before - after)
        axes.append((size, kernel, stride, (before, after), dilation))
    ceil_mode = draw(st.booleans())
    window = make_window("f", *zip(*axes, strict=True), ceil_mode)
    return window


@given(window=windows())
def test_taps_meet_what_a_loop_over_the_places_meets(window):
    image = np.arange(np.prod(window.sizes)).reshape(window.sizes)
    met = np.full((np.prod(window.kernel), *window.places), -1)
    for tap in window.taps:
        met[tap.number][tap.places] = image[tap.image]
    for number, k in enumerate(np.ndindex(window.kernel)):
        for p in np.ndindex(window.places):
            place = zip(p, window.stride, k, window.dilation, window.pads, strict=True)
            i = [a * s + b * d - before for a, s, b, d, (before, _) in place]
            inside = all(
                [0 <= n < size for n, size in zip(i, window.sizes, strict=True)]
            )
            assert met[(number, *p)] == (image[tuple(i)] if inside else -1)


@given(window=windows())
def test_a_tap_that_meets_nothing_is_left_out(window):
    for tap in window.taps:
        assert np.ones(window.sizes)[tap.image].size > 0


@given(window=windows())
def test_apart_means_that_no_element_is_met_twice(window):
    if window.is_apart:
        count = np.zeros(window.sizes, int)
        for tap in window.taps:
            count[tap.image] += 1
        assert count.max() <= 1


@given(window=windows())
def test_meets_counts_taps(window):
    for axis in range(2):
        size, (before, after) = window.sizes[axis], window.pads[axis]
        inside, padded = [], []
        for p in range(window.places[axis]):
            elements = [
                p * window.stride[axis] + k * window.dilation[axis] - before
                for k in range(window.kernel[axis])
            ]
            inside.append(sum([0 <= i < size for i in elements]))
            padded.append(sum([-before <= i < size + after for i in elements]))
        assert window.meets(axis) == inside
        assert window.meets(axis, inside=False) == padded


@given(window=windows())
def test_a_transposed_window_is_the_same_seen_from_the_places(window):
    again = make_window(
        "f", window.sizes, window.kernel, window.stride, window.pads, window.dilation
    )
    transposed = make_transposed_window(
        "f",
        again.places,
        window.kernel,
        window.stride,
        window.pads,
        window.dilation,
        window.sizes,
    )
    assert transposed == again


def test_sizes():
    for size, kernel, stride, pad in itertools.product(
        [1, 4, 7], [1, 2, 3], [1, 2, 3], [1, 2]
    ):
        places = get_conv_outsize(size, kernel, stride, pad)
        assert places == (size + 2 * pad - kernel) // stride + 1
        assert make_window("f", (size,), kernel, stride, pad).places == (places,)
        smallest = get_deconv_outsize(places, kernel, stride, pad)
        assert smallest == stride * (places - 1) + kernel - 2 * pad
        assert smallest <= size < smallest + stride
    assert get_conv_outsize(7, 3, 1, 0, 2) == 3
    assert get_deconv_outsize(3, 3, 1, 0, 2) == 7


@pytest.mark.parametrize(
    ("size", "pad", "places"), [(5, 0, 2), (6, 0, 3), (5, 1, 3), (4, 1, 3), (3, 1, 2)]
)
def test_with_ceil_mode_a_last_window_starts_inside(size, pad, places):
    assert make_window("f", (size,), 2, 2, pad).places == ((size + 2 * pad) // 2,)
    assert make_window("f", (size,), 2, 2, pad, ceil_mode=True).places == (
        -(-(size + 2 * pad) // 2) - (pad > 0 and size % 2),
    )


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "places"), [(1, 2, 2, 1), (2, 3, 2, 1), (3, 5, 4, 1)]
)
def test_with_ceil_mode_the_last_window_may_be_the_first(size, kernel, stride, places):
    window = make_window("f", (size,), kernel, stride, ceil_mode=True)
    assert window.places == (places,)
    assert window.meets(0) == [size]
    with pytest.raises(ValueError, match="f: expected a window .* to fit"):
        make_window("f", (size,), size + stride, stride, ceil_mode=True)
    with pytest.raises(ValueError, match="f: expected a window .* to fit"):
        make_window("f", (size,), kernel, stride)


def test_windows_are_made_once():
    assert make_window("f", (5, 5), 3) is make_window("g", (5, 5), [3, 3], (1, 1))
