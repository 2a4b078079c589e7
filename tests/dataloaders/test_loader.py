"""Batches: order, sizes, fresh passes."""

import gc
import io
import sys
import threading
import time

import numpy as np
import pytest

from dezero import cuda
from dezero.dataloaders import DataLoader
from dezero.datasets import Digits, Spiral, TensorDataset


def pairs(n):
    return [(np.array([i], dtype=np.float32), i % 3) for i in range(n)]


def firsts(loader):
    """The x of one pass, batch by batch."""
    return [x.ravel().tolist() for x, _ in loader]


def test_batches_in_order():
    loader = DataLoader(pairs(10), 4, shuffle=False)
    assert len(loader) == loader.max_iter == 3
    assert firsts(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    x, t = next(loader)
    assert x.shape == (4, 1) and x.dtype == np.float32
    assert t.shape == (4,) and t.dtype == np.int64


@pytest.mark.parametrize("n, batch_size, batches", [(1, 1, 1), (8, 4, 2), (3, 9, 1)])
def test_number_of_batches(n, batch_size, batches):
    loader = DataLoader(pairs(n), batch_size)
    assert len(loader) == len(firsts(loader)) == batches


def test_every_item_once_per_pass_in_a_new_order():
    loader = DataLoader(pairs(50), 8)
    passes = [sum(firsts(loader), []) for _ in range(3)]
    assert all(sorted(one) == list(range(50)) for one in passes)
    assert passes[0] != passes[1] != passes[2]


def test_order_follows_the_seed():
    np.random.seed(3)
    expected = firsts(DataLoader(pairs(20), 6))
    np.random.seed(3)
    assert firsts(DataLoader(pairs(20), 6)) == expected


def test_a_loop_that_is_left_starts_afresh():
    loader = DataLoader(pairs(10), 4, shuffle=False)
    for _ in loader:
        break
    assert firsts(loader)[0] == [0, 1, 2, 3]


def test_next_walks_through_pass_after_pass():
    loader = DataLoader(pairs(3), 2, shuffle=False)
    for _ in range(2):
        assert next(loader)[0].tolist() == [[0], [1]]
        assert next(loader)[0].tolist() == [[2]]
        with pytest.raises(StopIteration):
            next(loader)
    next(loader)
    loader.reset()
    assert next(loader)[0].tolist() == [[0], [1]]


def test_loops_over_one_loader_may_be_nested():
    loader = DataLoader(pairs(4), 2, shuffle=False)
    seen = [
        (x.ravel().tolist(), y.ravel().tolist()) for x, _ in loader for y, _ in loader
    ]
    assert seen == [([a, a + 1], [b, b + 1]) for a in (0, 2) for b in (0, 2)]
    together = zip(loader, loader, strict=True)
    assert [x[0].tolist() == y[0].tolist() for x, y in together] == [True, True]


def test_next_shares_the_pass_that_was_started_last():
    loader = DataLoader(pairs(6), 2, shuffle=False)
    batches = iter(loader)
    assert next(batches)[0].tolist() == [[0], [1]]
    assert next(loader)[0].tolist() == [[2], [3]] and loader.iteration == 2
    assert next(batches)[0].tolist() == [[4], [5]]
    assert not list(batches)
    assert next(loader)[0].tolist() == [[0], [1]]  # of the next pass


def test_after_an_error_the_same_batch_is_next():
    class Fails(list):
        def __getitem__(self, i):
            raise StopIteration  # which would end a loop quietly

    with pytest.raises(RuntimeError):
        list(DataLoader(Fails(pairs(4)), 2))
    data = pairs(4)
    loader = DataLoader(data, 2, shuffle=False)
    next(loader)
    data[2] = None
    with pytest.raises(TypeError, match="collate"):
        next(loader)
    data[2] = pairs(4)[2]
    assert next(loader)[0].tolist() == [[2], [3]]


@pytest.mark.parametrize("dataset", [Spiral(), Digits(train=False)])
def test_batches_of_a_dataset_equal_batches_of_its_items(dataset):
    np.random.seed(0)
    gathered = list(DataLoader(dataset, 64))
    np.random.seed(0)
    stacked = list(DataLoader([dataset[i] for i in range(len(dataset))], 64))
    for (x0, t0), (x1, t1) in zip(gathered, stacked, strict=True):
        np.testing.assert_array_equal(x0, x1)
        np.testing.assert_array_equal(t0, t1)
        assert x0.dtype == x1.dtype and t0.dtype == t1.dtype


def test_no_targets():
    x, t = next(DataLoader([(1.0, None), (2.0, None)], 2, shuffle=False))
    assert x.tolist() == [1, 2] and t is None


def test_devices():
    loader = DataLoader(pairs(2), 2)
    loader.to_gpu()
    assert loader.gpu
    loader.to_cpu()
    assert not loader.gpu and type(next(loader)[0]) is np.ndarray


@pytest.mark.gpu
@pytest.mark.parametrize("dataset", [pairs(9), Spiral()])
def test_batches_on_the_gpu(dataset):
    loader = DataLoader(dataset, 4, shuffle=False, gpu=True)
    on_cpu = DataLoader(dataset, 4, shuffle=False)
    for (x, t), (x_cpu, t_cpu) in zip(loader, on_cpu, strict=True):
        assert isinstance(x, cuda.cupy.ndarray) and isinstance(t, cuda.cupy.ndarray)
        np.testing.assert_array_equal(x.get(), x_cpu)
        np.testing.assert_array_equal(t.get(), t_cpu)


# ---- seeds, weights, sizes -----------------------------------------------------------


def test_a_seed_of_its_own():
    def passes(seed, n=3):
        loader = DataLoader(pairs(20), 6, seed=seed)
        return [firsts(loader) for _ in range(n)]

    np.random.seed(0)
    expected = np.random.rand()
    np.random.seed(0)
    first = passes(3)
    assert np.random.rand() == expected
    assert passes(3) == first and first[0] != first[1] and passes(4) != first


def test_drop_last():
    loader = DataLoader(pairs(10), 4, shuffle=False, drop_last=True)
    assert len(loader) == loader.max_iter == 2
    assert firsts(loader) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(firsts(DataLoader(pairs(8), 4, drop_last=True))) == 2
    seen = set()
    loader = DataLoader(pairs(10), 4, seed=0, drop_last=True)
    for _ in range(10):
        seen.update(sum(firsts(loader), []))
    assert seen == set(range(10))  # chance decides what is left out


def test_weights():
    weights = [0, 1, 3, 0, 6]
    loader = DataLoader(pairs(5), 2, weights=weights, seed=0)
    assert len(loader) == 3
    drawn = np.concatenate([sum(firsts(loader), []) for _ in range(1000)])
    assert len(drawn) == 5000
    share = np.bincount(drawn.astype(int), minlength=5) / 5000
    np.testing.assert_allclose(share, np.array(weights) / 10, atol=0.02)
    np.random.seed(1)
    first = firsts(DataLoader(pairs(5), 2, weights=weights))
    np.random.seed(1)
    assert firsts(DataLoader(pairs(5), 2, weights=weights)) == first


# ---- other items ---------------------------------------------------------------------


def test_dicts():
    items = [{"x": np.full(2, i), "name": f"n{i}", "t": i} for i in range(5)]
    batch = next(DataLoader(items, 3, shuffle=False))
    assert batch["x"].shape == (3, 2) and batch["t"].tolist() == [0, 1, 2]
    assert batch["name"].tolist() == ["n0", "n1", "n2"]


def test_tuples_of_other_lengths():
    data = TensorDataset(np.arange(4), np.arange(4) * 2, np.arange(4) * 3)
    for dataset in data, list(data):
        a, b, c = next(DataLoader(dataset, 3, shuffle=False))
        assert (a.tolist(), b.tolist(), c.tolist()) == ([0, 1, 2], [0, 2, 4], [0, 3, 6])


def test_a_function_of_ones_own():
    loader = DataLoader([3, 1, 2], 2, shuffle=False, collate=sum)
    assert list(loader) == [4, 2]
    loader = DataLoader(np.ones((5, 3)), 2, collate=np.stack)
    assert [x.shape for x in loader] == [(2, 3), (2, 3), (1, 3)]
    # It comes before what the dataset would do by itself.
    assert list(DataLoader(Spiral(), 200, collate=len)) == [200, 100]


# ---- workers -------------------------------------------------------------------------


class Slow:
    """Notes which threads read, and how many at once."""

    def __init__(self, n=20):
        self.n, self.threads, self.now, self.most = n, set(), 0, 0
        self.lock = threading.Lock()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        with self.lock:
            self.threads.add(threading.get_ident())
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.001)
        with self.lock:
            self.now -= 1
        return np.array([float(i)]), i


