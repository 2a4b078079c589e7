"""Plain data comes back from JSON and arrays with every type as it was."""

import collections
import enum
import http
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dezero.checkpoints.packing import pack, unpack
from dezero.core import Variable
from dezero.layers import Linear

from .runs import same


def again(x):
    return unpack(pack("test", {"x": x}))["x"]


ARRAYS = hnp.arrays(
    st.one_of(hnp.scalar_dtypes(), hnp.unicode_string_dtypes(max_len=3)),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters()),
    st.binary(max_size=9),
    ARRAYS,
    ARRAYS.filter(lambda x: x.size > 0).map(lambda x: x.flat[0]),
)
DATA = st.recursive(
    LEAVES,
    lambda x: st.one_of(
        st.lists(x, max_size=3),
        st.lists(x, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), x, max_size=3),
    ),
    max_leaves=12,
)


@given(DATA)
def test_any_plain_data(x):
    assert same(again(x), x)


@pytest.mark.parametrize(
    "x",
    [
        math.inf,
        -math.inf,
        -0.0,
        5e-324,
        2**64,
        -(2**70),
        10**6000,  # with more digits than Python writes in decimals
        True,
        np.True_,
        np.float32(0.1),
        np.float64(0.1),
        np.float64("nan"),
        np.int64(3),
        np.longdouble(1) / 3,
        np.str_("x"),
        np.bytes_(b"x"),
        np.datetime64("2020-01-01"),
        np.array(3.0),
        np.array([], np.int8),
        np.zeros(2, [("a", "f4"), ("b", "i8")]),
        np.zeros(2, [("a", "f4"), ("b", "i8")])[0],
        np.array([1.0, 2.0], ">f4"),
        "\ud800",
        "a\0b",
        {"dict": {"array": 0}, "": [(), [], {}]},
    ],
    ids=lambda x: str(type(x)),
)
def test_single_things(x):
    assert same(again(x), x)
    assert same(again({"a": [x, (x,)]}), {"a": [x, (x,)]})


def test_nan():
    assert type(again(math.nan)) is float and math.isnan(again(math.nan))


