"""What a window does as it slides over an image: one launch where it takes one a tap.

Images (N, C, *sizes) and places (N, C, *places) have up to three axes after batch and
channel; :func:`numbers` says how a window lies on three. The first four kernels have a
thread for each place, which goes through the taps; the other two one for each element
of the image, which goes through the taps that meet it and adds up: no two threads write
to one place, and the sum has the same order each time.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero.kernels.fusing import elementwise

AXES = 3
# Sizes, kernel, stride, pad before, dilation and places, along depth, height, width.
NAMES = [kind + axis for kind in "IKSPDO" for axis in "DHW"]
NUMBERS = ", ".join([f"int32 {name}" for name in NAMES])

PLACE = """
    ptrdiff_t r = i;  // (r, od, oh, ow), r counts images and channels
    const int ow = r % OW; r /= OW;
    const int oh = r % OH; r /= OH;
    const int od = r % OD; r /= OD;
    const ptrdiff_t P = ptrdiff_t(OD) * OH * OW;
    (void)P;  // not all need it
"""
INSIDE = """
    for (int kd = 0; kd < KD; ++kd)
    for (int kh = 0; kh < KH; ++kh)
    for (int kw = 0; kw < KW; ++kw) {
        const int d = od * SD + kd * DD - PD, h = oh * SH + kh * DH - PH;
        const int w = ow * SW + kw * DW - PW, tap = (kd * KH + kh) * KW + kw;
        const bool inside = d >= 0 && d < ID && h >= 0 && h < IH && w >= 0 && w < IW;
        const ptrdiff_t at = ((r * ID + d) * IH + h) * IW + w;
        (void)tap;  // not all need it
"""
ELEMENT = """
    ptrdiff_t r = i;
    const int w = r % IW; r /= IW;
    const int h = r % IH; r /= IH;
    const int d = r % ID; r /= ID;
    const ptrdiff_t P = ptrdiff_t(OD) * OH * OW;
"""
MEETS = """
    for (int kd = 0; kd < KD; ++kd) {
        const int od = d + PD - kd * DD;
        if (od < 0 || od % SD || od / SD >= OD) continue;
        for (int kh = 0; kh < KH; ++kh) {
            const int oh = h + PH - kh * DH;
            if (oh < 0 || oh % SH || oh / SH >= OH) continue;
            for (int kw = 0; kw < KW; ++kw) {
                const int ow = w + PW - kw * DW;
                if (ow < 0 || ow % SW || ow / SW >= OW) continue;
                const int tap = (kd * KH + kh) * KW + kw;
                const ptrdiff_t place = (od / SD * OH + oh / SH) * OW + ow / SW;
                (void)tap;
"""


@functools.lru_cache(maxsize=512)
def numbers(window: Any) -> tuple[int, ...]:
    """The 18 numbers of a window on up to three axes; the missing ones have size 1."""
    before = [pad for pad, _ in window.pads]
    kinds = [window.sizes, window.kernel, window.stride, before, window.dilation]
    found: list[int] = []
    for kind, otherwise in zip(
        [*kinds, window.places], [1, 1, 1, 0, 1, 1], strict=True
    ):
        found += [otherwise] * (AXES - len(kind)) + list(kind)
    return tuple(found)


def suits(x: Any, window: Any) -> bool:
    """Is the array on a GPU, and has its window no more axes than a kernel knows?"""
    return not isinstance(x, np.ndarray) and len(window.sizes) <= AXES


def met(size: int, numbers: Sequence[Any]) -> np.ndarray:
    """Which of ``size`` elements each tap meets at each place, -1 in the padding.

    (r, taps, places).
    """
    I, K, S, P, D, O = [[int(n) for n in numbers[k : k + 3]] for k in range(0, 18, 3)]
    index = np.arange(size).reshape(-1, *I)
    for axis in range(AXES):
        k, o = np.ix_(range(K[axis]), range(O[axis]))
        at = o * S[axis] + k * D[axis] - P[axis]  # (K, O)
        index = np.take(index, at.clip(0, I[axis] - 1), axis=1 + 2 * axis)
        shape = [1] * index.ndim
        shape[1 + 2 * axis : 3 + 2 * axis] = at.shape
        index = np.where(((at < 0) | (at >= I[axis])).reshape(shape), -1, index)
    return index.transpose(0, 1, 3, 5, 2, 4, 6).reshape(len(index), np.prod(K), -1)


# Of columns (N/n, C, *kernel, n, *places), n images side by side: where the first tap
# of image and channel r lies, and how far the next one is.
COLUMN = """
    const ptrdiff_t step = images * P, image = r / C, K = ptrdiff_t(KD) * KH * KW;
    const ptrdiff_t first =
        (image / images * C + r % C) * K * step + image % images * P;
"""


def by_image(column, C, images, index):
    """Columns with the axes of ``index``, (N * C, taps, places)."""
    K, P = index.shape[1:]
    parts = column.reshape(-1, C, K, images, P)
    return parts.transpose(0, 3, 1, 2, 4).reshape(index.shape)


@elementwise(
    f"raw X x, {NUMBERS}, int64 C, int64 images",
    "raw T column",
    f"""{PLACE}{COLUMN}
    const ptrdiff_t to = first + (od * OH + oh) * OW + ow;
    {INSIDE}
        column[to + tap * step] = inside ? T(x[at]) : T(0);
    }}
    """,
)
def fill_columns(x, *numbers_and_column):
    """Each tap of the columns gets what it meets, or 0.

    The columns are (N, C, *kernel, *places), or (N/n, C, *kernel, n, *places) with n
    ``images`` side by side. To be called with the ``size`` N * C * P.
    """
    *numbers, C, images, column = numbers_and_column
    if not x.size:  # all is padding
        column[...] = 0
        return
    index = met(x.size, numbers)
    found = np.where(index < 0, 0, x.ravel()[index])
    N, (K, P) = len(index) // C, index.shape[1:]
    parts = found.reshape(N // images, images, C, K, P).transpose(0, 2, 3, 1, 4)
    column[...] = parts.reshape(column.shape)


@elementwise(
    f"raw T x, {NUMBERS}",
    "T y",
    f"""{PLACE}
    bool none = true;
    {INSIDE}
        if (!inside) continue;
        const T v = x[at];
        if (none || v > y || v != v) y = v;  // NaN stays
        none = false;
    }}
    """,
)
def max_pool(x, *numbers_and_y):
    """The maximum of each window, which meets one element at least."""
    *numbers, y = numbers_and_y
    index = met(x.size, numbers)
    # In place of what is not there, another one that is.
    index = np.where(index < 0, index.max(axis=1, keepdims=True), index)
    y[...] = x.ravel()[index].max(axis=1).reshape(y.shape)


@elementwise(
    f"raw T x, T y, {NUMBERS}",
    "V winner",
    f"""{PLACE}
    winner = 0;
    bool none = true;
    {INSIDE}
        if (!none || !inside) continue;
        if (y == x[at] || y != y) winner = tap, none = false;
    }}
    """,
)
def first_maxima(x, y, *numbers_and_winner):
    """The first tap that meets the maximum y; of NaN, the first inside the image."""
    *numbers, winner = numbers_and_winner
    index = met(x.size, numbers)
    y = y.reshape(len(index), 1, -1)
    won = (index >= 0) & ((x.ravel()[index] == y) | (y != y))
    winner[...] = won.argmax(axis=1).reshape(winner.shape)


@elementwise(
    f"raw T x, V winner, {NUMBERS}",
    "T y",
    f"""{PLACE}
    const int tap = winner, kw = tap % KW, kh = tap / KW % KH, kd = tap / KW / KH;
    const int d = od * SD + kd * DD - PD, h = oh * SH + kh * DH - PH;
    y = x[((r * ID + d) * IH + h) * IW + (ow * SW + kw * DW - PW)];
    """,
)
def pick(x, winner, *numbers_and_y):
    """What the winning tap meets at each place."""
    *numbers, y = numbers_and_y
    index = met(x.size, numbers)
    taps = winner.reshape(len(index), 1, -1).astype(int)
    y[...] = x.ravel()[np.take_along_axis(index, taps, axis=1)].reshape(y.shape)


@elementwise(
    f"raw G column, {NUMBERS}, int64 C, int64 images, bool fresh",
    "T x",
    f"""
    typedef Wide<T>::type W;
    W sum = fresh ? W(0) : W(x);{ELEMENT}{COLUMN}{MEETS}
                sum += W(column[first + tap * step + place]);
    }}}}}}
    x = sum;
    """,
)
def add_columns(column, *numbers_and_x):
    """Each tap of the columns is added to what it meets; to 0, if that is ``fresh``."""
    *numbers, C, images, fresh, x = numbers_and_x
    index = met(x.size, numbers)
    inside, total = index >= 0, np.zeros(x.size, np.result_type(x, np.float32))
    np.add.at(total, index[inside], by_image(column, C, images, index)[inside])
    x[...] = (0 if fresh else x) + total.reshape(x.shape)


@elementwise(
    f"raw G gy, raw V winner, {NUMBERS}",
    "G gx",
    f"""
    typedef Wide<G>::type W;
    W sum = 0;{ELEMENT}{MEETS}
                if (winner[r * P + place] == tap) sum += W(gy[r * P + place]);
    }}}}}}
    gx = sum;
    """,
)
def give(gy, winner, *numbers_and_gx):
    """The gradient of each place goes to what its winning tap meets."""
    *numbers, gx = numbers_and_gx
    index = met(gx.size, numbers)
    taps = winner.reshape(len(index), 1, -1).astype(int)
    total = np.zeros(gx.size, np.result_type(gx, np.float32))
    np.add.at(total, np.take_along_axis(index, taps, axis=1).ravel(), gy.ravel())
    gx[...] = total.reshape(gx.shape)


# ---- averages --------------------------------------------------------------------

# How many elements count in the mean: one number, or one for each place.
COUNT = "counts[counts.size() > 1 ? {place} : 0]"


@elementwise(
    f"raw T x, raw W counts, {NUMBERS}",
    "T y",
    f"""{PLACE}
    W sum = 0;
    {INSIDE}
        if (inside) sum += W(x[at]);
    }}
    y = sum / {COUNT.format(place="i % P")};
    """,
)
def average_pool(x, counts, *numbers_and_y):
    """The sum of what each window meets, divided by ``counts`` (1,) or (places,)."""
    *numbers, y = numbers_and_y
    if not x.size:  # all is padding
        y[...] = 0
        return
    index = met(x.size, numbers)
    found = np.where(index < 0, 0, x.ravel()[index].astype(float)).sum(axis=1)
    y[...] = (found / counts).reshape(y.shape)


@elementwise(
    f"raw G gy, raw W counts, {NUMBERS}",
    "G gx",
    f"""
    W sum = 0;{ELEMENT}{MEETS}
                sum += W(gy[r * P + place]) / {COUNT.format(place="place")};
    }}}}}}
    gx = sum;
    """,
)
def give_equally(gy, counts, *numbers_and_gx):
    """The gradient of each place, divided by its count, goes to all that it meets."""
    *numbers, gx = numbers_and_gx
    index = met(gx.size, numbers)
    inside, total = index >= 0, np.zeros(gx.size)
    each = gy.reshape(len(index), 1, -1).astype(float) / counts
    np.add.at(total, index[inside], np.broadcast_to(each, index.shape)[inside])
    gx[...] = total.reshape(gx.shape)
