"""Losses: what is summed, and what it is divided by."""

import torch

from torch_cases.case import case, integers, normal, uniform

nn = torch.nn.functional


def over_batch(function, peer, x, t, by_t=True, order=2):
    """Summed, and divided by the size of the first axis, as DeZero does.

    ``t`` is differentiated by too, or a constant.
    """

    constant = torch.tensor(t)

    def theirs(x, t=constant):
        return getattr(nn, peer)(x, t.reshape(x.shape), reduction="sum") / len(x)

    return case(
        function,
        f"nn.functional.{peer}(reduction='sum') / N",
        x,
        *([t] if by_t else []),
        as_theirs=theirs,
        ours={} if by_t else {"t": t},
        order=order,
    )


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
        over_batch(function, "binary_cross_entropy", p, t, order=1),
        case(
            function,
            "-sum(t * log(p) + (1 - t) * log(1 - p)) / N",
            p,
            t,
            as_theirs=formula,
        ),
    ]


CASES = [
    *[
        over_batch(function, "mse_loss", normal(*shape), normal(*shape))
        for function in ("mean_squared_error", "mean_squared_error_simple")
        for shape in [(5,), (5, 3), (2, 3, 4)]
    ],
    *[
        case(
            function,
            "nn.functional.cross_entropy",
            3 * normal(6, 4),
            ours={"t": (t := integers(4, 6))},
            theirs={"target": t},
        )
        for function in ("softmax_cross_entropy", "softmax_cross_entropy_simple")
    ],
    *[
        over_batch(
            function,
            "binary_cross_entropy_with_logits",
            normal(*shape),
            probabilities(*shape),
        )
        for function in ("sigmoid_cross_entropy", "sigmoid_cross_entropy_simple")
        for shape in [(5,), (5, 3)]
    ],
    *[
        c
        for function in ("binary_cross_entropy", "binary_cross_entropy_simple")
        for shape in [(5,), (5, 3)]
        for c in of_probabilities(function, *shape)
    ],
]
