"""Text by its characters."""

import numpy as np
import pytest

from dezero import SeqDataLoader
from dezero.datasets import Shakespear, Shakespeare, TextCorpus, read_text


def test_corpus():
    corpus = TextCorpus("abracadabra", test_share=0)
    assert corpus.vocab_size == 5
    assert corpus.char_to_id == {"a": 0, "b": 1, "c": 2, "d": 3, "r": 4}
    assert corpus.id_to_char[4] == "r"
    assert len(corpus) == 10 and corpus[0] == (0, 1) and corpus[-1] == (4, 0)
    np.testing.assert_array_equal(corpus.data[1:], corpus.label[:-1])
    assert corpus.decode(corpus.indices) == "abracadabra"
    assert corpus.encode("cab").tolist() == [2, 0, 1]
    assert corpus.encode("").shape == (0,) and corpus.encode("a").dtype == np.int64
    x, t = next(SeqDataLoader(corpus, 2))
    assert corpus.decode(x) == "aa" and corpus.decode(t) == "bd"


def test_parts_do_not_overlap_and_share_their_numbers():
    text = "ab" * 45 + "c" * 10
    train, test = TextCorpus(text), TextCorpus(text, train=False)
    assert train.decode(train.indices) == "ab" * 45
    assert test.decode(test.indices) == "c" * 10
    assert train.char_to_id == test.char_to_id


def test_transforms():
    corpus = TextCorpus("abc", test_share=0, transform=lambda i: -i)
    assert corpus[1] == (-1, 2)


def test_read_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffGrüße,\r\n日本\n".encode())
    assert read_text(path) == "Grüße,\n日本\n"
    corpus = TextCorpus(read_text(path), test_share=0)
    assert corpus.decode(corpus.encode("日ß")) == "日ß"
    path.write_bytes(b"Gr\xfc\xdfe")
    with pytest.raises(ValueError, match="read_text: expected UTF-8, got byte 0xfc at"):
        read_text(path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "missing")


def test_hamlet():
    train, test = Shakespeare(), Shakespear(train=False)
    assert Shakespear is Shakespeare
    assert len(train.indices) + len(test.indices) == 173_897
    assert 0.099 < len(test.indices) / 173_897 < 0.101
    text = train.decode(train.indices) + test.decode(test.indices)
    assert text.startswith("HAMLET, PRINCE OF DENMARK\n")
    assert "To be, or not to be,--that is the question:" in text
    assert train.vocab_size == test.vocab_size == len(set(text)) == 65


ERRORS = [
    (lambda: TextCorpus(""), "TextCorpus: expected at least two characters, got 0"),
    (lambda: TextCorpus("abcdef", train=False), "at least two characters, got 1"),
    (lambda: TextCorpus("abc", test_share=1), r"test_share in \[0, 1\), got 1"),
    (
        lambda: TextCorpus("abc", test_share=0).encode("ax"),
        "TextCorpus.encode: expected characters of the corpus, got 'x'",
    ),
    (
        lambda: TextCorpus("abc", test_share=0).decode([0, 3]),
        r"TextCorpus.decode: expected numbers in \[0, 3\), got 3",
    ),
]


@pytest.mark.parametrize("call, message", ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
