"""Losses: of regression, of classes, of yes and no, of pairs and triplets."""

import numpy as np
import torch

from torch_cases.case import booleans, case, integers, normal, positive, uniform

nn = torch.nn.functional
REDUCTIONS = ("mean", "sum", "none")


def per_element(function, peer, x, t, order=2, **options):
    """Losses that DeZero averages over the first axis only: in all their reductions.

    The simple forms have none to choose from.
    """
    names = ["mean"] if function.endswith("_simple") else REDUCTIONS

    def theirs(reduction):
        def loss(x, t):
            if reduction != "mean":
                return getattr(nn, peer)(x, t, reduction=reduction, **options)
            return getattr(nn, peer)(x, t, reduction="sum", **options) / len(x)

        return loss

    return [
        case(
            function,
            f"nn.functional.{peer}" + (" / N" if name == "mean" else ""),
            x,
            t,
            ours=options if len(names) == 1 else {**options, "reduction": name},
            as_theirs=theirs(name),
            order=order,
        )
        for name in names
    ]


def probabilities(*shape):
    return uniform(0.02, 0.98, *shape)


def of_probabilities(function, *shape):
    """Of order 1, and by formula of order 2.

    The second derivatives of torch's own function differ by what they add to
    denominators, 1e-12.
    """
    p, t = probabilities(*shape), probabilities(*shape)

    def formula(p, t):
        return -(t * p.log() + (1 - t) * (1 - p).log()).sum() / len(p)

    return [
        *per_element(function, "binary_cross_entropy", p, t, order=1),
        case(
            function,
            "-sum(t * log(p) + (1 - t) * log(1 - p)) / N",
            p,
            t,
            as_theirs=formula,
        ),
    ]


def shares(*shape):
    """Probabilities of classes along axis 1."""
    p = positive(*shape)
    return p / p.sum(axis=1, keepdims=True)


def of_classes(function, peer, x, t, **options):
    """A loss of labels, by our names and by torch's."""
    names = {"class_weights": "weight", "ignore_label": "ignore_index"}
    return case(
        function,
        f"nn.functional.{peer}",
        x,
        ours={"t": t, **options},
        theirs={"target": t, **{names.get(k, k): v for k, v in options.items()}},
    )


def log_shares(*shape):
    return np.log(shares(*shape))


def focal_by_formula(x, t, alpha=0.25, gamma=2.0):
    t = t.to(x.dtype)
    q = torch.sigmoid(x * (2 * t - 1))
    a = alpha * t + (1 - alpha) * (1 - t)
    return (-a * (1 - q) ** gamma * q.log()).sum() / len(x)


WEIGHTS = positive(4)
LABELS, MAP = integers(4, 7), integers(4, 2, 3, 5)

REGRESSION = [
    *[
        c
        for function, peer, options in [
            ("mean_squared_error", "mse_loss", {}),
            ("mean_squared_error_simple", "mse_loss", {}),
            ("mean_absolute_error", "l1_loss", {}),
            ("huber", "huber_loss", {"delta": 1.0}),
            ("huber", "huber_loss", {"delta": 0.4}),
        ]
        for shape in [(5,), (2, 3, 4)]
        for c in per_element(function, peer, normal(*shape), normal(*shape), **options)
    ],
]

CLASSES = [
    of_classes("softmax_cross_entropy_simple", "cross_entropy", normal(7, 4), LABELS),
    *[
        of_classes(function, peer, domain(*shape), t, **options)
        for function, peer, domain in [
            ("softmax_cross_entropy", "cross_entropy", normal),
            ("nll_loss", "nll_loss", log_shares),
        ]
        for shape, t in [((7, 4), LABELS), ((2, 4, 3, 5), MAP)]
        for options in [
            {},
            *[{"reduction": name} for name in REDUCTIONS],
            *[{"reduction": name, "class_weights": WEIGHTS} for name in REDUCTIONS],
            *[{"reduction": name, "ignore_label": 2} for name in REDUCTIONS],
            {"class_weights": WEIGHTS, "ignore_label": 0},
        ]
    ],
    *[
        of_classes("softmax_cross_entropy", "cross_entropy", normal(*shape), t, **rest)
        for shape, t in [
            ((7, 4), LABELS),
            ((2, 4, 3, 5), MAP),
            ((7, 4), shares(7, 4)),
            ((2, 4, 3), shares(2, 4, 3)),
        ]
        for options in [{}, {"label_smoothing": 0.2}]
        for more in [{}, {"class_weights": WEIGHTS}]
        for name in REDUCTIONS
        if (rest := {**options, **more, "reduction": name})
    ],
    *[
        case(
            "hinge",
            "nn.functional.multi_margin_loss * C",
            normal(7, 4),
            ours={"t": LABELS, "margin": margin, "reduction": name},
            as_theirs=lambda x, margin=margin, name=name: (
                4
                * nn.multi_margin_loss(
                    x, torch.tensor(LABELS), margin=margin, reduction=name
                )
            ),
            order=1,
        )
        for margin in (1.0, 0.3)
        for name in REDUCTIONS
    ],
]

YES_OR_NO = [
    *[
        c
        for function in ("sigmoid_cross_entropy", "sigmoid_cross_entropy_simple")
        for shape in [(5,), (5, 3)]
        for c in per_element(
            function,
            "binary_cross_entropy_with_logits",
            normal(*shape),
            probabilities(*shape),
        )
    ],
    *[
        c
        for function in ("binary_cross_entropy", "binary_cross_entropy_simple")
        for shape in [(5,), (5, 3)]
        for c in of_probabilities(function, *shape)
    ],
    *[
        case(
            "focal",
            "-a * (1 - q)**gamma * log(q)",
            normal(6, 3),
            ours={"t": t, **options},
            as_theirs=lambda x, t=t, options=options: focal_by_formula(
                x, torch.tensor(t), **options
            ),
        )
        for t in [booleans(6, 3).astype(int)]
        for options in [{}, {"alpha": 0.6, "gamma": 1.5}]
    ],
]

PAIRS = [
    *per_element("kl_divergence", "kl_div", log_shares(5, 4), shares(5, 4)),
    *[
        case(
            "cosine_similarity",
            "nn.functional.cosine_similarity",
            normal(*s0),
            normal(*s1),
            ours={"axis": axis},
            theirs={"dim": axis},
        )
        for s0, s1, axis in [
            ((5, 4), (5, 4), 1),
            ((5, 4), (1, 4), -1),
            ((2, 5, 4), (2, 5, 1), 1),
        ]
    ],
    *[
        case(
            "cosine_embedding_loss",
            "nn.functional.cosine_embedding_loss",
            # Large, for torch adds 1e-12 to the squares of the norms.
            10 * normal(9, 4),
            10 * normal(9, 4),
            ours={"t": t, "margin": margin, "reduction": name},
            theirs={"target": t, "margin": margin, "reduction": name},
        )
        for t in [np.where(booleans(9), 1, -1)]
        for margin, name in zip((0.0, 0.2, -0.1), REDUCTIONS, strict=True)
    ],
    *[
        case(
            "triplet_margin",
            "nn.functional.triplet_margin_loss(eps=0)",
            normal(6, 3),
            normal(6, 3),
            normal(6, 3),
            ours={"margin": margin, "reduction": name},
            theirs={"margin": margin, "reduction": name, "eps": 0.0},
            as_theirs=nn.triplet_margin_loss,
        )
        for margin in (1.0, 0.2)
        for name in REDUCTIONS
    ],
]

CASES = REGRESSION + CLASSES + YES_OR_NO + PAIRS
