"""Whenever a process is killed, its checkpoint is whole and the run goes on from it."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dezero
from dezero.serializers import files

from .runs import SmallRun, same

KILLS = 20

# Starts a process for each line that comes: a fork, for imports take most of a second.
SERVE = """
import os, sys
from runs import train_for_ever
for line in sys.stdin:
    if not (child := os.fork()):
        print("started", os.getpid(), flush=True)
        train_for_ever(sys.argv[1])
    print("ended by", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
# Kills itself instead of calling a function of the module os.
KILLED = """
import os, signal, sys
from runs import train_for_ever
os.{} = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
train_for_ever(sys.argv[1])
"""


def start(code, path):
    process = [sys.executable, "-c", code, str(path)]
    here = os.path.dirname(__file__)
    package = os.path.dirname(os.path.dirname(os.path.abspath(dezero.__file__)))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([package, here])}
    pipe = subprocess.PIPE
    return subprocess.Popen(process, stdin=pipe, stdout=pipe, text=True, env=env)


def test_killed_at_random_moments(tmp_path):
    path = tmp_path / "run.npz"
    rng = np.random.default_rng(0)
    with start(SERVE, path) as server:
        for _ in range(KILLS):
            print("start", file=server.stdin, flush=True)
            said, child = server.stdout.readline().split()
            assert said == "started"
            for _ in range(rng.integers(1, 4)):
                done = int(server.stdout.readline())
            time.sleep(rng.uniform(0, 0.02))  # saving takes most of that time
            os.kill(int(child), signal.SIGKILL)
            while not (line := server.stdout.readline()).startswith("ended"):
                done = int(line)
            assert line == f"ended by {-signal.SIGKILL}\n"
            run = SmallRun()
            run.resume(path)
            assert run.steps in (done, done + 1)
            assert len(os.listdir(tmp_path)) <= 2, "unfinished files pile up"
        server.stdin.close()
    assert run.steps >= KILLS
    whole = SmallRun()
    while whole.steps < run.steps:
        whole.step()
    assert same(run.end(), whole.end())
    run.save(path)
    assert os.listdir(tmp_path) == ["run.npz"]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_killed_in_the_last_moments_of_a_write(tmp_path, moment):
    path = tmp_path / "run.npz"
    run = SmallRun()
    run.step()
    run.save(path)
    old = path.read_bytes()
    for _ in range(2):
        with start(KILLED.format(moment), path) as process:
            assert process.communicate()[0] == ""
        assert process.returncode == -signal.SIGKILL
        assert path.read_bytes() == old
        (left,) = [name for name in os.listdir(tmp_path) if name != "run.npz"]
        assert left.startswith("run.npz.") and left.endswith(".tmp")
    run.step()
    run.save(path)
    assert os.listdir(tmp_path) == ["run.npz"]


# ---- writes that fail ---------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    run = SmallRun()
    run.step()
    run.save(tmp_path / "run")
    old = (tmp_path / "run.npz").read_bytes()
    run.step()
    yield run
    assert os.listdir(tmp_path) == ["run.npz"]
    assert (tmp_path / "run.npz").read_bytes() == old


@pytest.mark.parametrize("size", [0, 1000, 5000])
def test_the_disk_is_full(tmp_path, saved, size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        with pytest.raises(OSError) as info:
            saved.save(tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert info.value.errno == errno.EFBIG


def test_the_disk_is_full_at_the_end(tmp_path, saved, monkeypatch):
    def fsync(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left on device"):
        saved.save(tmp_path / "run")


def test_a_folder_that_is_only_read(tmp_path, saved, monkeypatch):
    def refuse(path, mode):  # as for everybody but root
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(files, "open", refuse, raising=False)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*/run\.npz'$"):
        saved.save(tmp_path / "run")


def test_there_is_no_folder(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match=r"nowhere/run\.npz'$"):
        saved.save(tmp_path / "nowhere" / "run")
