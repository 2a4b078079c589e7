"""Text as a sequence of characters, each to be foretold from those before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import resources
from typing import Any

import numpy as np

from dezero.datasets.base import Dataset


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8, line ends as ``\\n``.

    Args:
        path: The file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not UTF-8.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:  # some begin with a mark
            return file.read()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"read_text: expected UTF-8, got byte {error.object[error.start]:#04x} "
            f"at {error.start} of {os.fspath(path)!r}"
        ) from error


class TextCorpus(Dataset):
    """The characters of a text by number: x is one, t the next.

    Numbers follow the order of characters in Unicode. The first part of the text is to
    train on, the rest to test on; both know the characters of all of it.

    Args:
        text: The text; ``read_text(path)`` gives that of a file.
        train: The first part or the rest?
        test_share: The share of the rest; with 0, both parts are the whole text.
        transform: Applied to each x that is read.
        target_transform: Applied to each t that is read.

    Attributes:
        char_to_id: The number of each character.
        id_to_char: The character of each number.
        indices: The numbers of this part of the text, one more than there are items.

    Raises:
        ValueError: A part would have less than two characters, or ``test_share`` is not
            in [0, 1).
    """

    def __init__(
        self,
        text: str,
        train: bool = True,
        test_share: float = 0.1,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        if not 0 <= test_share < 1:
            raise ValueError(
                f"TextCorpus: expected test_share in [0, 1), got {test_share}"
            )
        self._text, self._test_share = text, test_share
        super().__init__(train, transform, target_transform)

    def prepare(self) -> None:
        """Number the characters and keep those of the part asked for."""
        text, share = self._text, self._test_share
        del self._text  # the numbers say it all
        characters = sorted(set(text))
        self.id_to_char = dict(enumerate(characters))
        self.char_to_id = {c: i for i, c in self.id_to_char.items()}
        ids = self.encode(text)
        if share:
            middle = len(ids) - round(share * len(ids))
            ids = ids[:middle] if self.train else ids[middle:]
        if len(ids) < 2:
            raise ValueError(
                f"TextCorpus: expected at least two characters, got {len(ids)}"
            )
        self.indices = ids
        self.data, self.label = ids[:-1], ids[1:]

    @property
    def vocab_size(self) -> int:
        """How many characters there are."""
        return len(self.id_to_char)

    def encode(self, text: str) -> np.ndarray:
        """The numbers of a text, (length,) integer.

        Raises:
            ValueError: A character does not occur in the corpus.
        """
        table = self.char_to_id
        try:
            return np.fromiter([table[c] for c in text], dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                "TextCorpus.encode: expected characters of the corpus, "
                f"got {error.args[0]!r}"
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """The text of numbers.

        Raises:
            ValueError: A number is none of the corpus.
        """
        try:
            return "".join([self.id_to_char[int(i)] for i in ids])
        except KeyError as error:
            raise ValueError(
                f"TextCorpus.decode: expected numbers in [0, {self.vocab_size}), "
                f"got {error.args[0]}"
            ) from None


class Shakespeare(TextCorpus):
    """*Hamlet* by its characters, see :class:`TextCorpus`. It comes with the package.

    Args:
        train: The first nine tenths, or the rest?
        transform: Applied to each x that is read.
        target_transform: Applied to each t that is read.
    """

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        path = resources.files("dezero") / "data" / "shakespeare.txt"
        text = path.read_text(encoding="utf-8")
        super().__init__(text, train, 0.1, transform, target_transform)


Shakespear = Shakespeare  # as DeZero scripts spell it
