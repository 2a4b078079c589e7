"""Convolution of each channel by itself, without columns: one launch for a product.

As columns an image is as many times as large as the window has taps, and there is no
sum over channels for which that would pay. Channel c of C of the image goes to
``each`` channels of the result, o = c * each and so on. How a window lies is said by
the numbers of :mod:`dezero.kernels.windows`.
"""

import numpy as np

from dezero.kernels.fusing import elementwise
from dezero.kernels.windows import ELEMENT, INSIDE, MEETS, NUMBERS, PLACE, met

TAPS = "const ptrdiff_t K = ptrdiff_t(KD) * KH * KW;"


def by_channel(x, numbers, each):
    """What each tap of a channel of the result meets at each place, or 0.

    (N * C * each, taps, places).
    """
    index = met(x.size, numbers)
    found = np.where(index < 0, 0, x.ravel()[index])
    return np.repeat(found.astype(float), each, axis=0)


@elementwise(
    f"raw X x, raw Y W, {NUMBERS}, int64 C, int64 each",
    "T y",
    f"""{PLACE}{TAPS}
    typedef Wide<T>::type R;
    const ptrdiff_t first = r % (C * each) * K;
    r /= each;
    R sum = 0;
    {INSIDE}
        if (inside) sum += R(x[at]) * R(W[first + tap]);
    }}
    y = sum;
    """,
)
def depthwise(x, W, *numbers_and_y):
    """``y[n, o, p] = sum over k of W[o, k] * x[n, c, stride*p + dilation*k]``."""
    *numbers, C, each, y = numbers_and_y
    if not x.size:  # all is padding
        y[...] = 0
        return
    found = by_channel(x, numbers, each)
    weights = W.reshape(C * each, -1, 1)
    parts = found.reshape(-1, C * each, *found.shape[1:]) * weights
    y[...] = parts.sum(axis=2).reshape(y.shape)


@elementwise(
    f"raw Y y, raw Z W, {NUMBERS}, int64 C, int64 each",
    "T x",
    f"""
    typedef Wide<T>::type R;
    R sum = 0;{ELEMENT}{TAPS}
    const ptrdiff_t c = r % C;{MEETS}
                for (ptrdiff_t o = 0; o < each; ++o)
                    sum += R(y[(r * each + o) * P + place])
                           * R(W[(c * each + o) * K + tap]);
    }}}}}}
    x = sum;
    """,
)
def depthwise_transposed(y, W, *numbers_and_x):
    """Each element of y times the kernel, added up where it came from."""
    *numbers, C, each, x = numbers_and_x
    index = met(x.size, numbers)
    weights = W.reshape(1, C, each, -1, 1)
    parts = y.reshape(-1, C, each, 1, index.shape[2]).astype(float) * weights
    total, inside = np.zeros(x.size), index >= 0
    np.add.at(total, index[inside], parts.sum(axis=2).reshape(index.shape)[inside])
    x[...] = total.reshape(x.shape)


@elementwise(
    f"raw X x, raw Y y, {NUMBERS}, int64 each",
    "T W",
    f"""{TAPS}
    typedef Wide<T>::type R;
    const ptrdiff_t r = i / K, image = r / each;
    const int tap = i % K, kw = tap % KW, kh = tap / KW % KH, kd = tap / KW / KH;
    ptrdiff_t place = r * OD * OH * OW;
    R sum = 0;
    for (int od = 0; od < OD; ++od)
    for (int oh = 0; oh < OH; ++oh)
    for (int ow = 0; ow < OW; ++ow, ++place) {{
        const int d = od * SD + kd * DD - PD, h = oh * SH + kh * DH - PH;
        const int w = ow * SW + kw * DW - PW;
        if (d < 0 || d >= ID || h < 0 || h >= IH || w < 0 || w >= IW) continue;
        sum += R(y[place]) * R(x[((image * ID + d) * IH + h) * IW + w]);
    }}
    W = sum;
    """,
)
def depthwise_kernel(x, y, *numbers_and_W):
    """``W[n, o, k] = sum over p of y[n, o, p] * x[n, c, stride*p + dilation*k]``.

    To be added up over n.
    """
    *numbers, each, W = numbers_and_W
    if not x.size:
        W[...] = 0
        return
    found = by_channel(x, numbers, each)
    W[...] = (found * y.reshape(len(found), 1, -1)).sum(axis=2).reshape(W.shape)
