"""Model: the Layer at the top."""

from dezero.layers import Layer


class Model(Layer):
    """A whole network: a Layer that is trained, saved and shown as one thing."""
