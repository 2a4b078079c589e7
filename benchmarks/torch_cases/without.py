"""What torch has nothing to compare with, and why: functions, and what trains."""

METRIC = "a measure without gradient; torch itself has none"

WITHOUT = {
    "accuracy": METRIC,
    "confusion_matrix": METRIC,
    "f1_score": METRIC,
    "perplexity": METRIC,
    "precision": METRIC,
    "r2_score": METRIC,
    "recall": METRIC,
    "sinusoidal_encoding": "torch has no encoding of positions, and x plus a table of "
    "constants is all there is to compare",
    "top_k_accuracy": METRIC,
}

WITHOUT_TRAINING = {
    "GradientNoise": "torch has none, and random numbers of its own",
    "Lion": "torch has none",
    "Optimizer": "the base class, which has no rule",
    "Schedule": "the base class, which has no rate",
}
