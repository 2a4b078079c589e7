"""The computations of the benchmarks, derived by hand in NumPy: the yardstick.

Each is as fast as we know how to make it without a framework: only the operations the
mathematics needs, nothing checked, work in place and in buffers that are used again.
"""

from by_hand.convnets import ConvBlock, ConvNet, ResnetBlock
from by_hand.gpt import Gpt
from by_hand.graphs import Deep, Tiny, Wide
from by_hand.lstm import Lstm
from by_hand.mlp import HessianVector, Mlp, MlpAdam, NormMlp

WORKLOADS = {
    "tiny": Tiny,
    "deep": Deep,
    "wide": Wide,
    "mlp_sgd": Mlp,
    "mlp_adam": MlpAdam,
    "norm_mlp": NormMlp,
    "conv_net": ConvNet,
    "conv_block": ConvBlock,
    "resnet_block": ResnetBlock,
    "lstm": Lstm,
    "gpt": Gpt,
    "hvp": HessianVector,
}
