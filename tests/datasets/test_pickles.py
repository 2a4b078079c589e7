"""Pickles as data: arrays come through, code does not."""

import os
import pickle

import numpy as np
import pytest

from dezero.datasets.pickles import unpickle_data

PROTOCOLS = range(6)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", ["u1", "<i4", ">i4", "<f8", ">f4", "?"])
def test_arrays(protocol, dtype):
    x = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    data = {b"data": x, b"labels": [3, 1], "name": ("a", b"b", None, 1.5, True)}
    found = unpickle_data(pickle.dumps(data, protocol))
    assert found.keys() == data.keys()
    assert found[b"labels"] == [3, 1] and found["name"] == data["name"]
    np.testing.assert_array_equal(found[b"data"], x)
    assert found[b"data"].dtype == x.dtype.newbyteorder("=")
    assert found[b"data"].flags.writeable


READ_ONLY = np.arange(3)
READ_ONLY.flags.writeable = False
SHAPES = {
    "C": np.arange(6).reshape(2, 3),
    "Fortran": np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3)),
    "other axes": np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    "steps": np.arange(12.0)[::-3],
    "0-d": np.array(3.5, np.float32),
    "empty": np.zeros((0, 3), ">i4"),
    "read-only": READ_ONLY,
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", SHAPES)
def test_how_arrays_lie_in_memory(name, protocol):
    x = SHAPES[name]
    found = unpickle_data(pickle.dumps(x, protocol))
    np.testing.assert_array_equal(found, x, strict=x.dtype.isnative)
    assert found.dtype == x.dtype.newbyteorder("=")
    assert found.flags.writeable and found.flags.c_contiguous and found.base is None


def test_pickle_of_python_2():
    # As cPickle wrote it: text is bytes, and so are the bytes of arrays.
    data = (
        b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03"
        b"cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05(K\x01K\x02K\x03\x86"
        b"cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNN"
        b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x06abcdeftbU\x06labels"
        b"]q\x08(K\x05K\x07eu."
    )
    found = unpickle_data(data)
    assert found[b"labels"] == [5, 7]
    assert found[b"data"].tolist() == [[97, 98, 99], [100, 101, 102]]


def test_text_of_python_2_that_is_not_ascii():
    # In protocol 0, which was its default, with escapes or as it is.
    assert unpickle_data(b"S'\\xe9\\x00a'\n.") == b"\xe9\x00a"
    assert unpickle_data(b"(dp0\nS'caf\xe9'\np1\nI2\ns.") == {b"caf\xe9": 2}
    state = b"(I1\n(I2\ntcnumpy\ndtype\n(S'u1'\nI0\nI1\ntRI00\nS'\\x80\xff'\ntb."
    start = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    assert unpickle_data(start + state).tolist() == [128, 255]
    refused(b"S'caf\xe9'\n")
    refused(b"S'caf\xe9")