@pytest.mark.parametrize("workers", [1, 3, 50])
def test_workers_keep_the_order(workers):
    data = Slow()
    loader = DataLoader(data, 3, seed=0, workers=workers)
    plain = DataLoader(data, 3, seed=0)
    for _ in range(2):
        assert firsts(loader) == firsts(plain)
    np.random.seed(0)
    expected = firsts(DataLoader(pairs(9), 2))
    np.random.seed(0)
    assert firsts(DataLoader(pairs(9), 2, workers=workers)) == expected


def test_workers_read_at_once_in_other_threads():
    data = Slow()
    threads = threading.active_count()
    assert len(list(DataLoader(data, 2, workers=4))) == 10
    assert threading.get_ident() not in data.threads and data.most > 1
    assert threading.active_count() == threads  # they end with the loop


def test_workers_end_with_a_loop_that_is_left():
    threads = threading.active_count()
    loader = DataLoader(Slow(), 2, shuffle=False, workers=2)
    for _ in loader:
        break
    gc.collect()
    assert threading.active_count() == threads
    assert firsts(loader)[0] == [0, 1]


def test_workers_share_a_pass_with_next():
    loader = DataLoader(pairs(8), 2, shuffle=False, workers=2)
    batches = iter(loader)
    assert next(batches)[0].tolist() == [[0], [1]]
    assert next(loader)[0].tolist() == [[2], [3]]
    assert next(batches)[0].tolist() == [[4], [5]]
    assert [x.tolist() for x, _ in batches] == [[[6], [7]]]


