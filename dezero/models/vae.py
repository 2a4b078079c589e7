"""VAE: a network that learns to draw what it has seen."""

from __future__ import annotations

import math

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.arguments import as_number
from dezero.layers.arguments import as_size
from dezero.models.base import Model


class VAE(Model):
    """Variational autoencoder: x to a normal distribution of codes z, and back.

    D. P. Kingma and M. Welling, Auto-Encoding Variational Bayes, 2013,
    https://arxiv.org/abs/1312.6114, section 3 and appendices B and C.1, with ReLU in
    place of tanh. The encoder gives mean and variance of z, ``q(z|x)``; the decoder
    gives scores, whose sigmoids are the probabilities of ones, ``p(x|z)``; before
    anything is seen, z is drawn from N(0, 1).

        model = VAE(input_size=64)
        loss = model.loss(Digits().data)  # (N, 1, 8, 8), numbers in [0, 1]
        loss.backward()
        ...  # train
        images = model.sample(10)  # (10, 64)

    Layers:
        encoder: Linear(hidden_size); mean, log_var: Linear(latent_size).
        decoder: Linear(hidden_size); logits: Linear(input_size).

    Args:
        input_size: D, how many numbers an item has.
        hidden_size: Number of features between items and codes.
        latent_size: K, length of a code.

    Raises:
        TypeError: A size is no integer.
        ValueError: A size is below 1.
    """

    def __init__(
        self, input_size: int, hidden_size: int = 256, latent_size: int = 16
    ) -> None:
        super().__init__()
        D = self.input_size = as_size("VAE", "input_size", input_size)
        H = as_size("VAE", "hidden_size", hidden_size)
        K = self.latent_size = as_size("VAE", "latent_size", latent_size)
        he = L.initializers.HeNormal()
        self.encoder = L.Linear(H, in_size=D, initial_W=he)
        self.mean = L.Linear(K, in_size=H)
        self.log_var = L.Linear(K, in_size=H)
        self.decoder = L.Linear(H, in_size=K, initial_W=he)
        self.logits = L.Linear(D, in_size=H)

    def encode(self, x: ArrayLike) -> tuple[Variable, Variable]:
        """Mean and logarithm of the variance of the code of each item.

        Args:
            x: (N, D), or (N, ...) with D numbers in each item.

        Returns:
            Two Variables of shape (N, K).

        Raises:
            ValueError: ``x`` has another shape.
        """
        y = F.relu(self.encoder(self._flat(as_variable(x))))
        return self.mean(y), self.log_var(y)

    def decode(self, z: ArrayLike) -> Variable:
        """Scores (N, D) of codes (N, K); ``F.sigmoid`` makes probabilities of them.

        Raises:
            ValueError: ``z`` has another shape.
        """
        z = as_variable(z)
        if z.ndim != 2 or z.shape[1] != self.latent_size:
            raise ValueError(
                f"VAE.decode: expected z of shape (N, {self.latent_size}), got shape "
                f"{z.shape}"
            )
        return self.logits(F.relu(self.decoder(z)))

    def forward(self, x: ArrayLike) -> Variable:
        """Draw a code for each item, and show what it stands for.

        The draw follows ``np.random.seed``, as :func:`dezero.functions.gaussian` does.
        ``F.sigmoid(model.decode(model.encode(x)[0]))`` shows the mean code instead.

        Args:
            x: (N, D), or (N, ...) with D numbers in each item.

        Returns:
            Probabilities of ones, of the shape of ``x``.

        Raises:
            ValueError: ``x`` has another shape.
        """
        x = as_variable(x)
        y = self.decode(F.gaussian(*self.encode(x)))
        return F.reshape(F.sigmoid(y), x.shape)

    def loss(self, x: ArrayLike, beta: float = 1.0) -> Variable:
        """What training makes small: minus the evidence lower bound, per item.

        ``-log p(x|z) + beta * KL(q(z|x) || N(0, 1))``, summed over the numbers of an
        item and of its code; the mean of all items. The first part is taken at one code
        drawn, from scores, so no logarithm of 0 occurs. The second is
        ``sum(mean**2 + var - 1 - log(var)) / 2``.

        Args:
            x: (N, D), or (N, ...) with D numbers in each item, in [0, 1].
            beta: The weight of the second part, a number >= 0; above 1 it favours codes
                whose parts are independent: Higgins et al. 2017, "beta-VAE".

        Returns:
            Variable of shape ().

        Raises:
            TypeError: ``beta`` is no number.
            ValueError: ``x`` has another shape or a number outside [0, 1], there are no
                items, or ``beta`` is negative or not finite.
        """
        beta = as_number("VAE.loss", "beta", beta, low=0)
        if math.isinf(beta):
            raise ValueError("VAE.loss: expected a finite beta, got inf")
        x = self._flat(as_variable(x))
        if x.size and not (0 <= x.data.min() and x.data.max() <= 1):
            wrong = x.data.min() if not x.data.min() >= 0 else x.data.max()
            raise ValueError(f"VAE.loss: expected x in [0, 1], got {wrong:g}")
        mean, log_var = self.encode(x)
        y = self.decode(F.gaussian(mean, log_var))
        loss = F.sigmoid_cross_entropy(y, x)  # divided by N, not by N * D
        # expm1: var - 1 would lose all digits of a variance near 1.
        kl = F.sum(mean * mean + (F.expm1(log_var) - log_var)) / (2 * len(x))
        return loss + beta * kl

    def sample(self, n: int) -> Variable:
        """Draw ``n`` codes from N(0, 1), and show what they stand for.

        Returns:
            Probabilities of ones, (n, D). The draw follows ``np.random.seed``.

        Raises:
            TypeError: ``n`` is no integer.
            ValueError: It is below 1.
        """
        n = as_size("VAE.sample", "n", n)
        W = self.decoder.W
        xp = cuda.get_array_module(W)
        z = xp.zeros((n, self.latent_size), W.dtype)
        return F.sigmoid(self.decode(F.gaussian(z, xp.zeros_like(z))))

    def _flat(self, x: Variable) -> Variable:
        """(N, ...) -> (N, D)."""
        if x.ndim < 2 or np.prod(x.shape[1:]) != self.input_size:
            raise ValueError(
                f"VAE: expected x of shape (N, {self.input_size}), or (N, ...) with "
                f"that many numbers in each item, got shape {x.shape}"
            )
        if x.dtype.kind != "f":  # ones and zeros, which ask for no double precision
            x = x.astype(self.encoder.W.dtype)
        return F.reshape(x, (len(x), self.input_size))
