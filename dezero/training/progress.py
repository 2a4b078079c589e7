"""What a person sees of the training: a bar in an epoch, a line when it is over.

All of it goes to the standard error, as it is no result.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Mapping
from typing import Any

#: Seconds between two looks at the loss, for which a GPU has to be waited for.
INTERVAL = 0.2


class Progress:
    """Bars and lines. Bars need tqdm and a terminal; without them, lines are all.

    Args:
        show: Whether there is anything at all.
        epochs: How many there will be.
    """

    def __init__(self, show: bool, epochs: int) -> None:
        self._show = show and sys.stderr is not None  # as in a program without console
        self._epochs = epochs
        self._bar: Any = None
        self._looked = 0.0
        self._tqdm = _tqdm() if self._show and sys.stderr.isatty() else None

    def begin(self, epoch: int, total: int | None, done: int) -> None:
        """Open the bar of an epoch of ``total`` batches, ``done`` of them behind it."""
        if self._tqdm is not None:
            self._bar = self._tqdm(
                desc=f"epoch {epoch}/{self._epochs}",
                total=total,
                initial=done,
                leave=False,
                dynamic_ncols=True,
                file=sys.stderr,
                unit="batch",
            )

    def advance(self, batches: int, mean: Any) -> None:
        """Move the bar on; ``mean`` is the mean loss so far, read now and then."""
        if self._bar is None:
            return
        now = time.monotonic()
        if now - self._looked >= INTERVAL:
            self._looked = now
            self._bar.set_postfix_str(f"loss={float(mean):.4g}", refresh=False)
        self._bar.update(batches)

    def end(self, row: Mapping[str, Any] | None = None) -> None:
        """Close the bar, and say what the epoch came to."""
        self.close()
        if not self._show or row is None:
            return
        parts = [f"epoch {row['epoch']}/{self._epochs}"]
        for name, value in row.items():
            if name not in ("epoch", "seconds"):
                parts.append(f"{name} {value:.4g}")
        self.say("  ".join([*parts, f"{row['seconds']:.1f} s"]))

    def say(self, text: str) -> None:
        """Write a line; where that is not possible any more, training goes on."""
        if self._show:
            try:
                print(f"{text}", file=sys.stderr, flush=True)
            except (OSError, ValueError):  # its reader has gone, or it was closed
                self._show = False

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError:
        return None
