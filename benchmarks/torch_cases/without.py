"""Functions that torch has nothing to compare with, and why."""

WITHOUT = {
    "accuracy": "torch itself has no metrics",
    "sinusoidal_encoding": "torch has no encoding of positions, and x + a table of "
    "constants is all there is to compare",
}
