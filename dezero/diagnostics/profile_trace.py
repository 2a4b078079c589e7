"""A profile as a file for trace viewers: Perfetto, and ``chrome://tracing``.

The format is that of Chrome's "Trace Event Format": complete events (``"ph": "X"``)
with times in microseconds, which viewers lay inside one another by their times.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from typing import Any

from dezero.diagnostics.profile_frames import Event
from dezero.serializers import Path, atomic_write


def write_trace(path: Path, events: Iterable[Event], origin: float) -> None:
    """Write the events to a file, with times since ``origin``."""
    process = os.getpid()
    events = sorted(events, key=lambda event: event.start)
    rows: list[dict[str, Any]] = [_named("process_name", process, process, "DeZero")]
    for thread in dict.fromkeys([event.thread for event in events]):
        main = thread == threading.main_thread().native_id
        name = "main thread" if main else f"thread {thread}"
        rows.append(_named("thread_name", process, thread, name))
    for event in events:
        rows.append(
            {
                "name": event.name,
                "cat": event.kind,
                "ph": "X",
                "ts": round(1e6 * (event.start - origin), 3),
                "dur": round(1e6 * (event.end - event.start), 3),
                "pid": process,
                "tid": event.thread,
                "args": {key: x for key, x in event.args.items() if x != ""},
            }
        )
    trace = {"traceEvents": rows, "displayTimeUnit": "ms"}
    with atomic_write(path) as file:
        file.write(json.dumps(trace, allow_nan=False).encode())


def _named(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {
        "name": kind,
        "ph": "M",
        "pid": process,
        "tid": thread,
        "args": {"name": name},
    }
