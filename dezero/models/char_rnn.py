"""CharRNN: a recurrent network that reads and writes text by its characters."""

from __future__ import annotations

from typing import Any

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Variable
from dezero.cuda import Array
from dezero.layers.arguments import as_ratio, as_size
from dezero.models.sampling import LanguageModel, as_ids


class CharRNN(LanguageModel):
    """Embedding, long short-term memories, Linear: scores of the character after each.

    A. Graves, Generating Sequences With Recurrent Neural Networks, 2013,
    https://arxiv.org/abs/1308.0850, without the connections that skip layers. The
    forget gates start with a bias of 1, so that memory lasts from the start: R.
    Jozefowicz, W. Zaremba and I. Sutskever, An Empirical Exploration of Recurrent
    Network Architectures, 2015.

        text = Shakespeare()
        model = CharRNN(text.vocab_size)
        loss = F.softmax_cross_entropy(model(ids[:, :-1]), ids[:, 1:], axis=-1)
        ...  # train on many such ids (N, T)
        print(text.decode(model.generate(text.encode("To be"), 200)))

    With ``stateful`` a call goes on where the call before ended, as if all had been one
    sequence; ``detach_state`` in between keeps gradients to one call (backpropagation
    through time, truncated).

    Layers:
        embedding: Embedding(vocabulary_size, embedding_size).
        lstm: SequenceLSTM(hidden_size, num_layers=layers).
        head: Linear(vocabulary_size).

    Args:
        vocabulary_size: V, how many ids there are.
        hidden_size: H, number of features of a state.
        embedding_size: Length of the vector of an id; by default ``hidden_size``.
        layers: How many memories stand upon each other.
        dropout: The share that is dropped in training of what each of them gives.
        stateful: Keep the state between calls.

    Raises:
        TypeError: A size is no integer, or ``dropout`` no number.
        ValueError: A size is below 1, or ``dropout`` outside [0, 1].
    """

    h: Variable | None
    c: Variable | None

    def __init__(
        self,
        vocabulary_size: int,
        hidden_size: int = 128,
        embedding_size: int | None = None,
        layers: int = 1,
        dropout: float = 0.0,
        stateful: bool = False,
    ) -> None:
        super().__init__(vocabulary_size)
        H = as_size("CharRNN", "hidden_size", hidden_size)
        if embedding_size is None:
            embedding_size = H
        E = as_size("CharRNN", "embedding_size", embedding_size)
        layers = as_size("CharRNN", "layers", layers)
        self.dropout = as_ratio("CharRNN", "dropout", dropout)
        self.stateful = bool(stateful)
        self.embedding = L.Embedding(self.vocabulary_size, E)
        self.lstm = L.SequenceLSTM(H, layers, dropout_ratio=self.dropout, in_size=E)
        for memory in self.lstm.forwards:
            _, _, b = memory.weights()
            b.data[H : 2 * H] = 1  # gates i, f, g, o
        self.head = L.Linear(self.vocabulary_size, in_size=H)
        self.reset_state()

    def reset_state(self) -> None:
        """Forget the state: the next call starts a new sequence."""
        self.h = self.c = None

    def detach_state(self) -> None:
        """Keep the state and cut its graph: backward passes to come stop here."""
        if self.h is not None and self.c is not None:
            self.h, self.c = self.h.detach(), self.c.detach()

    def forward(self, ids: ArrayLike) -> Variable:
        """Score what follows each character.

        Args:
            ids: (N, T) integers, T characters of N texts.

        Returns:
            Scores (N, T, V); those at t know the ids up to t.

        Raises:
            IndexError: An id is not in [0, V).
            TypeError: The ids are no array of integers.
            ValueError: They have another number of axes, or N is not that of the state.
        """
        data = as_ids("CharRNN", ids)
        h, c = (self.h, self.c) if self.stateful else (None, None)
        if h is not None and h.shape[1] != len(data):
            raise ValueError(
                f"CharRNN: expected a batch of {h.shape[1]}, as in the state, got ids "
                f"of shape {data.shape}; call reset_state() before new sequences"
            )
        y, h, c = self._read(data, h, c)
        if self.stateful:
            self.h, self.c = h, c
        y = F.swapaxes(y, 0, 1)  # (T, N, H) -> (N, T, H)
        return self.head(F.dropout(y, self.dropout))

    def _read(self, ids: Array, h: Any, c: Any) -> tuple[Variable, Variable, Variable]:
        """What the memories give, (T, N, H), and their states after the last id."""
        return self.lstm(self.embedding(ids.T), h, c)

    def follow(self, ids: Array, memory: Any) -> tuple[Variable, Any]:
        """Score what follows (N, V); ``memory`` is the state before the last id."""
        y, *state = (
            self._read(ids, None, None)
            if memory is None
            else self._read(ids[:, -1:], *memory)
        )
        return self.head(y[-1]), state
