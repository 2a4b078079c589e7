"""Graphs of many small operations: what is left without a graph."""

from __future__ import annotations

import numpy as np

from by_hand.parts import ByHand


class Tiny(ByHand):
    """``h = sin(h * w + b) ** 2``, ``repeats`` times, then the sum."""

    def step(self) -> float:
        h, (w, b) = self.inputs["x"], self.parameters
        tape = []
        for _ in range(self.inputs["repeats"]):
            u = h * w + b
            s = np.sin(u)
            tape.append((h, u, s))
            h = s * s
        loss = float(h.sum())

        gw, gb = self._gradients
        gw.fill(0)
        gb.fill(0)
        g = np.ones_like(h)
        for h, u, s in reversed(tape):
            g = g * (2 * s) * np.cos(u)
            gb += g
            gw += g * h
            g = g * w
        return loss


class Deep(ByHand):
    """``h = h * w``, then ``h = h + b``, ``repeats`` times over, then the sum."""

    def step(self) -> float:
        h, (w, b) = self.inputs["x"], self.parameters
        tape = []
        for _ in range(self.inputs["repeats"]):
            tape.append(h)
            h = h * w + b
        loss = float(h.sum())

        gw, gb = self._gradients
        gw.fill(0)
        gb.fill(0)
        g = np.ones_like(h)
        for h in reversed(tape):
            gb += g
            gw += g * h
            g = g * w
        return loss


class Wide(ByHand):
    """``x * c`` for each of many constants, added one after the other, then the sum."""

    def step(self) -> float:
        (x,), constants = self.parameters, self.inputs["constants"]
        y = np.zeros_like(x)
        for c in constants:
            y = y + x * c
        loss = float(y.sum())

        (gx,) = self._gradients
        gx.fill(0)
        g = np.ones_like(y)
        for c in reversed(constants):
            gx += g * c
        return loss
