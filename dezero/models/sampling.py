"""Models of text, and how they write: what follows is drawn from the scores."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable, no_grad, test_mode
from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.layers.arguments import as_size
from dezero.models.base import Model


class LanguageModel(Model):
    """A model that scores what may come next; a subclass writes :meth:`follow`.

    Args:
        vocabulary_size: V, how many ids there are: 0, ..., V - 1.

    Raises:
        TypeError: ``vocabulary_size`` is no integer.
        ValueError: It is below 1.
    """

    def __init__(self, vocabulary_size: int) -> None:
        super().__init__()
        name = type(self).__name__
        self.vocabulary_size = as_size(name, "vocabulary_size", vocabulary_size)

    def follow(self, ids: Array, memory: Any) -> tuple[Variable, Any]:
        """Score what follows.

        Args:
            ids: (N, T) integers, all there is so far.
            memory: None at the first call, then what the call before returned, which
                had the same ids without the last one.

        Returns:
            Scores (N, V), and what to remember for the next call.
        """
        raise TypeError(f"{type(self).__name__}: expected a method follow, found none")

    def generate(
        self,
        prompt_ids: ArrayLike,
        length: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        seed: int | None = None,
    ) -> Array:
        """Go on from a prompt, one id at a time.

        Each id is drawn from ``softmax(scores / temperature)``, in test mode and
        without a graph; these switches, and the state of a recurrent model, are left as
        they were.

        Args:
            prompt_ids: (T,) or (N, T) integers, at least one in a row: an array, a
                Variable or a list.
            length: How many ids to add.
            temperature: Below 1 the likely becomes likelier; 0 takes the best score
                always, and draws nothing.
            top_k: Draw among the k best scores only.
            seed: Draw from a generator of its own that starts there: the same seed, the
                same ids. By default ``np.random`` is drawn from (on a GPU, the
                random state there).

        Returns:
            Array (T + length,) or (N, T + length) of integers, the prompt in front.

        Raises:
            IndexError: An id of the prompt is not in [0, V).
            TypeError: The ids, ``length``, ``top_k`` or ``seed`` are no integers, or
                ``temperature`` is no number.
            ValueError: The prompt is empty or of another shape; ``length`` or
                ``temperature`` is negative; ``top_k`` is not in [1, V], or ``seed`` not
                in [0, 2**32); or the model gave a score that is no number, or scores
                of another shape.
        """
        name = f"{type(self).__name__}.generate"
        V = self.vocabulary_size
        xp = cuda.get_array_module(next(self.params(), None))
        prompt = as_prompt(name, prompt_ids, V, xp)
        length = _as_integer(name, "length", length, 0)
        sampler = Sampler(name, V, temperature, top_k, seed)
        N, T = prompt.shape[-2:] if prompt.ndim == 2 else (1, len(prompt))
        ids = xp.empty((N, T + length), np.int64)
        ids[:, :T] = prompt
        memory = None
        with no_grad(), test_mode():
            for t in range(T, T + length):
                scores, memory = self.follow(ids[:, :t], memory)
                ids[:, t] = sampler(as_variable(scores).data)
        return ids if prompt.ndim == 2 else ids[0]


class Sampler:
    """Draws one id from each row of scores; see :meth:`LanguageModel.generate`.

    Args:
        function: Who asks, for messages.
        vocabulary_size: V, how many scores there are in a row.
        temperature: What scores are divided by; 0 takes the best.
        top_k: How many of the best scores count; None for all.
        seed: Where a generator of its own starts; None for the global random state.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: It is out of range.
    """

    def __init__(
        self,
        function: str,
        vocabulary_size: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.function = function
        self.vocabulary_size = vocabulary_size
        temperature = as_number(function, "temperature", temperature, low=0)
        if math.isinf(temperature):
            raise ValueError(f"{function}: expected a finite temperature, got inf")
        self.temperature = temperature
        self.top_k = top_k
        if top_k is not None:
            self.top_k = _as_integer(function, "top_k", top_k, 1, vocabulary_size)
        self.generator = None
        if seed is not None:
            # Of the generators of NumPy the one whose numbers no release may change.
            seed = _as_integer(function, "seed", seed, 0, 2**32 - 1)
            self.generator = np.random.RandomState(seed)

    def __call__(self, scores: Array) -> Array:
        """An id for each row.

        Args:
            scores: (N, V); -inf for what must not be drawn.

        Returns:
            Integers, (N,). Of equal scores the first is the best.

        Raises:
            ValueError: The best of a row is not finite, a score is NaN, or the scores
                have another shape.
        """
        xp = cuda.get_array_module(scores)
        if scores.ndim != 2 or scores.shape[1] != self.vocabulary_size:
            raise ValueError(
                f"{self.function}: expected scores of shape (N, "
                f"{self.vocabulary_size}), got shape {scores.shape}"
            )
        if scores.dtype.kind != "f":
            scores = scores.astype(np.float64)  # minus a number without a sign is none
        best = scores.max(axis=1, keepdims=True)
        if not xp.isfinite(best).all():
            raise ValueError(
                f"{self.function}: expected scores that are finite numbers, got "
                f"{best[~xp.isfinite(best)][0]} as the best of a row"
            )
        if self.temperature == 0:
            return scores.argmax(axis=1)
        order = None
        if self.top_k is not None:
            # Equal scores stand in the order of ids: exactly k are left.
            order = xp.argsort(-scores, axis=1, kind="stable")[:, : self.top_k]
            scores = xp.take_along_axis(scores, order, axis=1)
        with np.errstate(over="ignore"):  # by a temperature near 0: -inf is right
            z = (scores.astype(np.float64) - best) / self.temperature
        places = _draw(xp.exp(z), self._uniform(xp, len(scores)), xp)
        if order is None:
            return places
        return xp.take_along_axis(order, places[:, None], axis=1)[:, 0]

    def _uniform(self, xp: Any, n: int) -> Array:
        """``n`` numbers in [0, 1)."""
        if self.generator is not None:
            return xp.asarray(self.generator.random_sample(n))
        return xp.random.random_sample(n)


def _draw(p: Array, u: Array, xp: Any) -> Array:
    """The column of each row of ``p``, weights, where ``u`` in [0, 1) falls."""
    heights = xp.cumsum(p, axis=1)
    # Below the total even where u is the largest number below 1; so a column that rises
    # above it is there, and the first of them has a weight.
    return (heights <= u[:, None] * heights[:, -1:]).sum(axis=1)


def as_prompt(function: str, ids: Any, vocabulary_size: int, xp: Any) -> Array:
    """``ids`` as an array of integers in [0, V), (T,) or (N, T), in library ``xp``.

    Raises:
        IndexError: An id is out of range.
        TypeError: They are no integers.
        ValueError: There are none, or their shape is another one.
    """
    if isinstance(ids, Variable):
        ids = ids.data
    if isinstance(ids, (str, bytes)):
        raise TypeError(
            f"{function}: expected integers as prompt_ids, got {type(ids).__name__}; "
            "encode() of the text that the model learned from makes them"
        )
    if not cuda.is_array(ids):
        try:
            ids = np.asarray(ids)
        except ValueError:  # rows of unequal length
            raise ValueError(
                f"{function}: expected prompt_ids of shape (T,) or (N, T), got rows of "
                "unequal length"
            ) from None
    if ids.ndim not in (1, 2):
        raise ValueError(
            f"{function}: expected prompt_ids of shape (T,) or (N, T), got shape "
            f"{ids.shape}"
        )
    if ids.size == 0:
        raise ValueError(
            f"{function}: expected at least one id in prompt_ids, got shape {ids.shape}"
        )
    if ids.dtype.kind not in "iu":
        raise TypeError(
            f"{function}: expected integers as prompt_ids, got dtype {ids.dtype}"
        )
    for wrong in (ids.min(), ids.max()):
        if not 0 <= wrong < vocabulary_size:
            raise IndexError(
                f"{function}: expected prompt_ids in [0, {vocabulary_size}), got "
                f"{int(wrong)}"
            )
    return xp.asarray(ids)


def as_ids(model: str, ids: ArrayLike) -> Array:
    """``ids`` as an array (N, T), for a model that is called with them.

    Raises:
        TypeError: It is no array.
        ValueError: It has another number of axes.
    """
    data = ids.data if isinstance(ids, Variable) else ids
    if not cuda.is_array(data):
        raise TypeError(
            f"{model}: expected ids as an array of shape (N, T), got "
            f"{type(ids).__name__}"
        )
    if data.ndim != 2:
        raise ValueError(
            f"{model}: expected ids of shape (N, T), got shape {data.shape}"
        )
    return data


def _as_integer(
    function: str, name: str, value: Any, low: int, high: int | None = None
) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: expected {name} to be an integer, got {type(value).__name__}"
        ) from None
    if number < low or (high is not None and number > high):
        bounds = f">= {low}" if high is None else f"in [{low}, {high}]"
        raise ValueError(f"{function}: expected {name} {bounds}, got {number}")
    return number
