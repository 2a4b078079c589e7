"""What the backward player says at each step: texts for the page, made of a recording.

Everything is text or a small whole number, so NaN and infinity need no care in JSON.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from dezero.core import Variable
from dezero.visualize.player_graph import PlayerGraph, Step, Value
from dezero.visualize.player_recording import Contribution, Pop, Recording
from dezero.visualize.player_rules import rule_of
from dezero.visualize.player_values import Snapshot, close, shape_text


def forward_steps(graph: PlayerGraph) -> list[dict[str, Any]]:
    """The values, in an order in which they can have been computed."""
    givens = [v for v in graph.values if v.kind != "result"]
    start = _step(
        "Forward",
        "What is given",
        f"Forward: {_count(len(givens), 'value')} given: leaves, which want a "
        "gradient, and constants.",
    )
    start["shown"] = [v.id for v in givens]
    start["given"] = [[v.name, v.kind, value_in_words(v)] for v in givens]
    steps = [start]
    for i, step in enumerate(graph.steps):
        outputs = [v for v in step.outputs if v.kind == "result"]
        made = ", ".join([f"{v.name} = {value_in_words(v)}" for v in step.outputs])
        taken = [v.name if v is not None else "a constant" for v in step.inputs]
        words = f"{step.name} of {_listed(taken)}" if taken else step.name
        entry = _step(
            "Forward",
            f"{i + 1} of {len(graph.steps)}: {step.name}",
            f"{words} gives {made}. Its generation is {step.generation}.",
        )
        entry["f"] = step.id
        entry["shown"] = [v.id for v in outputs]
        entry["given"] = [[v.name, v.kind, value_in_words(v)] for v in step.outputs]
        steps.append(entry)
    return steps


def backward_steps(
    graph: PlayerGraph,
    right: Recording,
    shown: Recording,
    complete: bool = True,
) -> list[dict[str, Any]]:
    """The turns of a recording, and what it found.

    Args:
        graph: That of the recordings.
        right: What the engine did.
        shown: The recording to describe: ``right`` itself, or one with a plain stack.
        complete: Whether it came to an end.
    """
    words = _Words(graph, right, shown)
    steps = [words.seed(shown.pops[0])]
    for i, pop in enumerate(shown.pops[1:], 1):
        steps.append(words.turn(i, pop))
    steps.append(words.end(complete))
    return steps


def value_in_words(value: Value) -> str:
    """The numbers of a Value, or that nothing kept them."""
    if value.data is None:
        return (
            f"{value.dtype} {shape_text(value.shape)}; not kept, since no backward "
            "reads it"
        )
    return Snapshot.of(value.data).text()


def _step(phase: str, title: str, say: str) -> dict[str, Any]:
    return {"phase": phase, "title": title, "say": say}


class _Words:
    """Describes one recording, with the right one beside it."""

    def __init__(self, graph: PlayerGraph, right: Recording, shown: Recording) -> None:
        self.graph = graph
        self.right = right
        self.shown = shown
        self.wrong = shown is not right  # may be
        self.work = "stack" if self.wrong else "queue"
        self.runs: Counter[Step] = Counter()
        self.arrived: dict[tuple[Value, bool], int] = {}
        # What each sum is when it is complete, and what each output really gets.
        self.totals: dict[tuple[Value, bool], Snapshot] = {}
        for pop in right.pops:
            for c in pop.sums:
                self.totals[c.value, c.at_leaf] = c.total

    # ---- steps -------------------------------------------------------------------

    def seed(self, pop: Pop) -> dict[str, Any]:
        c = pop.sums[0]
        entry = _step(
            "Backward",
            "Where it starts",
            f"The pass starts at {c.value.name} with the gradient {c.new.brief()}. "
            f"{pop.pushed[0].name}, which made it, goes into the {self.work}.",
        )
        self._state(entry, pop)
        return entry

    def turn(self, i: int, pop: Pop) -> dict[str, Any]:
        step = pop.step
        assert step is not None
        self.runs[step] += 1
        count = len(self.shown.pops) - 1
        faults = self._faults(pop)
        entry = _step(
            "Backward",
            f"{'Turn' if self.wrong else 'Pop'} {i} of {count}: {step.name}",
            self._sentence(pop),
        )
        entry["f"] = step.id
        entry["rule"] = rule_of(step.f)
        entry["in"] = [
            [value.name, gy.text(), dict(faults).get(value, "")]
            for value, gy in zip(step.outputs, pop.incoming, strict=True)
        ]
        entry["out"] = []
        wanted = step.f.needs_grad
        for value, gx, want in zip(step.inputs, pop.returned, wanted, strict=False):
            text = "none" if gx is None else gx.text()
            if gx is not None and not want:
                text += ", dropped: a constant takes none"
            name = value.name if value is not None else "a constant"
            entry["out"].append([name, text])
        self._state(entry, pop)
        entry["freed"] = [
            f"{v.name} ({v.dtype} {shape_text(v.shape)})" for v in pop.freed
        ]
        entry["used"] = [v.id for v in step.outputs]
        if faults:
            entry["wrong"] = True
        return entry

    def end(self, complete: bool) -> dict[str, Any]:
        rows = []
        count = 0
        for value, right in self.right.gradients.items():
            found = self.shown.gradients.get(value)
            note = ""
            if found is None:
                note = "wrong: nothing arrived"
            elif not close(found, right):
                note = f"wrong: right is {right.text()}"
            count += bool(note)
            rows.append(
                [value.name, found.text() if found else "none", note or _leaf(value)]
            )
        say = f"Done. {_count(len(rows), 'leaf', 'leaves')} got a gradient."
        if self.wrong and not complete:
            say = (
                f"Stopped after {len(self.shown.pops) - 1} turns, with Functions still "
                "on the stack: they run once per path, and paths double wherever two "
                f"meet. {_count(count, 'gradient')} wrong."
            )
        elif self.wrong and count:
            say = (
                f"Done, and {_count(count, 'gradient')} of {len(rows)} wrong. The "
                "stack ran a Function before all that reaches it had arrived, and then "
                "again with the sum: what had come first was passed on twice."
            )
        elif self.wrong:
            say = (
                "Done. In this graph no two paths meet behind a result, so a plain "
                "stack gets it right as well."
            )
        entry = _step("Result", "The gradients of the leaves", say)
        entry["end"] = rows
        if count:
            entry["wrong"] = True
        return entry

    # ---- their parts -------------------------------------------------------------

    def _sentence(self, pop: Pop) -> str:
        step = pop.step
        assert step is not None
        if self.wrong:
            text = f"{step.name} (generation {step.generation}) is on top of the stack."
            if self.runs[step] > 1:
                text += f" It runs for the {_ordinal(self.runs[step])} time."
        else:
            others = [s.generation for s in pop.waiting if s is not step]
            why = "the only one there"
            if others:
                why = "the highest generation there"
                if max(others) == step.generation:
                    why = "the first to come of the highest generation there"
            text = f"{step.name} (generation {step.generation}) is popped: {why}."
        text += f" Its gradient is {_listed([gy.brief() for gy in pop.incoming])}."
        faults = self._faults(pop, brief=True)
        text += "".join([f" That is {fault}." for _, fault in faults])
        for c in pop.sums:
            if c.old is None:
                text += f" {c.value.name} gets {c.new.brief()}"
            else:
                new = _added(c.new.brief())
                text += (
                    f" {c.value.name} gets {c.new.brief()} more: {c.old.brief()} + "
                    f"{new} = {c.total.brief()}"
                )
            text += f" ({self._progress(c, brief=True)})."
        if not pop.sums:
            text += " No input takes a gradient."
        return text

    def _state(self, entry: dict[str, Any], pop: Pop) -> None:
        """The work list and the sums."""
        new = Counter(pop.pushed)
        left = []
        # What was pushed now is at the end of its generation, or on top of the stack.
        order = pop.left if self.wrong else pop.left[::-1]
        for step in order:
            is_new = new[step] > 0
            new[step] -= is_new
            left.append([step.id, step.name, step.generation, is_new])
        entry["before"] = [
            [s.id, s.name, s.generation, i == 0] for i, s in enumerate(pop.waiting)
        ]
        entry["after"] = left if self.wrong else left[::-1]
        entry["sums"] = []
        entry["grads"] = []
        for c in pop.sums:
            progress = self._progress(c)
            self.arrived[c.value, c.at_leaf] = c.arrived
            entry["sums"].append(
                [
                    c.value.name,
                    "" if c.old is None else c.old.text(),
                    c.new.text() if c.old is None else _added(c.new.text()),
                    c.total.text(),
                    progress,
                    "" if c.given.shape == c.new.shape else _fitted(c),
                ]
            )
            done = c.arrived >= self.right.expected[c.value, c.at_leaf]
            state = "wrong" if "wrong" in progress else "done" if done else "partial"
            entry["grads"].append([c.value.id, c.total.short(), state])
            if state == "wrong":
                entry["wrong"] = True

    def _progress(self, c: Contribution, brief: bool = False) -> str:
        expected = self.right.expected[c.value, c.at_leaf]
        if c.arrived > expected:
            text = f"{c.arrived} arrived, {expected} would be right"
        elif c.arrived == expected:
            text = f"{c.arrived} of {expected} arrived: complete"
        else:
            text = f"{c.arrived} of {expected} arrived"
        right = self.totals[c.value, c.at_leaf]
        if c.arrived >= expected and not close(c.total, right):
            text += f"; wrong sum: right is {right.brief() if brief else right.text()}"
        return text

    def _faults(self, pop: Pop, brief: bool = False) -> list[tuple[Value, str]]:
        """What is wrong with the gradients that a Function was given."""
        assert pop.step is not None
        found = []
        for value, gy in zip(pop.step.outputs, pop.incoming, strict=True):
            expected = self.right.expected.get((value, False), 0)
            arrived = self.arrived.get((value, False), 0)
            if value in pop.changed:
                found.append((value, "not what had arrived: it was changed in place"))
            elif arrived < expected:
                found.append((value, f"incomplete: {arrived} of {expected} arrived"))
            elif self.wrong and expected:
                right = self.totals[value, False]
                if not close(gy, right):
                    words = right.brief() if brief else right.text()
                    found.append((value, f"wrong: right is {words}"))
        return found


def _added(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _fitted(c: Contribution) -> str:
    return (
        f"from {shape_text(c.given.shape)}, summed to {shape_text(c.new.shape)}, the "
        "shape it was broadcast from"
    )


def _leaf(value: Value) -> str:
    x = value.key if isinstance(value.key, Variable) else None
    if x is not None and not x.requires_grad:
        return "not stored: it requires no gradient any more"
    if x is not None and x.grad is not None:
        return "backward() would add it to the .grad that is there"
    return ""


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _ordinal(n: int) -> str:
    ending = (
        "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10)
    )
    return f"{n}{ending or 'th'}"
