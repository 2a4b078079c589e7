"""Where the backward player draws the graph: rank under rank, inputs on top."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field

GAP = 14.0  # between neighbours
RANK_GAP = 30.0
MARGIN = 10.0
SWEEPS = 12


@dataclass(eq=False)
class Box:
    """A node, or a place that a long edge passes (of no size).

    Attributes:
        id: Of the Value or Function; empty for a place on an edge.
        width, height: Its size.
        rank: 0 on top.
        x, y: Its centre.
        above, below: Its neighbours in the ranks next to it.
    """

    id: str
    width: float
    height: float
    rank: int = 0
    x: float = 0.0
    y: float = 0.0
    above: list[Box] = field(default_factory=list)
    below: list[Box] = field(default_factory=list)


@dataclass
class Drawing:
    """Places and paths.

    Attributes:
        boxes: By id.
        paths: For each edge, in order, the boxes it passes.
        width, height: Of the whole.
    """

    boxes: dict[str, Box]
    paths: list[list[Box]]
    width: float
    height: float


def lay_out(
    sizes: dict[str, tuple[float, float]],
    edges: Iterable[tuple[str, str]],
) -> Drawing:
    """Place nodes so that every edge leads down, with few crossings.

    The way of Sugiyama, Tagawa and Toda (1981): ranks by the longest path, long edges
    as chains of places, order within a rank by the mean of the neighbours, and then the
    positions nearest to the neighbours' mean that leave the gaps.

    Args:
        sizes: Width and height of each node.
        edges: Pairs of nodes, without a circle.
    """
    edges = list(edges)
    boxes = {id_: Box(id_, w, h) for id_, (w, h) in sizes.items()}
    _rank(boxes, edges)
    ranks: list[list[Box]] = [
        [] for _ in range(1 + max(b.rank for b in boxes.values()))
    ]
    for box in boxes.values():
        ranks[box.rank].append(box)
    chains = {a: [boxes[a]] for a, _ in edges}
    paths = [_chain(chains[a], boxes[b], ranks) for a, b in edges]
    _order(ranks)
    _place(ranks)
    left = min(b.x - b.width / 2 for rank in ranks for b in rank)
    for rank in ranks:
        for b in rank:
            b.x += MARGIN - left
    width = max(b.x + b.width / 2 for rank in ranks for b in rank) + MARGIN
    y = MARGIN
    for rank in ranks:
        height = max([b.height for b in rank])
        for b in rank:
            b.y = y + height / 2
            if not b.id:
                b.height = height  # straight down between the neighbours
        y += height + RANK_GAP
    return Drawing(boxes, paths, width, y - RANK_GAP + MARGIN)


def _rank(boxes: dict[str, Box], edges: list[tuple[str, str]]) -> None:
    """The longest path from the top; what only leads down moves to where it is used."""
    into: dict[str, list[str]] = {id_: [] for id_ in boxes}
    out: dict[str, list[str]] = {id_: [] for id_ in boxes}
    for a, b in edges:
        out[a].append(b)
        into[b].append(a)
    missing = {id_: len(into[id_]) for id_ in boxes}
    ready = [id_ for id_ in boxes if not missing[id_]]
    for a in ready:  # grows as we go
        for b in out[a]:
            boxes[b].rank = max(boxes[b].rank, boxes[a].rank + 1)
            missing[b] -= 1
            if not missing[b]:
                ready.append(b)
    for id_ in boxes:
        if not into[id_] and out[id_]:
            boxes[id_].rank = min([boxes[b].rank for b in out[id_]]) - 1


def _chain(chain: list[Box], b: Box, ranks: list[list[Box]]) -> list[Box]:
    """The boxes of an edge, with a place in each rank between its ends.

    The edges of a node share their places, as long as they run: ``chain`` is the node
    and the places made so far.
    """
    a = chain[0]
    while chain[-1].rank < b.rank - 1:
        place = Box("", 6.0, 0.0, chain[-1].rank + 1)
        ranks[place.rank].append(place)
        _join(chain[-1], place)
        chain.append(place)
    path = [*chain[: b.rank - a.rank], b]
    _join(path[-2], b)
    return path


def _join(upper: Box, lower: Box) -> None:
    upper.below.append(lower)
    lower.above.append(upper)


def _order(ranks: list[list[Box]]) -> None:
    """Sort each rank by the mean place of the neighbours, and keep the best order."""
    best = [list(rank) for rank in ranks]
    fewest = _crossings(ranks)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for rank in ranks[1:] if down else ranks[-2::-1]:
            fixed = ranks[rank[0].rank + (-1 if down else 1)]
            place = {other: i for i, other in enumerate(fixed)}
            own = {box: i for i, box in enumerate(rank)}
            mean = {}
            for box in rank:
                near = [place[o] for o in (box.above if down else box.below)]
                mean[box] = sum(near) / len(near) if near else float(own[box])
            rank.sort(key=mean.__getitem__)
        count = _crossings(ranks)
        if count < fewest:
            fewest, best = count, [list(rank) for rank in ranks]
    for rank, order in zip(ranks, best, strict=True):
        rank[:] = order


def _crossings(ranks: list[list[Box]]) -> int:
    count = 0
    for rank, lower in zip(ranks, ranks[1:], strict=False):
        place = {box: i for i, box in enumerate(lower)}
        seen: list[int] = []
        for box in rank:
            ends = [place[b] for b in box.below]
            count += sum([len(seen) - bisect.bisect_right(seen, end) for end in ends])
            for end in ends:
                bisect.insort(seen, end)
    return count


def _place(ranks: list[list[Box]]) -> None:
    """Move each rank towards its neighbours, without changing its order."""
    for rank in ranks:
        _settle(rank, [0.0] * len(rank))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for rank in ranks[1:] if down else ranks[-2::-1]:
            wishes = []
            for box in rank:
                near = (box.above if down else box.below) or box.above or box.below
                wishes.append(sum([b.x for b in near]) / len(near) if near else box.x)
            _settle(rank, wishes)


def _settle(rank: list[Box], wishes: list[float]) -> None:
    """The places nearest to the wishes, by least squares, that leave the gaps.

    With each box moved left by the room that those before it take, the gaps become an
    order: that is isotonic regression, which pooling neighbours solves exactly.
    """
    room = [0.0]
    for a, b in zip(rank, rank[1:], strict=False):
        room.append(room[-1] + a.width / 2 + GAP + b.width / 2)
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for wish, offset in zip(wishes, room, strict=True):
        mean, n = wish - offset, 1
        while pools and pools[-1][0] > mean:
            last, m = pools.pop()
            mean, n = (last * m + mean * n) / (m + n), m + n
        pools.append((mean, n))
    means = [mean for mean, n in pools for _ in range(n)]
    for box, mean, offset in zip(rank, means, room, strict=True):
        box.x = mean + offset
