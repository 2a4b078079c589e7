"""Convolution, pooling, im2col and col2im in one module, as DeZero scripts import them.

``im2col_array`` and ``col2im_array`` work on plain arrays.
"""

from dezero.functions.adaptive_pooling import (
    adaptive_average_pooling,
    adaptive_max_pooling,
    global_average_pooling,
    global_max_pooling,
)
from dezero.functions.averaging import (
    AveragePooling,
    AveragePoolingGrad,
    average_pooling,
)
from dezero.functions.columns import (
    Col2im,
    Im2col,
    col2im,
    col2im_array,
    im2col,
    im2col_array,
)
from dezero.functions.convolution import (
    Conv1d,
    Conv1dGradW,
    Conv2d,
    Conv2dGradW,
    Conv3d,
    Conv3dGradW,
    Deconv1d,
    Deconv2d,
    Deconv3d,
    conv1d,
    conv2d,
    conv2d_simple,
    conv3d,
)
from dezero.functions.deconvolution import deconv1d, deconv2d, deconv3d
from dezero.functions.max_pooling import (
    Pooling,
    PoolingGrad,
    PoolingPick,
    pooling,
    pooling_simple,
)

__all__ = [
    "AveragePooling",
    "AveragePoolingGrad",
    "Col2im",
    "Conv1d",
    "Conv1dGradW",
    "Conv2d",
    "Conv2dGradW",
    "Conv3d",
    "Conv3dGradW",
    "Deconv1d",
    "Deconv2d",
    "Deconv3d",
    "Im2col",
    "Pooling",
    "PoolingGrad",
    "PoolingPick",
    "adaptive_average_pooling",
    "adaptive_max_pooling",
    "average_pooling",
    "col2im",
    "col2im_array",
    "conv1d",
    "conv2d",
    "conv2d_simple",
    "conv3d",
    "deconv1d",
    "deconv2d",
    "deconv3d",
    "global_average_pooling",
    "global_max_pooling",
    "im2col",
    "im2col_array",
    "pooling",
    "pooling_simple",
]