def test_arrays_keep_the_order_of_their_axes_and_can_be_written_to():
    x = again(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert x.flags.f_contiguous and x.flags.writeable
    x[0] = 1
    assert same(again(np.arange(12.0)[::-2]), np.arange(12.0)[::-2])


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_random_generators(bits):
    bits = getattr(np.random, bits)
    rng, legacy = np.random.Generator(bits(3)), np.random.RandomState(bits(4))
    rng.integers(9, dtype=np.int32)  # half of a word is left over
    legacy.standard_normal()  # as is one of two numbers
    rng.spawn(2)
    copied, copied_legacy = again([rng, legacy])
    assert type(copied) is np.random.Generator
    assert type(copied_legacy) is np.random.RandomState
    assert type(copied.bit_generator) is type(copied_legacy._bit_generator) is bits
    for a, b in (rng, copied), (legacy, copied_legacy):
        assert (a.standard_normal(5) == b.standard_normal(5)).all()
    assert rng.integers(9, dtype=np.int32) == copied.integers(9, dtype=np.int32)
    assert rng.spawn(1)[0].random() == copied.spawn(1)[0].random()


def test_a_generator_whose_seeds_are_unknown():
    class Seeds(np.random.bit_generator.ISeedSequence):
        def generate_state(self, n_words, dtype=np.uint32):
            return np.arange(1, n_words + 1, dtype=dtype)

    rng = np.random.Generator(np.random.PCG64(Seeds()))
    assert again(rng).random() == rng.random()


class Count(enum.IntEnum):
    ONE = 1


class Pair(tuple):
    pass


class Text(str):
    pass


class FloatOfMyOwn(float):
    pass


OTHERS = [
    ({1, 2}, "set"),
    (1j, "complex"),
    (object(), "object"),
    (Count.ONE, "Count"),
    (Pair((1, 2)), "Pair"),
    (Text("x"), "Text"),
    (FloatOfMyOwn(1.0), "FloatOfMyOwn"),
    (collections.OrderedDict(), "OrderedDict"),
    (np.array([None]), "ndarray of dtype object"),
    (np.zeros(1, [("a", object)]), r"ndarray of dtype \[\('a', 'O'\)\]"),
    (np.ma.masked_array([1]), "MaskedArray of dtype int64"),
    (len, "builtin_function_or_method"),
    (np.random, "module"),
]


@pytest.mark.parametrize("x, kind", OTHERS)
def test_what_is_not_plain_is_refused_with_its_place(x, kind):
    message = (
        r"^f: expected plain data \(None, bool, .* of these\), got {} in data"
        r"\['a'\]\[1\]\[0\](; \w+\(...\) makes it plain)?$"
    )
    with pytest.raises(TypeError, match=message.format(kind)):
        pack("f", {"data": {"a": [0, (x,)]}})


def test_what_to_do_instead_is_said():
    with pytest.raises(TypeError, match=r"got Variable in x\[0\]; save its data$"):
        pack("f", {"x": [Variable(np.ones(1))]})
    message = r"got Linear in x\[0\]; give an object with a state by a name of its own$"
    with pytest.raises(TypeError, match=message):
        pack("f", {"x": [Linear(2)]})
    with pytest.raises(TypeError, match=r"the class Linear in x; write Linear\(\)$"):
        pack("f", {"x": Linear})
    with pytest.raises(TypeError, match="got the class int in x$"):
        pack("f", {"x": int})


@pytest.mark.parametrize(
    "x, plain",
    [
        (collections.OrderedDict(a=1), "dict"),
        (collections.defaultdict(int), "dict"),
        (collections.namedtuple("Pair", "a b")(1, 2), "tuple"),
        (http.HTTPStatus.OK, "int"),
        (Text("k"), "str"),
    ],
)
def test_relatives_of_plain_data(x, plain):
    message = rf"got {type(x).__name__} in x; {plain}\(...\) makes it plain$"
    with pytest.raises(TypeError, match=message):
        pack("f", {"x": x})


@pytest.mark.parametrize("key", [1, None, Text("k"), ("a",)])
def test_keys_are_text(key):
    message = r"f: expected text for the keys of dicts, got \w+ .* in x\['a'\]$"
    with pytest.raises(TypeError, match=message):
        pack("f", {"x": {"a": {key: 1}}})


def test_what_contains_itself():
    x = [1]
    x.append({"x": x, "y": (x, x)})
    message = "f: expected data of at most 100 levels, got more .* in data$"
    with pytest.raises(ValueError, match=message):
        pack("f", {"data": x})
    deep = 1
    for _ in range(100):
        deep = [deep]
    assert same(again(deep), deep)
    with pytest.raises(ValueError, match="100 levels"):
        again([deep])


def changed(arrays, structure):
    text = json.dumps(structure).encode()
    return {**arrays, "structure": np.frombuffer(text, np.uint8)}


@pytest.mark.parametrize(
    "structure",
    [
        {"x": {"unknown": 1}},
        {"x": {"array": 7}},
        {"x": {}},
        {"x": {"array": 0, "dict": {}}},
        {"x": {"Generator": {"dict": {"state": {"dict": {"bit_generator": "os"}}}}}},
        [],
    ],
)
def test_what_pack_did_not_write(structure):
    arrays = pack("f", {"x": np.ones(1)})
    with pytest.raises((ValueError, KeyError, AttributeError)):
        unpack(changed(arrays, structure))


def test_the_text_can_be_read():
    arrays = pack("f", {"x": [1, (2.5, None)], "y": {"a": np.ones(1)}})
    assert json.loads(arrays["structure"].tobytes()) == {
        "x": [1, {"tuple": [2.5, None]}],
        "y": {"dict": {"a": {"array": 0}}},
    }
    assert list(arrays) == ["structure", "0"]
