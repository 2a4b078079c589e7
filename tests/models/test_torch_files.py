"""Files of torch.save in its old format: tensors come through, code does not."""

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from dezero.models.torch_files import read_torch_file

MAGIC = 0x1950A86A20F9469CFC6C
SYSTEM = {
    "protocol_version": 1001,
    "little_endian": True,
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}
STORAGES = {
    np.dtype(bool): "Bool",
    np.dtype(np.uint8): "Byte",
    np.dtype(np.int8): "Char",
    np.dtype(np.int16): "Short",
    np.dtype(np.int32): "Int",
    np.dtype(np.int64): "Long",
    np.dtype(np.float16): "Half",
    np.dtype(np.float32): "Float",
    np.dtype(np.float64): "Double",
}


class Global:
    """Something that a pickle calls by name."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Calls:
    """What such a call gives."""

    def __init__(self, function, *args):
        self.function, self.args = function, args


class Reference:
    """Something outside of the pickle."""

    def __init__(self, *pid):
        self.pid = pid


class Writer(pickle._Pickler):
    """A pickler that writes names which need not exist here."""

    def persistent_id(self, x):
        return x.pid if isinstance(x, Reference) else None

    def save(self, x, save_persistent_id=True):
        if isinstance(x, Global):
            self.write(f"c{x.module}\n{x.name}\n".encode())
        elif isinstance(x, Calls):
            self.save(x.function)
            self.save(x.args)
            self.write(pickle.REDUCE)
        else:
            super().save(x, save_persistent_id)


def pickled(x):
    stream = io.BytesIO()
    Writer(stream, protocol=2).dump(x)
    return stream.getvalue()


def storage(key, size, kind="Float", *rest):
    return Reference(
        "storage", Global("torch", f"{kind}Storage"), key, "cpu", size, *rest
    )


def tensor(stored, offset, shape, strides):
    rebuild = Global("torch._utils", "_rebuild_tensor_v2")
    return Calls(rebuild, stored, offset, shape, strides, False, OrderedDict())


def legacy(state, storages, magic=MAGIC, version=1001, system=SYSTEM, keys=None):
    """The bytes of a file: storages are bytes or arrays by key."""
    parts = [pickled(x) for x in (magic, version, system, state)]
    parts.append(pickled(list(storages) if keys is None else keys))
    for x in storages.values():
        parts += [struct.pack("<q", len(x)), x.tobytes()]
    return b"".join(parts)


def arrays_as_file(arrays):
    """A file of arrays, each in a storage of its own."""
    state, storages = OrderedDict(), {}
    for i, (name, x) in enumerate(arrays.items()):
        strides = tuple([s // x.itemsize for s in x.strides])
        stored = storage(str(i), x.size, STORAGES[x.dtype], None)
        state[name] = tensor(stored, 0, x.shape, strides)
        storages[str(i)] = x.ravel()
    return legacy(state, storages)


@pytest.fixture
def read(tmp_path):
    def read(data):
        path = tmp_path / "weights.pth"
        path.write_bytes(data)
        return read_torch_file(path)

    return read


@pytest.fixture
def refused(read):
    def refused(data, message=""):
        with pytest.raises(ValueError, match=rf"(?s)^read_torch_file: .*{message}"):
            read(data)

    return refused


NUMBERS = np.arange(12, dtype=np.float32)


def one(offset=0, shape=(12,), strides=(1,), size=12, data=NUMBERS, **options):
    """A file of one tensor."""
    state = {"x": tensor(storage("0", size), offset, shape, strides)}
    return legacy(state, {"0": data}, **options)


# ---- what comes through --------------------------------------------------------------


@pytest.mark.parametrize("dtype", STORAGES)
def test_dtypes(read, dtype):
    x = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    found = read(arrays_as_file({"x": x, "last": np.ones(1, np.int64)}))
    assert list(found) == ["x", "last"]
    np.testing.assert_array_equal(found["x"], x)
    assert found["x"].dtype == x.dtype and found["x"].dtype.isnative
    assert found["x"].flags.writeable and found["x"].flags.c_contiguous


def test_shapes(read):
    arrays = {
        "scalar": np.array(3.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "one": np.ones((1, 1, 1), np.float32),
    }
    for name, x in read(arrays_as_file(arrays)).items():
        np.testing.assert_array_equal(x, arrays[name], strict=True)


def test_views_of_one_storage(read):
    stored = storage("a", 12)
    state = {
        "whole": tensor(stored, 0, (3, 4), (4, 1)),
        "transposed": tensor(stored, 0, (4, 3), (1, 4)),
        "part": tensor(stored, 5, (2, 2), (4, 1)),
        "repeated": tensor(stored, 2, (2, 3), (0, 1)),
        "number": tensor(stored, 11, (), ()),
    }
    found = read(legacy(state, {"a": NUMBERS}))
    x = NUMBERS.reshape(3, 4)
    np.testing.assert_array_equal(found["whole"], x)
    np.testing.assert_array_equal(found["transposed"], x.T)
    np.testing.assert_array_equal(found["part"], x[1:, 1:3])
    np.testing.assert_array_equal(found["repeated"], [[2, 3, 4], [2, 3, 4]])
    assert found["number"] == 11 and found["number"].shape == ()
    # None shares memory with another, nor any element with itself.
    found["whole"][:] = -1
    found["repeated"][0] = 7
    np.testing.assert_array_equal(found["transposed"], x.T)
    np.testing.assert_array_equal(found["repeated"][1], [2, 3, 4])


def test_storages_in_another_order(read):
    state = {
        "x": tensor(storage("first", 2), 0, (2,), (1,)),
        "y": tensor(storage("second", 3, "Long"), 0, (3,), (1,)),
    }
    numbers = {"second": np.array([7, 8, 9]), "first": NUMBERS[:2]}
    found = read(legacy(state, numbers))
    np.testing.assert_array_equal(found["x"], [0, 1])
    np.testing.assert_array_equal(found["y"], [7, 8, 9])


def test_parameters_and_attributes_of_the_dict(read):
    # A state_dict carries the versions of its layers as an attribute.
    state = OrderedDict(x=tensor(storage("0", 12), 0, (12,), (1,)))
    state._metadata = OrderedDict([("", {"version": 1})])
    assert list(read(legacy(state, {"0": NUMBERS}))) == ["x"]
    rebuild = Global("torch._utils", "_rebuild_parameter")
    state = {"x": Calls(rebuild, state["x"], True, OrderedDict())}
    np.testing.assert_array_equal(read(legacy(state, {"0": NUMBERS}))["x"], NUMBERS)


def test_file_without_tensors(read):
    assert read(legacy({}, {})) == {}


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_torch_file(tmp_path / "none.pth")


# ---- code ----------------------------------------------------------------------------


class Runs:
    """A pickle that runs what it is told."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("function", [os.system, eval, exec, getattr, np.load, print])
