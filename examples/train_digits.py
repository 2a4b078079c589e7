"""Train a small network to read handwritten digits.

The data comes with DeZero: 1,797 images of 8x8 grey values, 360 of which the network
never sees in training. At the end the script prints which digits it took for which, and
draws how the loss fell and every digit that was misread.

Run it with `make demo`, or: python examples/train_digits.py [--out FILE]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import dezero as dz
import dezero.functions as F
from dezero import DataLoader
from dezero.datasets import Digits
from dezero.models import MLP
from dezero.optimizers import Adam

EPOCHS = 30
BATCH_SIZE = 32
HIDDEN_SIZE = 64
LEARNING_RATE = 0.002
BAR = "training |{bar}| {n_fmt}/{total_fmt} epochs, {elapsed}{postfix}"


def train(model, digits, test_digits):
    """Fit the model to the digits; return the losses of each epoch, [train, test]."""
    loader = DataLoader(digits, batch_size=BATCH_SIZE)
    optimizer = Adam(lr=LEARNING_RATE).setup(model)
    losses = []
    bar = tqdm(range(EPOCHS), ncols=88, bar_format=BAR)
    for _ in bar:
        total = 0.0
        for x, t in loader:
            y = model(F.flatten(x))  # (N, 1, 8, 8) -> (N, 64) -> (N, 10) scores
            loss = F.softmax_cross_entropy(y, t)
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
            total += float(loss) * len(t)
        test_loss, accuracy, _ = evaluate(model, test_digits)
        losses.append([total / len(digits), test_loss])
        bar.set_postfix(loss=f"{losses[-1][0]:.4f}", test_accuracy=f"{accuracy:.1%}")
    return np.array(losses)  # (EPOCHS, 2)


def evaluate(model, digits):
    """Return the mean loss, the share read rightly, and what each digit was read as."""
    x, t = digits.data, digits.label
    with dz.no_grad(), dz.test_mode():
        y = model(F.flatten(x))
        loss = F.softmax_cross_entropy(y, t)
        accuracy = F.accuracy(y, t)
    return float(loss), float(accuracy), y.data.argmax(axis=1)


def print_confusion(read_as, t):
    """Print how often each digit (row) was read as each digit (column)."""
    table = np.zeros((10, 10), dtype=int)
    np.add.at(table, (t, read_as), 1)
    print("\n  true |  read as " + " " * 33 + "rightly read")
    print("       | " + "".join(f"{digit:4}" for digit in range(10)))
    print("  -----+" + "-" * 55)
    for digit, row in enumerate(table):
        cells = "".join(f"{n:4}" if n else "   ." for n in row)
        print(f"  {digit:4} | {cells}{row[digit] / row.sum():11.1%}")


def draw(losses, digits, read_as, path):
    """Draw the loss curves and every misread digit into an image file."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subfigures(1, 2, wspace=0.05)

    axes = left.subplots()
    epochs = np.arange(1, len(losses) + 1)
    axes.semilogy(epochs, losses[:, 0], label="training digits")
    axes.semilogy(epochs, losses[:, 1], label="test digits")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(title="Cross-entropy", xlabel="epoch")
    axes.margins(x=0)
    axes.grid(alpha=0.3)
    axes.legend()

    misread = np.flatnonzero(read_as != digits.label)
    misread = misread[np.argsort(digits.label[misread], kind="stable")]
    columns = max(3, int(np.ceil(np.sqrt(1.5 * len(misread)))))
    rows = max(2, -(-len(misread) // columns))
    cells = right.subplots(rows, columns).ravel()
    right.suptitle(
        f"{len(misread)} of {len(digits)} test digits misread (true → read as)"
    )
    for cell in cells[len(misread) :]:
        cell.axis("off")
    for cell, i in zip(cells, misread, strict=False):
        cell.imshow(digits.data[i, 0], cmap="gray_r", vmin=0, vmax=1)
        cell.set_title(f"{digits.label[i]} → {read_as[i]}", fontsize=10)
        cell.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)


def main():
    """Train, measure on digits never seen, show what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", default="digits.png", help="the picture to write (digits.png)"
    )
    args = parser.parse_args()
    if not Path(args.out).absolute().parent.is_dir():  # better now than after training
        parser.error(f"--out: there is no folder for {args.out}")

    dz.use_pooled_malloc()
    dz.seed(0)
    digits, test_digits = Digits(train=True), Digits(train=False)
    model = MLP((HIDDEN_SIZE, 10), activation=F.relu)

    losses = train(model, digits, test_digits)
    _, accuracy, read_as = evaluate(model, test_digits)
    print_confusion(read_as, test_digits.label)
    print(f"\nTest accuracy: {accuracy:.1%} of {len(test_digits)} digits never seen")
    draw(losses, test_digits, read_as, args.out)
    print(f"Loss curves and misread digits: {args.out}")


if __name__ == "__main__":
    main()
