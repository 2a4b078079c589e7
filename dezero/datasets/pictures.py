"""Datasets of pictures: the digits of the package, and known ones to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from dezero import downloads
from dezero.datasets.archives import read_idx
from dezero.datasets.base import Dataset
from dezero.datasets.caching import discarded_if_damaged
from dezero.transforms import Compose, Flatten, Normalize, ToFloat


class Digits(Dataset):
    """Handwritten digits, 8x8 grey images: 1,437 to train on and 360 to test on.

    x is an image (1, 8, 8) float32 from 0 (paper) to 1 (ink), t the digit 0 to 9. They
    come with the package. The test part takes every fifth image of each digit, so both
    parts have all digits and all 13 writers alike.

    E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits (test part),
    UCI Machine Learning Repository, 1998, https://doi.org/10.24432/C50P49, CC BY 4.0.
    """

    def prepare(self) -> None:
        """Read the images and keep those of the part asked for."""
        path = resources.files("dezero") / "data" / "digits.npz"
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            data, label = archive["data"], archive["label"].astype(int)
        test = np.zeros(len(label), dtype=bool)
        test[np.argsort(label, kind="stable")[::5]] = True
        part = ~test if self.train else test
        # (N, 8, 8) -> (N, 1, 8, 8): one channel, as convolutions expect
        self.data = data[part, np.newaxis].astype(np.float32) / 16
        self.label = label[part]


# (1, H, W) integers from 0 to 255 -> (H * W,) float32 from 0 to 1
_SCALED = Compose([Flatten(), ToFloat(), Normalize(0.0, 255.0)])


class MNIST(Dataset):
    """Handwritten digits, 28x28 grey images: 60,000 to train on and 10,000 to test on.

    Downloaded on first use (11 MB). ``data`` is (N, 1, 28, 28) uint8 from 0 (paper) to
    255 (ink), ``label`` the digits. Read with the default transform, x is (784,)
    float32 from 0 to 1.

    Y. LeCun, C. Cortes and C. J. C. Burges, The MNIST database of handwritten digits.

    Args:
        train: The training part or the test part?
        transform: Applied to each x that is read; None leaves it as in ``data``.
        target_transform: Applied to each t that is read.

    Raises:
        ConnectionError: It could not be downloaded.
        ValueError: What came is damaged; it is removed.
    """

    # The first address is the source that keeps the files; the others have copies.
    urls: Sequence[str] = (
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    )
    # By part: images and labels.
    files: Mapping[bool, tuple[str, str]] = {
        True: ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        False: ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
    }
    sha256: Mapping[str, str] = {
        "train-images-idx3-ubyte.gz": (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
        ),
        "train-labels-idx1-ubyte.gz": (
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
        ),
    }

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = _SCALED,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(train, transform, target_transform)

    def prepare(self) -> None:
        """Download the files of the part asked for, and read them."""
        paths = [self._get(name) for name in self.files[self.train]]
        with discarded_if_damaged(*paths):
            data, label = [read_idx(path) for path in paths]
            if data.ndim != 3 or label.ndim != 1 or len(data) != len(label):
                raise ValueError(
                    f"{type(self).__name__}: expected images (N, H, W) and labels "
                    f"(N,), got shapes {data.shape} and {label.shape}"
                )
        self.data = data[:, np.newaxis]  # (N, H, W) -> (N, 1, H, W)
        self.label = label.astype(int)

    def _get(self, name: str) -> str:
        first, *mirrors = [url + name for url in self.urls]
        return downloads.get_file(first, None, self.sha256.get(name), mirrors)

    def show(self, row: int = 10, col: int = 10) -> None:
        """Draw pictures in ``row`` rows and ``col`` columns, drawn at random.

        Raises:
            ImportError: Matplotlib is not installed.
        """
        import matplotlib.pyplot as plt

        H, W = self.data.shape[2:]
        drawn = np.random.randint(0, len(self), row * col)
        # (row * col, 1, H, W) -> (row, col, H, W) -> (row * H, col * W)
        sheet = self.data[drawn, 0].reshape(row, col, H, W).transpose(0, 2, 1, 3)
        plt.imshow(sheet.reshape(row * H, col * W), cmap="gray")
        plt.axis("off")
        plt.show()

    @staticmethod
    def labels() -> dict[int, str]:
        """The names of the classes by number."""
        return {i: str(i) for i in range(10)}


class ImageNet:
    """The thousand classes of ImageNet (ILSVRC 2012). Its pictures are not for all."""

    @staticmethod
    def labels() -> dict[int, str]:
        """The names of the classes by number, such as ``"tench, Tinca tinca"`` for 0.

        They come with the package. Two are the same: ``"crane"``, a bird (134) and a
        machine (517).
        """
        path = resources.files("dezero") / "data" / "imagenet.txt"
        return dict(enumerate(path.read_text(encoding="utf-8").splitlines()))
