"""Recurrent networks and attention."""

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pad_packed_sequence,
)

from torch_cases.case import booleans, case, normal

T, N, I, H = 5, 3, 4, 2
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
PEERS = {"rnn": "rnn_tanh", "lstm": "lstm", "gru": "gru"}
LENGTHS = np.array([5, 4, 2])  # falling, so that torch need not sort


def weights(function, biases):
    """Wx, Wh and as many biases."""
    G = GATES[function] * H
    return normal(I, G), normal(H, G), *[normal(G) for _ in range(biases)]


def for_torch(Wx, Wh, *b):
    """Torch has both matrices transposed, and a second bias beside a bias."""
    if len(b) == 1:
        b = *b, torch.zeros_like(b[0])
    return [Wx.T, Wh.T, *b]


def sequence(function, biases, lengths=None):
    """A whole sequence, from given states; of unequal lengths with ``lengths``."""
    states = 2 if function == "lstm" else 1
    run = getattr(torch, PEERS[function])
    settings = 1, 0.0, False, False  # layers, dropout, training, bidirectional

    def theirs(x, *rest):
        # (N, H) -> (layers = 1, N, H), and back
        hc = [h[None] for h in rest[:states]]
        params = for_torch(*rest[states:])
        given = hc if states == 2 else hc[0]
        if lengths is None:
            y, *ends = run(x, given, params, biases > 0, *settings, False)
        else:
            packed = pack_padded_sequence(x, torch.tensor(lengths))
            data, *ends = run(
                packed.data, packed.batch_sizes, given, params, biases > 0, *settings
            )
            y, _ = pad_packed_sequence(PackedSequence(data, packed.batch_sizes))
        return [y, *[h[0] for h in ends]]

    return case(
        function,
        PEERS[function] + ("" if lengths is None else " of a packed sequence"),
        normal(T, N, I),
        *[normal(N, H) for _ in range(states)],
        *weights(function, biases),
        ours={} if lengths is None else {"lengths": lengths},
        as_theirs=theirs,
        note=f"{biases} biases" if biases != 1 else "",
    )


def masked(function):
    """The same with the mask that says what the lengths say."""
    c = sequence(function, 1, LENGTHS)
    mask = np.arange(T)[:, None] < LENGTHS
    return case(
        function,
        c.peer,
        *c.inputs,
        ours={"mask": mask},
        as_theirs=c.theirs,
    )


def cell(function, biases):
    """One step."""
    states = 2 if function == "lstm" else 1
    run = getattr(torch, PEERS[function] + "_cell")

    def theirs(x, *rest):
        hc = rest[:states]
        return run(x, hc if states == 2 else hc[0], *for_torch(*rest[states:]))

    return case(
        f"{function}_cell",
        f"{PEERS[function]}_cell",
        normal(N, I),
        *[normal(N, H) for _ in range(states)],
        *weights(function, biases),
        as_theirs=theirs,
    )


def attention(q, k, v, mask=None, causal=False):
    """Torch's plain formula: its fused ones cannot be differentiated twice."""
    is_number = mask is not None and mask.dtype.kind == "f"
    constant = {} if mask is None or is_number else {"mask": mask}

    def theirs(q, k, v, bias=None):
        given = bias if mask is None or is_number else torch.tensor(mask)
        with sdpa_kernel(SDPBackend.MATH):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=given, is_causal=causal
            )

    return case(
        "scaled_dot_product_attention",
        "nn.functional.scaled_dot_product_attention",
        *[normal(*shape) for shape in (q, k, v)],
        *([mask] if is_number else []),
        as_theirs=theirs,
        ours={**constant, **({"causal": True} if causal else {})},
    )


def some_open(*shape):
    """Which keys a query sees: the first at least."""
    mask = booleans(*shape)
    mask[..., 0] = True
    return mask


def rotated(x):
    """Pairs as complex numbers, each times one of absolute value 1."""
    T, D = x.shape[-2:]
    speeds = 10000.0 ** (-torch.arange(0, D, 2, dtype=x.dtype) / D)
    angles = torch.arange(T, dtype=x.dtype)[:, None] * speeds
    z = torch.view_as_complex(x.unflatten(-1, (D // 2, 2)))
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(
        -2
    )


RECURRENT = [
    c
    for function in GATES
    for c in [
        sequence(function, 0),
        sequence(function, 1),
        sequence(function, 1, LENGTHS),
        masked(function),
        cell(function, 0),
        cell(function, 1),
    ]
] + [
    sequence("gru", 2),
    sequence("gru", 2, LENGTHS),
    cell("gru", 2),
]

ATTENTION = [
    attention((5, 4), (6, 4), (6, 3)),
    attention((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
    attention((2, 5, 4), (2, 5, 4), (2, 5, 3), causal=True),
    attention((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4), some_open(5, 6)),
    attention((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4), some_open(2, 1, 1, 6)),
    attention((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4), normal(2, 1, 5, 6)),
    attention((2, 3, 5, 4), (2, 1, 6, 4), (2, 1, 6, 4)),
    case(
        "rotary_encoding",
        "view_as_complex(x) * polar(1, angles)",
        normal(2, 5, 6),
        as_theirs=rotated,
    ),
]

CASES = RECURRENT + ATTENTION
