"""All models: ``import dezero.models as M``."""

from dezero.models.base import Model
from dezero.models.char_rnn import CharRNN
from dezero.models.efficientnet import EfficientNetLite0
from dezero.models.gpt import GPT
from dezero.models.lenet import LeNet
from dezero.models.resnet import (
    ResNet,
    ResNet18,
    ResNet34,
    ResNet50,
    ResNet101,
    ResNet152,
)
from dezero.models.sequential import MLP, Sequential
from dezero.models.squeezenet import SqueezeNet
from dezero.models.vae import VAE
from dezero.models.vgg import VGG16

__all__ = [
    "GPT",
    "MLP",
    "VAE",
    "VGG16",
    "CharRNN",
    "EfficientNetLite0",
    "LeNet",
    "Model",
    "ResNet",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "ResNet101",
    "ResNet152",
    "Sequential",
    "SqueezeNet",
]
