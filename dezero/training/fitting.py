"""``fit``: the training loop for those who want one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dezero.core import Variable
from dezero.optimizers import ClipGrad, Optimizer, Schedule
from dezero.serializers import Path
from dezero.training import arguments
from dezero.training.batches import check_loader
from dezero.training.events import find_writer
from dezero.training.history import History
from dezero.training.measures import PREFIX, Metric, as_metrics
from dezero.training.running import Run
from dezero.training.settings import Callback, Settings
from dezero.training.stopping import as_monitor


def fit(
    model: Callable[..., Any],
    loader: Iterable[Any],
    loss: Callable[[Any, Any], Variable],
    optimizer: Optimizer,
    *,
    epochs: int = 1,
    validation: Iterable[Any] | None = None,
    metrics: Mapping[str, Metric] | Sequence[Metric] | None = None,
    schedule: Schedule | None = None,
    schedule_every: str = "epoch",
    monitor: str | None = None,
    mode: str | None = None,
    patience: int | None = None,
    restore_best: bool = False,
    best: Path | None = None,
    checkpoint: Path | None = None,
    clip_norm: float | None = None,
    accumulate: int = 1,
    check_finite: bool | None = None,
    progress: bool = True,
    csv: Path | None = None,
    log_dir: Path | None = None,
    callbacks: Iterable[Callback] | None = (),
) -> dict[str, list[Any]]:
    """Train a model: what every training loop does, and what many need besides.

    ::

        model = MLP((64, 10), activation=F.relu)
        history = dz.fit(
            model,
            DataLoader(train, batch_size=32),
            F.softmax_cross_entropy,
            Adam(),
            epochs=30,
            validation=DataLoader(test, batch_size=256, shuffle=False),
            metrics=[F.accuracy],
            patience=5,
            checkpoint="run.npz",
        )
        print(history["validation_accuracy"][-1])

    It does this, and where something else is wanted, the loop is soon written::

        for epoch in range(epochs):
            for x, t in loader:
                y = loss(model(x), t)
                model.cleargrads()
                y.backward(retain_graph=False)
                optimizer.update()

    **Batches.** The last of a tuple is the target t, all before it are inputs:
    ``loss(model(x0, x1), t)``. In a dict the target stands under ``"t"``, and all
    others are inputs by name: ``model(**others)``. Every mean counts a batch by its
    items, which are the rows of t, so the mean of an epoch is that of its items, a
    smaller last batch included. The loss should be a mean over items itself. A model
    that keeps a state from batch to batch (CharRNN with ``stateful``) needs a loop of
    one's own, with ``model.detach_state()`` after each update.

    **Stopping.** Ctrl-C ends the training after the step that it comes in, or after the
    validation, keeps what was learned and returns the history of the epochs that are
    complete. A second Ctrl-C raises KeyboardInterrupt at once. (One that does not come
    as a signal to the main thread, or while somebody else handles signals, ends the
    training where it is, and leaves the files as they were after the last epoch.)

    **Going on.** With ``checkpoint``, all of the run is written after each epoch and
    at Ctrl-C: model, optimizer, schedule, random states, loaders, history. The same
    call goes on from there, and ends with the bits of a run that was never stopped
    (``seconds`` apart) if batches come from a DataLoader or a list. Any other loader
    begins its pass anew after Ctrl-C, and batches that were used are passed over.

    ``Config`` is as before when it returns or raises. What stays is the setting of
    :func:`dezero.use_pooled_malloc`, which it calls: freed memory is kept for reuse.

    Args:
        model: A Layer, or a function of the inputs.
        loader: Batches, anew in each epoch: a DataLoader, or a list, say.
        loss: A function of (y, t): what the model gave, and the target. Returns a
            Variable of one element.
        optimizer: Set up with ``model`` here if it was not. Of LBFGS every update gets
            the loss as a function.
        epochs: How many there are in all, those before a checkpoint included.
        validation: Batches to measure on after each epoch, in test mode: like
            ``loader``.
        metrics: Functions of (y, t) that give one number, the mean over the batch, by
            name, or a list of functions with names. In training they see what the
            model gave before the update.
        schedule: A schedule of the optimizer. ReduceLROnPlateau looks at ``monitor``.
        schedule_every: When it steps: after each ``"epoch"`` or each update,
            ``"step"``.
        monitor: The column of the history that tells which epoch was the best; by
            default the loss, that of validation if there is one.
        mode: ``"min"`` if less is better, ``"max"`` if more is. Of losses it is known.
        patience: So many epochs in a row without a better one end the training.
        restore_best: Whether the model gets the weights of its best epoch at the end,
            the checkpoint and the optimizer still being at the last one.
        best: A file for the weights of the best epoch so far, as ``save_weights``
            writes it.
        checkpoint: A file for the whole run. If it is there, the run goes on from it.
        clip_norm: Longest gradient, as the hook ClipGrad has it, which comes after the
            optimizer's own hooks.
        accumulate: Batches per update. Their gradient is that of the mean over all of
            their items, as of one large batch (what looks at the batch itself, such as
            batch normalization, still sees the small ones). The last update of an
            epoch may have fewer.
        check_finite: Whether a loss that is infinite or NaN is an error. True looks
            before every update. None does so on the CPU; on a GPU, which it would have
            to wait for, it looks at the end of each epoch, when weights are lost.
        progress: Whether to show a bar (on a terminal, with tqdm installed) and a line
            per epoch, on the standard error.
        csv: A file for the history, a row more after each epoch. One that is there
            already is replaced by the history so far.
        log_dir: A folder for TensorBoard (needs tensorboardX, or PyTorch with
            tensorboard): each column of the history as a curve.
        callbacks: Functions that are called after each epoch with the history so far,
            which they only read. One that returns True ends the training.

    Returns:
        The history, with a list for each of ``epoch`` (from 1), ``loss`` (in training,
        before the updates), the metrics, the same of validation with ``validation_``
        before the name, ``lr`` (of the last update; not of an optimizer without) and
        ``seconds``.

    Raises:
        FileNotFoundError: The folder of a file is missing.
        FloatingPointError: The loss is not finite; see ``check_finite``.
        ImportError: ``log_dir`` or a file asks for a package that is not installed.
        RuntimeError: The loss does not depend on what the optimizer updates, or there
            is nothing to set it up with.
        TypeError: An argument, a batch, a loss or a metric is of the wrong type.
        ValueError: An argument is out of range or does not fit another; there is no
            batch; a loss or metric has several elements; the checkpoint is of another
            run, or the file ``best`` that it had is gone.
        OSError: A file cannot be written.
    """
    arguments.check_functions(model, loss, optimizer)
    epochs = arguments.as_count("epochs", epochs, low=0)
    accumulate = arguments.as_count("accumulate", accumulate, low=1)
    if patience is not None:
        patience = arguments.as_count("patience", patience, low=1)
    norm = arguments.as_norm(clip_norm)
    check_loader("fit", "loader", loader, epochs)
    if validation is not None:
        check_loader("fit", "validation", validation, epochs)
    named = as_metrics("fit", metrics)
    names = _columns(named, validation is not None, hasattr(optimizer, "lr"))
    watched = [name for name in names if name not in ("epoch", "lr", "seconds")]
    judge = as_monitor("fit", watched, monitor, mode, patience)
    arguments.check_schedule(schedule, schedule_every, optimizer, judge.mode)
    for name, path in ("best", best), ("checkpoint", checkpoint), ("csv", csv):
        arguments.check_file(name, path)
        if path is not None and name != "csv":
            arguments.check_layer(name, model)
    arguments.check_places({"best": best, "checkpoint": checkpoint, "csv": csv})
    arguments.check_folder("log_dir", log_dir)
    writer = None if log_dir is None else find_writer("fit")
    settings = Settings(
        model=model,
        loader=loader,
        loss=loss,
        optimizer=optimizer,
        epochs=epochs,
        validation=validation,
        metrics=named,
        schedule=schedule,
        per_step=schedule_every == "step",
        restore_best=arguments.as_switch("restore_best", restore_best),
        best=arguments.path_of(best),
        checkpoint=arguments.path_of(checkpoint),
        accumulate=accumulate,
        check_finite=(
            None
            if check_finite is None
            else arguments.as_switch("check_finite", check_finite)
        ),
        progress=arguments.as_switch("progress", progress),
        log_dir=arguments.path_of(log_dir),
        callbacks=arguments.as_callbacks(callbacks),
    )
    history = History(names, arguments.path_of(csv))
    with _clipped(optimizer, norm):
        Run(settings, history, judge, writer).run()
    return history.columns


def _columns(metrics: Iterable[str], validation: bool, lr: bool) -> list[str]:
    """The names of the history, in order."""
    measured = ["loss", *metrics]
    names = ["epoch", *measured]
    if validation:
        names += [PREFIX + name for name in measured]
    return [*names, "lr", "seconds"] if lr else [*names, "seconds"]


@contextmanager
def _clipped(optimizer: Optimizer, norm: float | None) -> Any:
    """The last hook, for as long as the training runs."""
    hook = None if norm is None else ClipGrad(norm)
    if hook is not None:
        optimizer.add_hook(hook)
    try:
        yield
    finally:
        optimizer.hooks[:] = [h for h in optimizer.hooks if h is not hook]