@pytest.mark.parametrize("place", range(5))
def test_code_is_refused_wherever_it_stands(tmp_path, refused, function, place):
    mark = tmp_path / "was here"
    payload = Runs(function, f"open({str(mark)!r}, 'w')")
    parts = [MAGIC, 1001, SYSTEM, {"x": tensor(storage("0", 1), 0, (1,), (1,))}, ["0"]]
    parts[place] = {"x": payload} if place == 3 else payload
    data = b"".join([pickled(x) for x in parts]) + struct.pack("<qf", 1, 1)
    refused(data, "with the name ")
    assert not mark.exists()


@pytest.mark.parametrize("function", [os.system, eval])
def test_code_in_the_arguments_is_refused(tmp_path, refused, function):
    mark = tmp_path / "was here"
    payload = Runs(function, f"open({str(mark)!r}, 'w')")
    for x in (
        tensor(payload, 0, (1,), (1,)),
        tensor(storage("0", 1), payload, (1,), (1,)),
        Reference("storage", payload, "0", "cpu", 1),
    ):
        refused(legacy({"x": x}, {"0": NUMBERS[:1]}), "with the name ")
    assert not mark.exists()


@pytest.mark.parametrize(
    "name",
    [
        ("torch", "load"),
        ("torch", "BFloat16Storage"),
        ("torch._utils", "_rebuild_tensor_v2.__globals__"),
        ("torch.nn.modules.linear", "Linear"),
        ("collections", "defaultdict"),
        ("builtins", "str"),
    ],
)
def test_other_names_are_refused(refused, name):
    refused(legacy({"x": Global(*name)}, {}), f"with the name {'.'.join(name)}")


