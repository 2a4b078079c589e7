"""PIL images and the way to arrays and back."""

import subprocess
import sys

import numpy as np
import pytest

from dezero.transforms import (
    CenterCrop,
    Compose,
    Convert,
    Normalize,
    Resize,
    ToArray,
    ToPIL,
)

Image = pytest.importorskip("PIL.Image")

PIXELS = np.random.RandomState(0).randint(0, 256, (5, 6, 3)).astype(np.uint8)  # H, W, C
PICTURE = Image.fromarray(PIXELS)
CHW = PIXELS.transpose(2, 0, 1)


def test_to_array():
    x = ToArray()(PICTURE)
    assert x.shape == (3, 5, 6) and x.dtype == np.float32 and x.flags.c_contiguous
    np.testing.assert_array_equal(x, CHW)
    assert ToArray(np.uint8)(PICTURE).dtype == np.uint8
    assert x.flags.writeable and ToArray(np.uint8)(PICTURE).flags.writeable
    assert ToArray()(x) is x
    assert ToArray(np.float64)(x).dtype == np.float64


@pytest.mark.parametrize(
    ("mode", "channels"),
    [("L", 1), ("1", 1), ("I", 1), ("F", 1), ("LA", 2), ("RGBA", 4), ("P", 3)],
)
def test_to_array_of_other_modes(mode, channels):
    x = ToArray()(PICTURE.convert(mode))
    assert x.shape == (channels, 5, 6) and x.dtype == np.float32


def test_palette_gives_its_colours():
    picture = Image.new("RGB", (6, 5), (255, 0, 51)).convert("P")
    x = ToArray()(picture)
    assert np.all(x == np.reshape([255, 0, 51], (3, 1, 1)))


def test_there_and_back():
    np.testing.assert_array_equal(np.asarray(ToPIL()(CHW)), PIXELS)
    np.testing.assert_array_equal(np.asarray(ToPIL()(ToArray()(PICTURE))), PIXELS)
    grey = ToPIL()(CHW[:1])
    assert grey.mode == "L" and grey.size == (6, 5)
    np.testing.assert_array_equal(np.asarray(grey), CHW[0])
    np.testing.assert_array_equal(np.asarray(ToPIL()(CHW[0])), CHW[0])
    rgba = np.concatenate([CHW, CHW[:1]])
    assert ToPIL()(rgba).mode == "RGBA"
    x = np.array([[[-3.0, 0.4, 0.6, 254.9, 300.0]]])
    assert np.asarray(ToPIL()(x)).tolist() == [[0, 0, 1, 255, 255]]


def test_convert():
    assert Convert()(PICTURE.convert("L")).mode == "RGB"
    assert Convert("L")(PICTURE).mode == "L"
    bgr = ToArray()(Convert("BGR")(PICTURE))
    np.testing.assert_array_equal(bgr, CHW[::-1])


def test_resize():
    assert Resize(4)(PICTURE).size == (4, 4)
    assert Resize((8, 3))(PICTURE).size == (8, 3)
    assert Resize([np.int64(8), 3])(PICTURE).size == (8, 3)
    expected = PICTURE.resize((8, 3), Image.Resampling.BILINEAR)
    assert Resize((8, 3))(PICTURE).tobytes() == expected.tobytes()
    nearest = Resize((12, 10), Image.Resampling.NEAREST)(PICTURE)
    np.testing.assert_array_equal(
        np.asarray(nearest), PIXELS.repeat(2, axis=0).repeat(2, axis=1)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, (6, 5), (1, 4), (4, 1)])
def test_center_crop(size):
    picture, x = CenterCrop(size)(PICTURE), CenterCrop(size)(CHW)
    W, H = size if isinstance(size, tuple) else (size, size)
    assert picture.size == (W, H)
    np.testing.assert_array_equal(ToArray(np.uint8)(picture), x)
    top, left = (5 - H) // 2, (6 - W) // 2
    np.testing.assert_array_equal(x, CHW[:, top : top + H, left : left + W])


def test_the_usual_chain():
    chain = Compose([Resize(8), CenterCrop(4), ToArray(), Normalize([1, 2, 3], 255)])
    assert chain(PICTURE).shape == (3, 4, 4) and chain(PICTURE).dtype == np.float32


ERRORS = [
    (lambda: ToArray()([1]), TypeError, "ToArray: expected a PIL image, got list$"),
    (
        lambda: Resize(3)(CHW),
        TypeError,
        r"Resize: expected a PIL image, got ndarray; ToPIL\(\) makes one",
    ),
    (lambda: Convert()(CHW), TypeError, "Convert: expected a PIL image, got ndarray;"),
    (
        lambda: Normalize()(PICTURE),
        TypeError,
        r"Normalize: expected an array, got Image; ToArray\(\) makes one",
    ),
    (lambda: ToPIL()(PICTURE), TypeError, "ToPIL: expected an array, got Image"),
    (lambda: ToPIL()(np.ones((2, 3, 3))), ValueError, r"ToPIL: .*\(2, 3, 3\)"),
    (lambda: ToPIL()(np.ones((1, 0, 3))), ValueError, r"ToPIL: .*\(1, 0, 3\)"),
    (lambda: ToPIL()(np.ones(3)), ValueError, r"ToPIL: .*shape \(3,\)"),
    (lambda: ToPIL()(np.full((2, 2), np.nan)), ValueError, "ToPIL: .*finite"),
    (lambda: CenterCrop(3)("a"), TypeError, "CenterCrop: .*array.*, got str"),
    (lambda: CenterCrop(3)(np.ones(3)), ValueError, r"CenterCrop: .*shape \(3,\)"),
    (
        lambda: CenterCrop((7, 5))(PICTURE),
        ValueError,
        "CenterCrop: .*at least 7 x 5, got 6 x 5; Resize comes first",
    ),
    (lambda: CenterCrop((6, 6))(CHW), ValueError, "at least 6 x 6, got 6 x 5"),
    (lambda: Resize(0), ValueError, "Resize: expected size .*positive.*got 0"),
    (lambda: Resize((1, 2, 3)), ValueError, r"Resize: .*got \(1, 2, 3\)"),
    (lambda: Resize(2.5), ValueError, "Resize: .*got 2.5"),
    (lambda: CenterCrop((3, -1)), ValueError, r"CenterCrop: .*got \(3, -1\)"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="ToPIL: expected the package Pillow, got no"):
        ToPIL()(CHW)


def test_pillow_is_imported_on_need_only():
    code = """
import sys, numpy as np
import dezero.transforms as T
chain = T.Compose([T.ToArray(), T.CenterCrop(2), T.RandomHorizontalFlip(1)])
chain(np.ones((3, 4, 4)))
assert not any(name.startswith("PIL") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
