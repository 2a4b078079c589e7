"""A run of :func:`dezero.fit`: epochs, what is done after each, and how it goes on."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from dezero.allocation import use_pooled_malloc
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.checkpoints.parts import has_state
from dezero.core import using_config
from dezero.optimizers import ReduceLROnPlateau
from dezero.training.arguments import file_of
from dezero.training.batches import Batch, groups, length_of
from dezero.training.events import Events
from dezero.training.history import History
from dezero.training.interruption import Interruption
from dezero.training.measures import PREFIX, Measures
from dezero.training.progress import Progress
from dezero.training.settings import Settings
from dezero.training.steps import Updates, measure, nonfinite
from dezero.training.stopping import Monitor, Snapshot


class Run:
    """The training itself. Its ``state_dict`` is what a checkpoint has of it."""

    def __init__(
        self, settings: Settings, history: History, monitor: Monitor, writer: Any
    ) -> None:
        self.settings = settings
        self.history = history
        self.monitor = monitor
        self._writer = writer
        self._events: Events | None = None
        self._updates = Updates(
            settings.model, settings.loss, settings.optimizer, settings.check_finite
        )
        self._snapshot: Snapshot | None = None
        if settings.restore_best:
            self._snapshot = Snapshot(settings.model, settings.optimizer)
        self._progress = Progress(settings.progress, settings.epochs)
        self._interruption = Interruption()
        self._stop = False
        self._passes_over = 0  # batches at the start of the next pass, already used
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        """What is known of an epoch that has not begun."""
        self._batches = 0
        self._seconds = 0.0
        self._lr: float | None = None
        self._measures = Measures("fit", self.settings.metrics)

    # ---- the whole ----------------------------------------------------------------

    def run(self) -> None:
        """Go on from the checkpoint if there is one; train, and leave all in order."""
        use_pooled_malloc()  # every step makes and frees the same arrays
        path = self.settings.checkpoint
        if path is not None and os.path.exists(file_of("checkpoint", path)):
            load_checkpoint(path, **self._parts())
            if self._lacks_best():
                self._save_best()
        self.history.begin_file()
        with ExitStack() as stack:
            stack.enter_context(using_config("train", True))
            stack.enter_context(using_config("enable_backprop", True))
            stack.callback(self._progress.close)
            if self._writer is not None:
                assert self.settings.log_dir is not None
                self._events = Events(
                    self._writer, self.settings.log_dir, len(self.history)
                )
                stack.callback(self._events.close)
            try:
                with self._interruption:
                    self._run_epochs()
            except KeyboardInterrupt:
                if self._interruption.requested:  # it is the second one
                    raise
                self._say_where_it_stopped()
        if self._snapshot is not None:
            self._snapshot.restore()

    def _run_epochs(self) -> None:
        while (
            len(self.history) < self.settings.epochs
            and not self.monitor.out_of_patience
            and not self._stop
        ):
            if not self._train():
                self._save()
                self._say_where_it_stopped()
                return
            self._finish_epoch()
            if self._interruption.requested:
                self._progress.say("interrupted")
                return
        if self.monitor.out_of_patience:
            self._progress.say(
                f"no better {self.monitor.name} in {self.monitor.waited} epochs; the "
                f"best was {self.monitor.best} in epoch {self.monitor.best_epoch}"
            )

    # ---- an epoch -----------------------------------------------------------------

    @using_config("train", True)  # anew for each epoch, whatever a callback has set
    @using_config("enable_backprop", True)
    def _train(self) -> bool:
        """The updates of an epoch, or of what is left of it. False: interrupted."""
        settings = self.settings
        epoch = len(self.history) + 1
        start = time.perf_counter() - self._seconds
        batches = iter(settings.loader)
        for _ in range(self._passes_over):
            next(batches, None)
        self._passes_over = 0
        self._progress.begin(epoch, length_of(settings.loader), self._batches)
        loss = self._measures.means["loss"]
        for group in groups("fit", batches, settings.accumulate):
            self._step(group, epoch)
            self._progress.advance(len(group), loss)
            # A group that is not full has ended the pass, which is not to be gone on
            # with: the epoch is completed.
            if self._interruption.requested and len(group) == settings.accumulate:
                self._seconds = time.perf_counter() - start
                return False
        if not self._batches:
            raise ValueError(
                f"fit: expected loader to give batches in epoch {epoch}, got none"
                + "; a generator can be looped over only once" * (epoch > 1)
            )
        self._seconds = time.perf_counter() - start
        return True

    def _step(self, group: list[Batch], epoch: int) -> None:
        settings = self.settings
        step = -(-self._batches // settings.accumulate) + 1
        self._updates.update(group, self._measures, epoch, step)
        if hasattr(settings.optimizer, "lr"):
            self._lr = float(settings.optimizer.lr)
        if settings.schedule is not None and settings.per_step:
            settings.schedule.step()
        self._batches += len(group)

    def _finish_epoch(self) -> None:
        """Measure, remember, tell everyone."""
        settings = self.settings
        start = time.perf_counter()
        row = self._row()
        row["seconds"] = self._seconds + time.perf_counter() - start
        self.history.append(row)
        self._begin_epoch()
        value = row[self.monitor.name]
        if self.monitor.look(row["epoch"], value):
            if self._snapshot is not None:
                self._snapshot.take(row["epoch"])
            self._save_best()
        if isinstance(settings.schedule, ReduceLROnPlateau):
            settings.schedule.step(value)
        elif settings.schedule is not None and not settings.per_step:
            settings.schedule.step()
        self._progress.end(row)
        for callback in settings.callbacks:
            answer = callback(self.history.columns)
            # Comparing means, one gets a True of NumPy's.
            if isinstance(answer, (bool, np.bool_)) and answer:
                self._stop = True
        self._save()
        self.history.write_last()
        if self._events is not None:
            self._events.add(row)

    def _row(self) -> dict[str, Any]:
        """The numbers of the epoch that is over."""
        settings = self.settings
        row: dict[str, Any] = {"epoch": len(self.history) + 1, "lr": self._lr}
        row |= self._measures.values()
        if settings.check_finite is not False and not math.isfinite(row["loss"]):
            raise nonfinite(
                row["loss"], f"in epoch {row['epoch']}", "the weights are lost"
            )
        if settings.validation is not None:
            found = measure(
                "fit",
                "validation",
                settings.model,
                settings.validation,
                settings.loss,
                settings.metrics,
            )
            row |= {PREFIX + name: value for name, value in found.items()}
        return {name: row[name] for name in self.history.columns if name in row}

    def _say_where_it_stopped(self) -> None:
        self._progress.end()
        self._progress.say(
            f"interrupted in epoch {len(self.history) + 1}, after batch {self._batches}"
        )

    # ---- checkpoints --------------------------------------------------------------

    def _parts(self) -> dict[str, Any]:
        """What a checkpoint holds: everything here that has a state."""
        parts = {
            "model": self.settings.model,
            "optimizer": self.settings.optimizer,
            "schedule": self.settings.schedule,
            "loader": self.settings.loader,
            "validation": self.settings.validation,
            "fit": self,
        }
        return {name: x for name, x in parts.items() if has_state(x)}

    def _save(self) -> None:
        if self.settings.checkpoint is not None:
            save_checkpoint(self.settings.checkpoint, **self._parts())

    def _lacks_best(self) -> bool:
        """Is there to be a file of a best epoch, and none there?"""
        path = self.settings.best
        wanted = path is not None and self.monitor.best_epoch > 0
        return wanted and not os.path.exists(file_of("best", str(path)))

    def _save_best(self) -> None:
        if self.settings.best is not None:
            model: Any = self.settings.model
            model.save_weights(self.settings.best)

    def state_dict(self) -> dict[str, Any]:
        """The history, and how far the epoch after it has come."""
        return {
            "history": self.history.columns,
            "batches": self._batches,
            "seconds": self._seconds,
            "lr": self._lr,
            "measures": self._measures.state_dict(),
            "snapshot": None if self._snapshot is None else self._snapshot.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there.

        Raises:
            ValueError: The history has other columns, or the weights of the best epoch
                are wanted and not there, in it or in their file.
        """
        saved = state["history"]
        if list(saved) != list(self.history.columns):
            raise ValueError(
                "fit: expected a checkpoint with the history of "
                f"{', '.join(self.history.columns)}, got one of {', '.join(saved)}; "
                "give the same metrics and validation, or another file"
            )
        self.monitor.forget()
        for epoch, value in enumerate(saved[self.monitor.name], 1):
            self.monitor.look(epoch, value)
        now = 0 if state["batches"] else len(saved["epoch"])  # the epoch just over
        if self._lacks_best() and self.monitor.best_epoch != now:
            raise ValueError(
                f"fit: expected the weights of epoch {self.monitor.best_epoch}, the "
                f"best one by {self.monitor.name}, in {self.settings.best!r}, got no "
                "such file; put it back, or begin anew with another checkpoint"
            )
        if self._snapshot is not None:
            snapshot = state["snapshot"] or {"epoch": 0, "weights": {}}
            if snapshot["epoch"] != self.monitor.best_epoch:
                raise ValueError(
                    "fit: expected with restore_best a checkpoint that has the weights "
                    f"of epoch {self.monitor.best_epoch}, the best one by "
                    f"{self.monitor.name}, got one without; give restore_best and "
                    "monitor from the beginning"
                )
            self._snapshot.load_state_dict(snapshot)
        self.history.replace(saved)
        self._begin_epoch()
        self._batches = int(state["batches"])
        self._seconds = float(state["seconds"])
        self._lr = state["lr"]
        if self._batches:
            self._measures.load_state_dict(state["measures"])
        # A loader without a state begins its pass anew.
        stateful = has_state(self.settings.loader)
        self._passes_over = 0 if stateful else self._batches
