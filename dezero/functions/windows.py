"""How a window slides over the last axes of an array: sizes, places and taps.

Convolution, pooling and im2col share this arithmetic. A window stands at *places*; each
of its elements, a *tap*, meets at all places together a strided slice of the image. So
a loop over the taps, with slices that leave the padding out, does for every number of
axes what a loop over the places would do.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


class Tap(NamedTuple):
    """One element of the window, and what it meets."""

    number: int  # in C order
    image: Any  # index of the elements of the image (..., *sizes) that it meets
    places: Any  # index of the places (..., *places) where it meets them
    column: Any  # the same places in columns (N, C, *kernel, *places)


@dataclass(frozen=True)
class Window:
    """A window and the image that it slides over. Sizes do not count batch and channel.

    Attributes:
        sizes: Of the image.
        kernel: Of the window.
        stride: Steps from place to place.
        pads: Elements before and after the image, per axis.
        dilation: Steps from tap to tap.
        places: How many places the window has along each axis.
    """

    sizes: Sizes
    kernel: Sizes
    stride: Sizes
    pads: Pads
    dilation: Sizes
    places: Sizes

    @property
    def is_pointwise(self) -> bool:
        """Does the window have one tap, and no padding?"""
        return math.prod(self.kernel) == 1 and not any([b or a for b, a in self.pads])

    @property
    def is_apart(self) -> bool:
        """Is every element of the image met by one tap at most?"""
        reach = zip(self.kernel, self.dilation, self.stride, strict=True)
        return all([d * (k - 1) < s for k, d, s in reach])

    @functools.cached_property
    def steps(self) -> list[list[tuple[slice, slice]]]:
        """Per axis and tap along it: the slice of the image, and that of the places.

        Both are empty where the tap meets nothing but padding.
        """
        return [
            [self._step(axis, k) for k in range(kernel)]
            for axis, kernel in enumerate(self.kernel)
        ]

    def _step(self, axis: int, k: int) -> tuple[slice, slice]:
        size, stride = self.sizes[axis], self.stride[axis]
        offset = k * self.dilation[axis] - self.pads[axis][0]  # met at the first place
        first = max(0, -(offset // stride))  # the first place that is inside the image
        end = min(self.places[axis], (size - 1 - offset) // stride + 1)
        if end <= first:
            return slice(0, 0), slice(0, 0)
        start = first * stride + offset
        stop = start + (end - first - 1) * stride + 1
        return slice(start, stop, stride), slice(first, end)

    @functools.cached_property
    def taps(self) -> list[Tap]:
        """The taps that meet the image anywhere."""
        taps = []
        everything = slice(None)
        for number in range(math.prod(self.kernel)):
            index = _unravel(number, self.kernel)
            steps = [self.steps[axis][k] for axis, k in enumerate(index)]
            image = tuple([step[0] for step in steps])
            places = tuple([step[1] for step in steps])
            if all([place.stop for place in places]):
                column = (everything, everything, *index, *places)
                taps.append(Tap(number, (..., *image), (..., *places), column))
        return taps

    def meets(self, axis: int, inside: bool = True) -> list[int]:
        """At each place along ``axis``, how many taps meet the image.

        Args:
            axis: Counted among the axes of the window.
            inside: Whether only the image counts, or its padding as well (which matters
                where a last window reaches out of both).
        """
        before, after = self.pads[axis]
        low, high = (0, self.sizes[axis])
        if not inside:
            low, high = low - before, high + after
        starts = [p * self.stride[axis] - before for p in range(self.places[axis])]
        steps = [k * self.dilation[axis] for k in range(self.kernel[axis])]
        return [sum([low <= start + k < high for k in steps]) for start in starts]


def _unravel(number: int, shape: Sizes) -> Sizes:
    index = []
    for n in reversed(shape):
        number, i = divmod(number, n)
        index.append(i)
    return tuple(reversed(index))


@functools.lru_cache(maxsize=512)
def window_on(
    sizes: Sizes,
    kernel: Sizes,
    stride: Sizes,
    pads: Pads | None,
    dilation: Sizes,
    ceil_mode: bool,
) -> Window:
    """The window on an image of these sizes; with ``pads`` None, padding is "same".

    Cached, since a network asks for the same few windows at every step.
    """
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if pads is None:  # "same"
        rests = [(-(-n // s) - 1) * s - n for n, s in zip(sizes, stride, strict=True)]
        pads = tuple([halves(rest + r) for rest, r in zip(rests, reach, strict=True)])
    places = []
    for n, r, s, (before, after) in zip(sizes, reach, stride, pads, strict=True):
        room = n + before + after - r
        count = room // s + 1
        if ceil_mode and room % s and count * s < n + before:
            count += 1
        places.append(count)
    return Window(sizes, kernel, stride, pads, dilation, tuple(places))


def halves(total: int) -> tuple[int, int]:
    """Padding split evenly, the odd one after; none where ``total`` is negative."""
    total = max(total, 0)
    return total // 2, total - total // 2


# =============================================================================
# Output sizes
# =============================================================================


def get_conv_outsize(
    input_size: int, kernel_size: int, stride: int, pad: int, dilation: int = 1
) -> int:
    """Places of a window along one axis: ``(size + 2*pad - k) // stride + 1``.

    Args:
        input_size: Size of the image.
        kernel_size: Size of the window; with ``dilation`` it reaches over
            ``k = dilation * (kernel_size - 1) + 1`` elements.
        stride: Step from place to place.
        pad: Elements on either side of the image.
        dilation: Step from tap to tap.
    """
    reach = dilation * (kernel_size - 1) + 1
    return (input_size + 2 * pad - reach) // stride + 1


def get_deconv_outsize(
    size: int, kernel_size: int, stride: int, pad: int, dilation: int = 1
) -> int:
    """The smallest image with ``size`` places: ``stride*(size - 1) + k - 2*pad``.

    Args:
        size: Places of the window.
        kernel_size: As in :func:`get_conv_outsize`.
        stride: Likewise.
        pad: Likewise.
        dilation: Likewise.
    """
    reach = dilation * (kernel_size - 1) + 1
    return stride * (size - 1) + reach - 2 * pad
