"""Teach a small network to write like Shakespeare, one character at a time.

The text comes with DeZero: Hamlet, 173,897 characters, the last tenth of which the
network never sees in training. At the end the script compares how well the network
foretells each of those characters with a table of which character follows which (a
bigram model), and lets the network write. The loss is the mean of -log(p), p being the
probability that was given to the character that came; lower is better. With 600 steps
this takes half a minute to a minute on one core.

Run it with: python examples/write_shakespeare.py [--model gpt|rnn] [--steps N]
"""

import argparse

import numpy as np
from tqdm import tqdm

import dezero as dz
import dezero.functions as F
from dezero.datasets import Shakespeare
from dezero.models import GPT, CharRNN
from dezero.optimizers import AdamW, CosineLR

STEPS = 600
LEARNING_RATE = {"gpt": 4e-3, "rnn": 8e-3}
BATCH_SIZE = 32
LENGTH = 48  # characters that are read in one piece
SMOOTHING = 0.1  # how often each pair of characters counts as seen beforehand
BAR = "training |{bar}| {n_fmt}/{total_fmt} steps, {elapsed}{postfix}"


def make(name, size):
    """A new model for a text of ``size`` different characters."""
    if name == "gpt":
        return GPT(size, context=LENGTH, width=96, layers=2, heads=4, dropout=0.1)
    return CharRNN(size, hidden_size=192, embedding_size=32, dropout=0.2)


def train(model, ids, steps, lr):
    """Fit the model to pieces of the text from random places."""
    optimizer = AdamW(lr, beta2=0.98).setup(model)
    schedule = CosineLR(optimizer, steps, warmup=min(50, steps // 10))
    bar = tqdm(range(steps), ncols=88, bar_format=BAR)
    for step in bar:
        starts = np.random.randint(0, len(ids) - LENGTH, BATCH_SIZE)
        piece = ids[starts[:, None] + np.arange(LENGTH + 1)]  # (N, T + 1)
        y = model(piece[:, :-1])  # (N, T, V) scores of what follows each character
        loss = F.softmax_cross_entropy(y, piece[:, 1:], axis=-1)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()
        schedule.step()
        if step % 10 == 0:
            bar.set_postfix(loss=f"{float(loss):.3f}")


def validation_loss(model, ids):
    """The loss on a text never seen, read piece by piece."""
    N = (len(ids) - 1) // LENGTH
    x, t = [ids[i : i + N * LENGTH].reshape(N, LENGTH) for i in (0, 1)]
    with dz.no_grad(), dz.test_mode():
        return float(F.softmax_cross_entropy(model(x), t, axis=-1))


def bigram_loss(seen, ids, size):
    """The loss, on the same characters, of counts of pairs in the text seen."""
    counts = np.full((size, size), SMOOTHING)
    np.add.at(counts, (seen[:-1], seen[1:]), 1)
    p = counts / counts.sum(axis=1, keepdims=True)
    end = (len(ids) - 1) // LENGTH * LENGTH
    return -np.log(p[ids[:end], ids[1 : end + 1]]).mean()


def main():
    """Train, measure on text never seen, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["gpt", "rnn"], default="gpt")
    parser.add_argument("--steps", type=int, default=STEPS, help="to train (600)")
    parser.add_argument("--length", type=int, default=500, help="characters to write")
    parser.add_argument("--prompt", default="Ham.\n", help="what the text begins with")
    parser.add_argument("--temperature", type=float, default=0.8, help="0 is greedy")
    args = parser.parse_args()
    if args.steps < 1:
        parser.error(f"--steps: expected at least 1, got {args.steps}")

    dz.use_pooled_malloc()
    dz.seed(0)
    text, test = Shakespeare(), Shakespeare(train=False)
    size = text.vocab_size
    model = make(args.model, size)
    prompt = prompt_ids(parser, text, args)

    train(model, text.indices, args.steps, LEARNING_RATE[args.model])
    loss = validation_loss(model, test.indices)
    bigram = bigram_loss(text.indices, test.indices, size)
    print(f"\nValidation loss: {loss:.3f} of {type(model).__name__}")
    print(f"                 {bigram:.3f} of a bigram model\n")
    ids = model.generate(prompt, args.length, args.temperature, seed=0)
    print(text.decode(ids))


def prompt_ids(parser, text, args):
    """The numbers of the prompt; what is wrong is said now, not after training."""
    if args.prompt == "" or args.length < 0 or not 0 <= args.temperature < np.inf:
        parser.error("expected a prompt, --length >= 0 and a finite --temperature >= 0")
    try:
        return text.encode(args.prompt)
    except ValueError as error:
        parser.error(f"--prompt: {error}")


if __name__ == "__main__":
    main()
