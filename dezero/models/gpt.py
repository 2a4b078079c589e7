"""GPT: a transformer that foretells each element of a sequence from those before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Config, Variable
from dezero.cuda import Array
from dezero.layers.arguments import as_ratio, as_size
from dezero.models.sampling import LanguageModel, as_ids

_STD = 0.02  # of all weights at the start


class GPT(LanguageModel):
    """Embeddings of id and place, causal transformer blocks, LayerNorm, Linear.

    A. Radford, J. Wu, R. Child, D. Luan, D. Amodei and I. Sutskever, Language Models
    are Unsupervised Multitask Learners, 2019 (GPT-2). The normalization stands before
    each part of a block, see :class:`dezero.layers.TransformerBlock`. Weights start
    normal with standard deviation 0.02, and those of ``attention/out`` and ``fc2``,
    which are added to what passes by, with ``0.02 / sqrt(2 * layers)``; biases are 0.
    A block of your own in ``blocks`` has to take ``cache=`` too, for :meth:`generate`.

        text = Shakespeare()
        model = GPT(text.vocab_size, context=64)
        loss = F.softmax_cross_entropy(model(ids[:, :-1]), ids[:, 1:], axis=-1)
        ...  # train on many such ids (N, T)
        print(text.decode(model.generate(text.encode("To be"), 200)))

    Layers:
        token: Embedding(vocabulary_size, width).
        position: Embedding(context, width).
        blocks: A list of TransformerBlock(width, heads, causal=True).
        norm: LayerNorm().
        head: Linear(vocabulary_size, nobias=True); None with tied weights.

    Args:
        vocabulary_size: V, how many ids there are.
        context: How many ids the model can look back on, itself included.
        width: D, number of features of an id on its way, a multiple of ``heads``.
        layers: How many blocks.
        heads: How many heads attention has.
        dropout: The share that is dropped in training: of the embeddings, and in the
            blocks.
        tie_weights: Score by the embeddings of the ids, ``x @ token.W.T``, instead of
            a head with weights of its own. GPT-2 does.

    Raises:
        TypeError: A size is no integer, or ``dropout`` no number.
        ValueError: A size is below 1, ``heads`` does not divide ``width``, or
            ``dropout`` is outside [0, 1].
    """

    def __init__(
        self,
        vocabulary_size: int,
        context: int = 64,
        width: int = 64,
        layers: int = 2,
        heads: int = 4,
        dropout: float = 0.0,
        tie_weights: bool = False,
    ) -> None:
        super().__init__(vocabulary_size)
        self.context = as_size("GPT", "context", context)
        D = as_size("GPT", "width", width)
        layers = as_size("GPT", "layers", layers)
        heads = as_size("GPT", "heads", heads)
        if D % heads:
            raise ValueError(f"GPT: expected width divisible by heads={heads}, got {D}")
        self.dropout = as_ratio("GPT", "dropout", dropout)
        normal = L.initializers.Normal(_STD)
        self.token = L.Embedding(self.vocabulary_size, D, initial_W=normal)
        self.position = L.Embedding(self.context, D, initial_W=normal)
        self.blocks = [
            L.TransformerBlock(
                D,
                heads,
                dropout_ratio=self.dropout,
                causal=True,
                activation=_gelu,
                initial_W=normal,
            )
            for _ in range(layers)
        ]
        for block in self.blocks:
            for added in (block.attention.out, block.fc2):
                # As many are added as there are: so that the sum stays in bounds.
                added.W.data /= np.float32(math.sqrt(2 * layers))
        self.norm = L.LayerNorm(in_size=D, dtype=np.float32)
        self.head: L.Linear | None = None
        if not tie_weights:
            V = self.vocabulary_size
            self.head = L.Linear(V, nobias=True, in_size=D, initial_W=normal)

    def forward(self, ids: ArrayLike) -> Variable:
        """Score what follows each id.

        Args:
            ids: (N, T) integers, T <= ``context``.

        Returns:
            Scores (N, T, V); those at t know the ids up to t.

        Raises:
            IndexError: An id is not in [0, V).
            TypeError: The ids are no array of integers.
            ValueError: They have another number of axes, or T is above ``context``.
        """
        return self._scores(self._read(as_ids("GPT", ids)))

    def _read(
        self, ids: Array, start: int = 0, caches: list[L.KeyValueCache] | None = None
    ) -> Variable:
        """What the blocks make of the ids from ``start`` on, (N, T - start, D).

        ``caches``, one for each block, know those before.
        """
        T = ids.shape[1]
        if T > self.context:
            raise ValueError(
                f"GPT: expected ids of shape (N, T) with T <= context={self.context}, "
                f"got shape {ids.shape}, T={T}"
            )
        new = ids[:, start:] if start else ids  # itself, for drawings to know it
        x = self.token(new) + self.position.W[start:T]  # (N, T, D) + (T, D)
        x = F.dropout(x, self.dropout)
        for i, block in enumerate(self.blocks):
            x = block(x, cache=caches[i]) if caches else block(x)
        return x

    def _scores(self, x: Variable) -> Variable:
        """(..., D) -> (..., V)."""
        x = self.norm(x)
        if self.head is None:
            return F.linear(x, F.transpose(self.token.W))
        return self.head(x)

    def follow(self, ids: Array, memory: Any) -> tuple[Variable, Any]:
        """Score what follows the last ``context`` ids, (N, V).

        The memory is a cache of keys and values for each block, so that an id takes
        one step through the blocks. Once there are more ids than ``context``, each of
        those that count has another place at every step, and its position another
        embedding: then nothing of before is right any more, and all is computed anew.

        Raises:
            ValueError: No id is new to the memory.
        """
        if ids.shape[1] > self.context or Config.enable_backprop:
            x = self._read(ids[:, -self.context :])
            return self._scores(x[:, -1]), None
        if memory is None:
            memory = [L.KeyValueCache(self.context) for _ in self.blocks]
        start = memory[0].length if memory else 0
        if start >= ids.shape[1]:
            raise ValueError(
                f"GPT.follow: expected ids that go on from the {start} that are in the "
                f"memory, got {ids.shape[1]}; a new text starts with memory=None"
            )
        x = self._read(ids, start, memory)
        return self._scores(x[:, -1]), memory


def _gelu(x: ArrayLike) -> Variable:
    return F.gelu(x, approximate=True)  # the form that GPT-2 has
