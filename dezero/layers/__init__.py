"""All layers, gathered from their families: ``import dezero.layers as L``."""

from dezero.layers import initializers
from dezero.layers.activation import (
    GELU,
    LeakyReLU,
    PReLU,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)
from dezero.layers.attention import MultiHeadAttention, TransformerBlock
from dezero.layers.base import Layer
from dezero.layers.caches import KeyValueCache
from dezero.layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    Deconv1d,
    Deconv2d,
    Deconv3d,
)
from dezero.layers.embedding import Embedding, EmbedID
from dezero.layers.linear import Linear
from dezero.layers.normalization import (
    BatchNorm,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    RMSNorm,
)
from dezero.layers.pooling import (
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    GlobalAveragePooling,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from dezero.layers.recurrent import GRU, LSTM, RNN
from dezero.layers.sequences import SequenceGRU, SequenceLSTM, SequenceRNN
from dezero.layers.shaping import Dropout, Flatten

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Deconv1d",
    "Deconv2d",
    "Deconv3d",
    "Dropout",
    "EmbedID",
    "Embedding",
    "Flatten",
    "GlobalAveragePooling",
    "GroupNorm",
    "InstanceNorm",
    "KeyValueCache",
    "Layer",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MultiHeadAttention",
    "PReLU",
    "RMSNorm",
    "ReLU",
    "SequenceGRU",
    "SequenceLSTM",
    "SequenceRNN",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "TransformerBlock",
    "initializers",
]