class Runs:
    """A pickle that runs what it is told."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("function", [os.system, eval, exec, getattr, np.load, print])
def test_code_is_refused(tmp_path, protocol, function):
    mark = tmp_path / "was here"
    payload = pickle.dumps(
        {"data": Runs(function, f"open({str(mark)!r}, 'w')")}, protocol
    )
    with pytest.raises(ValueError, match="unpickle_data: .*got one with the name"):
        unpickle_data(payload)
    assert not mark.exists()


def refused(data, message=""):
    with pytest.raises(ValueError, match=f"unpickle_data: .*{message}"):
        unpickle_data(data)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.array([None, "a"], object), "O8"),
        (np.array(["a"]), "U1"),
        (np.array([b"a"]), "S1"),
        (np.zeros(2, [("a", int)]), "V8"),
        (np.zeros(2, "M8[s]"), "M8"),
        (np.zeros(2, complex), "c16"),
    ],
)
def test_arrays_of_other_things_than_numbers_are_refused(x, dtype, protocol):
    refused(pickle.dumps(x, protocol), f"got one with an array of dtype '{dtype}'")


ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(tR"


def test_functions_in_the_place_of_data_are_refused():
    refused(b"cnumpy\nndarray\n.", "a function in the place of data")
    refused(b"(lp0\ncnumpy\ndtype\na.", "a function in the place of data")
    for as_set in b"\x90", b"\x91":
        start = b"\x80\x04\x8f(" if as_set == b"\x90" else b"\x80\x04("
        refused(start + b"cnumpy\ndtype\n" + as_set + b".", "a function in the place")
        refused(start + ARRAY + as_set + b".")  # no set of Python holds an array
        assert unpickle_data(start + b"K\x01" + as_set + b".") == {1}
    # BUILD would set attributes of what it finds.
    refused(b"\x80\x02cnumpy\ndtype\nN}U\x01aK\x01s\x86b.", "")
    refused(b"\x80\x02cnumpy\ndtype\n}U\x05_callK\x01sb.", "")
    assert unpickle_data(pickle.dumps(np.ones(2), 2)).tolist() == [1, 1]


def test_names_by_other_ways_are_refused():
    refused(
        b"\x80\x04\x8c\x05numpy\x8c\x0edtype.__init__\x93.", "the name numpy.dtype."
    )
    refused(b"Psomething\n.", "a reference to something outside")
    refused(b"\x80\x02\x82\x01.")  # the registry of extensions
    refused(b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x04\x00\x00\x00zlib\x86R.")


BUFFER = b"\x80\x05cnumpy._core.numeric\n_frombuffer\n"
BYTES = b"\x96\x04\0\0\0\0\0\0\0abcd"  # BYTEARRAY8
DTYPE = b"cnumpy\ndtype\n\x8c\x02u1\x85R"
SHAPE = b"K\x02K\x02\x86"


def test_buffers_of_protocol_5():
    order = b"\x8c\x01C"
    for name in BUFFER, BUFFER.replace(b"_core", b"core"):  # of NumPy 1
        found = unpickle_data(name + b"(" + BYTES + DTYPE + SHAPE + order + b"tR.")
        assert found.tolist() == [[97, 98], [99, 100]]
    for parts, message in [
        ((b"K\x09", DTYPE, SHAPE, order), "an array of objects"),  # room for nine
        ((b"]", DTYPE, SHAPE, order), "an array of objects"),
        ((BYTES, b"\x8c\x01O", SHAPE, order), "an array of objects"),
        ((BYTES, b"cnumpy\ndtype\n", SHAPE, order), "an array of objects"),
        ((BYTES, DTYPE, b"K\x05\x85", order), "cannot reshape"),
        ((BYTES, DTYPE, SHAPE, b"\x8c\x01A"), "an array of order 'A', axes None"),
        ((BYTES, DTYPE, SHAPE, b"K\x01"), "an array of order 1, axes None"),
        ((BYTES, DTYPE, SHAPE, b"\x8c\x01K"), "an array of order 'K', axes None"),
        ((BYTES, DTYPE, SHAPE, order, SHAPE), r"an array of order 'C', axes \(2, 2\)"),
        ((BYTES, DTYPE, SHAPE, b"\x8c\x01K", SHAPE), "axis 2 is out of bounds"),
        ((BYTES, DTYPE, SHAPE), "missing 1 required"),
        ((), "missing 4 required"),
    ]:
        refused(BUFFER + b"(" + b"".join(parts) + b"tR.", message)
    refused(b"\x80\x05\x97.", "out-of-band")  # NEXT_BUFFER
    refused(BUFFER + b"}\x8c\x05valueK\x01sb.", "")  # BUILD on the function


def test_bytes_are_made_of_nothing_only():
    assert unpickle_data(pickle.dumps(b"", 2)) == b""
    refused(b"\x80\x02c__builtin__\nbytes\nJ\xff\xff\xff\x7f\x85R.", "takes 0 .* argum")
    refused(b"\x80\x04cbuiltins\nbytes\n)R.", "the name builtins.bytes")


@pytest.mark.parametrize(
    "array",
    [
        BUFFER[2:] + b"(h\0" + DTYPE + b"M\xe8\x03\x85\x8c\x01CtR",
        ARRAY + b"(K\x01M\xe8\x03\x85" + DTYPE + b"\x89h\0tb",
    ],
)
def test_many_arrays_of_the_same_bytes_are_refused(array):
    # A true pickle has the bytes of each array; a made-up one names some again.
    start = b"\x80\x05\x96" + (1000).to_bytes(8, "little") + bytes(1000) + b"q\0]("
    assert [x.size for x in unpickle_data(start + array + b"e.")] == [1000]
    refused(start + 20 * array + b"e.", "more bytes in it than it has")
    many = [np.zeros(1000)] * 20  # one array, which has its bytes once
    assert len({id(x) for x in unpickle_data(pickle.dumps(many))}) == 1


def test_much_of_the_same_text_is_refused():
    # Bytes for Python 2 are text, of which each call would make bytes anew.
    call = b"h\x01h\x00\x85R"
    start = b"\x80\x02X\xe8\x03\0\0" + 1000 * b"a" + b"q\0c_codecs\nencode\nq\1]("
    assert unpickle_data(start + call + b"e.") == [1000 * b"a"]
    refused(start + 20 * call + b"e.", "more bytes in it than it has")
    text = b"\x80\x02X\xe8\x03\0\0" + 1000 * b"a" + b"q\0]("
    array = ARRAY + b"(K\x01M\xe8\x03\x85cnumpy\ndtype\nU\x02u1\x85R\x89h\0tb"
    refused(text + 20 * array + b"e.", "more bytes in it than it has")
    many = {b"\xff" + bytes([i]): bytes([i]) for i in range(256)}
    for protocol in PROTOCOLS:
        assert unpickle_data(pickle.dumps(many, protocol)) == many
    refused(b"\x80\x02c_codecs\nencode\nK\x01\x85R.", "1 in the place of text")


def doubled(times):
    """Steps that make a tuple of the same tuple twice, of that one twice, ..."""
    steps = [b"h" + bytes([i, ord("h"), i]) + b"\x86q" + bytes([i + 1])
             for i in range(times)]  # fmt: skip
    return b")q\0" + b"".join(steps)


@pytest.mark.parametrize(
    "call",
    [
        b"cnumpy\ndtype\nh\x50\x85R",
        b"c_codecs\nencode\nh\x50\x85R",
        b"c_codecs\nencode\n(X\x01\0\0\0ah\x50tR",
        BUFFER[2:] + b"(" + BYTES + DTYPE + SHAPE + b"h\x50tR",
        BUFFER[2:] + b"(" + BYTES + DTYPE + SHAPE + b"\x8c\x01Ch\x50tR",
        BUFFER[2:] + b"(" + BYTES + DTYPE + b"h\x50\x8c\x01CtR",
        BUFFER[2:] + b"(" + BYTES + DTYPE + SHAPE + b"\x8c\x01Kh\x50tR",
    ],
)
def test_what_has_no_end_is_not_written_out_in_messages(call):
    refused(b"\x80\x05" + doubled(80) + call + b".")


@pytest.mark.parametrize("name", ["i,i", "b,S", "f,O", "f", "i4", "u1", "b1"])
def test_names_of_dtypes(name):
    dtype = b"cnumpy\ndtype\n\x8c" + bytes([len(name)]) + name.encode() + b"\x85R"
    data = BUFFER + b"(" + BYTES + dtype + b"J\xff\xff\xff\xff\x85\x8c\x01CtR."
    if "," in name:  # one number after another would be an array of records
        refused(data, f"an array of dtype '{name}'")
    else:
        assert unpickle_data(data).dtype == name


def test_array_that_lacks_bytes():
    data = pickle.dumps(np.arange(6, dtype=np.uint8).reshape(2, 3), 2)
    shape = data.replace(b"K\x02K\x03\x86", b"K\x02K\x04\x86")
    assert shape != data
    refused(shape, "cannot reshape")


@pytest.mark.parametrize(
    "step",
    [
        b"r\xff\xff\xff\xff",  # LONG_BINPUT: room for 64 GB of places
        b"r\x00\x00\x00\x10",
        b"q\xff",
        b"p99999999999\n",
        b"p4\n",
    ],
)
def test_places_that_no_true_pickle_has(step):
    refused(b"\x80\x02]" + step + b".", "a place [0-9]+ to remember something at")


def test_places_may_be_counted_from_one_as_python_2_does():
    assert unpickle_data(b"(lp1\nI5\naS'a'\np2\na.") == [5, b"a"]
    assert unpickle_data(b"\x80\x02]q\x01(K\x05U\x01aq\x02e.") == [5, b"a"]
    many = [str(i) for i in range(1000)]
    for protocol in PROTOCOLS:
        assert unpickle_data(pickle.dumps(many, protocol)) == many


@pytest.mark.parametrize("opcode", [b"\x96", b"\x8e", b"\x8d"])  # BYTEARRAY8, ...
@pytest.mark.parametrize("length", [10, 2**40, 2**62, 2**64 - 1])
def test_lengths_beyond_the_end(opcode, length):
    refused(b"\x80\x05" + opcode + length.to_bytes(8, "little") + b"abc.")


def test_lists_of_the_same_list_do_not_multiply():
    x = []
    for _ in range(100):
        x = [x, x]
    found = unpickle_data(pickle.dumps(x, 2))
    for _ in range(100):
        assert found[0] is found[1]
        found = found[0]
    assert found == []
    shared = np.arange(3)
    a, b = unpickle_data(pickle.dumps((shared, {"x": shared}), 2))
    assert a is b["x"]


def test_a_list_that_holds_itself_is_refused():
    x = []
    x.append(x)
    refused(pickle.dumps(x, 2), "")


WHOLE = pickle.dumps({b"data": np.arange(100), b"labels": list(range(9))}, 2)


def test_damaged_pickles():
    for length in range(len(WHOLE)):
        refused(WHOLE[:length])
    rng = np.random.RandomState(0)
    for _ in range(300):
        damaged = bytearray(WHOLE)
        for place in rng.randint(0, len(WHOLE), 3):
            damaged[place] = rng.randint(256)
        try:
            unpickle_data(bytes(damaged))  # a changed number is no damage one can see
        except ValueError:
            pass