def test_changes_of_what_stands_for_functions_are_refused(read, refused):
    change = b"}U\x05_callK\x01sb"
    for name in "torch._utils\n_rebuild_tensor_v2", "torch\nFloatStorage":
        state = b"\x80\x02c" + name.encode() + b"\n" + change + b"."
        head = b"".join([pickled(x) for x in (MAGIC, 1001, SYSTEM)])
        refused(head + state + pickled([]))
    assert list(read(one())) == ["x"]


# ---- formats -------------------------------------------------------------------------


def test_the_zip_format_is_named(tmp_path):
    path = tmp_path / "new.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled({}))
    with pytest.raises(ValueError, match=r"new\.pth.* the zip format of PyTorch 1\.6"):
        read_torch_file(path)


def test_arrays_of_numpy_are_named(tmp_path):
    np.savez(tmp_path / "w.npz", W=np.ones(2))
    message = r"w\.npz', with arrays in the format \.npz; load_weights reads weights$"
    with pytest.raises(ValueError, match=message):
        read_torch_file(tmp_path / "w.npz")


def test_other_formats(refused):
    refused(b"", "another beginning, b''")
    refused(b"\x93NUMPY\x01\x00", "another beginning")
    refused(pickled({"x": 1}), "another beginning")
    refused(one(magic=MAGIC + 1), "another beginning")
    refused(one(version=1002), "version 1002 of the format, not 1001")
    system = SYSTEM | {"little_endian": False}
    refused(one(system=system), "numbers whose first byte is the highest")


@pytest.mark.parametrize(
    "state",
    [[], None, {"x": 3}, {3: tensor(storage("0", 12), 0, (12,), (1,))}],
)
def test_other_contents(refused, state):
    refused(legacy(state, {}), "something else than tensors by name")


def test_a_tensor_without_storage(refused):
    message = "something else than tensors by name"
    refused(legacy({"x": tensor("0", 0, (1,), (1,))}, {}), message)


# ---- numbers that are not true -------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (13,), (1,)),
        (1, (12,), (1,)),
        (12, (), ()),
        (2**70, (1,), (1,)),
        (0, (3, 4), (5, 1)),
        (0, (2,), (2**63,)),
        (0, (2**40,), (0,)),  # a terabyte out of one number
        (0, (2**40, 2**40), (0, 0)),
        (0, (2**70, 2**70), (1, 1)),
    ],
)
def test_elements_beyond_the_storage(refused, offset, shape, strides):
    refused(one(offset, shape, strides), "12 numbers for x of offset")


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (-1, (1,), (1,)),
        (0, (-1,), (1,)),
        (11, (2,), (-1,)),
        (0, (2, 2), (1,)),
        (0, (True,), (1,)),
        (0.0, (1,), (1,)),
        (None, (1,), (1,)),
        (0, [1], (1,)),
        (0, (1,), 1),
        (0, ("1",), (1,)),
    ],
)
def test_offset_shape_and_strides_of_other_kinds(refused, offset, shape, strides):
    refused(one(offset, shape, strides), "the offset .* and strides .* of x")


def test_shapes_that_no_array_has(refused):
    refused(one(0, (0, 2**70), (1, 1)))
    refused(one(0, (1,) * 100, (1,) * 100))