def test_an_error_in_a_worker_arrives():
    data = pairs(8)
    data[4] = None
    loader = DataLoader(data, 2, shuffle=False, workers=2)
    seen = []
    with pytest.raises(TypeError, match="collate"):
        for x, _ in loader:
            seen.append(x.ravel().tolist())
    assert seen == [[0, 1], [2, 3]]
    data[4] = pairs(8)[4]
    assert next(loader)[0].tolist() == [[4], [5]]


# ---- progress ------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("workers", [0, 2])
def test_progress(monkeypatch, workers, capsys):
    pytest.importorskip("tqdm")
    loader = DataLoader(pairs(10), 4, shuffle=False, progress=True, workers=workers)
    assert len(firsts(loader)) == 3
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert len(firsts(loader)) == 3
    assert "3/3" in sys.stderr.getvalue()


def test_progress_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert len(firsts(DataLoader(pairs(4), 2))) == 2
    with pytest.raises(ImportError, match="DataLoader: expected the package tqdm for"):
        DataLoader(pairs(4), 2, progress=True)


# ---- stopped and resumed -------------------------------------------------------------


@pytest.mark.parametrize("steps", range(12))
@pytest.mark.parametrize("options", [{"seed": 5}, {"seed": 5, "workers": 2}])
def test_a_loader_goes_on_where_it_was(steps, options):
    """As a training loop does: epochs of 4 batches, stopped after some steps."""
    loader = DataLoader(pairs(10), 3, **options)
    whole = [firsts(loader) for _ in range(3)]
    loader = DataLoader(pairs(10), 3, **options)
    seen, state = [[]], loader.state_dict()
    while sum(map(len, seen)) < steps:
        for x, _ in loader:
            seen[-1].append(x.ravel().tolist())
            state = loader.state_dict()
            if sum(map(len, seen)) == steps:
                break
        else:
            seen.append([])
    resumed = DataLoader(pairs(10), 3, **options)
    resumed.load_state_dict(state)
    while len(seen) <= 3:
        seen[-1] += firsts(resumed)
        seen.append([])
    assert seen[:3] == whole


def test_next_goes_on_too_and_a_reset_starts_afresh():
    loader = DataLoader(pairs(6), 2, shuffle=False)
    next(loader)
    state = loader.state_dict()
    other = DataLoader(pairs(6), 2, shuffle=False)
    other.load_state_dict(state)
    assert other.iteration == 1 and next(other)[0].tolist() == [[2], [3]]
    assert firsts(other)[0] == [0, 1]
    other.load_state_dict(state)
    other.reset()
    assert firsts(other)[0] == [0, 1]


def test_state_of_an_order_from_the_global_numbers():
    np.random.seed(0)
    loader = DataLoader(pairs(10), 4)
    expected = firsts(loader)
    np.random.seed(0)
    loader = DataLoader(pairs(10), 4)
    next(loader)
    state = loader.state_dict()
    other = DataLoader(pairs(10), 4)
    other.load_state_dict(state)
    assert firsts(other) == expected[1:]
    assert all(isinstance(v, (int, np.ndarray)) for v in state.values())


ERRORS = [
    (lambda: DataLoader(pairs(3), 0), ValueError, "DataLoader: .* >= 1, got 0"),
    (lambda: DataLoader(pairs(3), 2.0), TypeError, "DataLoader: .* integer .* float"),
    (lambda: DataLoader(iter([]), 2), TypeError, "DataLoader: .* length, .*iterator"),
    (lambda: DataLoader([], 1), ValueError, "DataLoader: .* got an empty one"),
    (lambda: DataLoader(pairs(3), 1, workers=-1), ValueError, "workers >= 0, got -1"),
    (lambda: DataLoader(pairs(3), 1, workers=1.0), TypeError, "integer workers, got f"),
    (
        lambda: DataLoader(pairs(3), 4, drop_last=True),
        ValueError,
        "DataLoader: expected batch_size <= 3 with drop_last, got 4",
    ),
    (
        lambda: DataLoader(pairs(3), 1, weights=[1, 2]),
        ValueError,
        r"DataLoader: expected weights of shape \(3,\), got \(2,\)",
    ),
    (
        lambda: DataLoader(pairs(3), 1, weights=[1, 2, -1]),
        ValueError,
        "DataLoader: expected weights >= 0, .*, got -1.0 to 2.0",
    ),
    (lambda: DataLoader(pairs(2), 1, weights=[0, 0]), ValueError, "got 0.0 to 0.0"),
    (lambda: DataLoader(pairs(2), 1, weights=[1, np.inf]), ValueError, "to inf"),
    (
        lambda: DataLoader(pairs(2), 1, shuffle=False, weights=[1, 1]),
        ValueError,
        "DataLoader: expected shuffle=True with weights",
    ),
    (
        lambda: DataLoader(pairs(2), 1).load_state_dict(
            DataLoader(pairs(3), 1).state_dict()
        ),
        ValueError,
        "DataLoader.load_state_dict: expected data_size 2, got 3",
    ),
    (
        lambda: DataLoader(pairs(3), 2).load_state_dict(
            DataLoader(pairs(3), 1).state_dict()
        ),
        ValueError,
        "expected batch_size 2, got 1",
    ),
    (
        lambda: DataLoader(pairs(3), 1).load_state_dict(
            DataLoader(pairs(3), 1, seed=1).state_dict()
        ),
        ValueError,
        "expected the state of a loader without a seed, got one of a seed",
    ),
    (
        lambda: DataLoader(pairs(3), 1, seed=1).load_state_dict(
            DataLoader(pairs(3), 1).state_dict()
        ),
        ValueError,
        "expected the state of a loader with a seed, got one of no seed",
    ),
    (
        lambda: next(DataLoader([1, 2], 2)),
        TypeError,
        "collate: .*pairs.* got int$",
    ),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