@pytest.mark.parametrize("size", [11, 13, 2**31, 2**62, 2**70, -1])
def test_storage_of_another_size_than_it_says(refused, size):
    refused(one(size=size), f"12 numbers in the place of {size}")


@pytest.mark.parametrize("size", [13, 2**40, 2**62, -1])
def test_storage_of_more_numbers_than_there_are(refused, size):
    data = one(size=size)
    head, _, numbers = data.rpartition(struct.pack("<q", 12))
    refused(head + struct.pack("<q", size) + numbers, f"48 bytes in the .* {size} num")


def test_storages_that_do_not_fit_the_tensors(refused):
    message = "storages that are not those of the tensors"
    refused(one(keys=[]), message)
    refused(one(keys=["0", "0"]), message)
    refused(one(keys=["1"]), message)
    refused(one(keys=7))
    refused(one(keys=[0]))
    state = {
        "x": tensor(storage("0", 12), 0, (1,), (1,)),
        "y": tensor(storage("0", 12, "Int"), 0, (1,), (1,)),
    }
    refused(legacy(state, {"0": NUMBERS}), "two storages of the key '0'")


@pytest.mark.parametrize(
    "pid",
    [
        (),
        ("module", 1),
        ("storage", Global("torch", "FloatStorage"), "0", "cpu"),
        ("storage", "<f4", "0", "cpu", 1),
        ("storage", Global("torch", "FloatStorage"), 0, "cpu", 1),
        ("storage", Global("torch", "FloatStorage"), "0", "cpu", "1"),
        ("storage", Global("torch", "FloatStorage"), "0", "cpu", 1, ("1", 0, 1)),
    ],
)
def test_unknown_references(refused, pid):
    refused(legacy({"x": Reference(*pid)}, {}), "a reference to something unknown")


@pytest.mark.parametrize(
    "program",
    [
        b"]r\xff\xff\xff\xff.",  # LONG_BINPUT: remember at place 2**32 - 1
        b"]r\x00\x00\x00\x40.",
        b"]p4294967295\n.",
    ],
)
def test_a_place_to_remember_that_needs_gigabytes(refused, program):
    refused(b"\x80\x02" + program, "a place .* to remember something at")


@pytest.mark.parametrize(
    "program",
    [
        b"X\xff\xff\xff\xffabc.",  # text of 4 GB
        b"\x8e" + b"\xff" * 7 + b"\x7fabc.",  # bytes
        b"\x96" + b"\xff" * 7 + b"\x7fabc.",  # a bytearray
        b"\x95" + b"\xff" * 7 + b"\x7fabc.",  # a frame
        b"\x8b\xff\xff\xff\x7fabc.",  # an integer
        b"(" * 10_000,
        b"0.",
        b"h\x07.",
    ],
)
def test_programs_that_are_damaged(refused, program):
    refused(b"\x80\x02" + program)


WHOLE = arrays_as_file({"x": NUMBERS[:4].reshape(2, 2), "y": np.arange(3)})


def test_truncated_files(read, refused):
    assert len(read(WHOLE)) == 2
    for length in range(len(WHOLE)):
        refused(WHOLE[:length])
    refused(WHOLE + b"\x00", "1 bytes after its end")


def test_damaged_files(read):
    rng = np.random.RandomState(0)
    for _ in range(300):
        damaged = bytearray(WHOLE)
        for place in rng.randint(0, len(WHOLE), 3):
            damaged[place] = rng.randint(256)
        try:
            read(bytes(damaged))  # a changed number is no damage one can see
        except ValueError as error:
            assert str(error).startswith("read_torch_file: expected")


def test_what_has_no_end_is_neither_compared_nor_written_out(refused):
    def doubled():
        x = ()
        for _ in range(100):
            x = x, x
        return x

    refused(one(version=doubled()), "version .* of the format, not 1001")
    refused(one(shape=doubled()), "the offset 0, shape .* and strides")
    refused(one(offset=doubled()), "the offset .* and strides .* of x")
    refused(one(keys=[doubled(), doubled()]), "a list of storages that are not those")
