"""Batches: order, sizes, fresh passes."""

import numpy as np
import pytest

from dezero import cuda
from dezero.dataloaders import DataLoader, SeqDataLoader, collate
from dezero.datasets import Digits, Spiral


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


def test_readers_of_a_sequence():
    loader = SeqDataLoader(pairs(10), 3)
    assert len(loader) == 4
    expected = [[0, 3, 6], [1, 4, 7], [2, 5, 8], [3, 6, 9]]
    assert firsts(loader) == expected
    next(iter(loader))
    assert firsts(loader) == expected


def test_readers_when_the_length_does_not_divide():
    # Each reader takes ceil(5 / 2) = 3 steps.
    assert firsts(SeqDataLoader(pairs(5), 2)) == [[0, 2], [1, 3], [2, 4]]
    assert firsts(SeqDataLoader(pairs(5), 4)) == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert firsts(SeqDataLoader(pairs(3), 3)) == [[0, 1, 2]]


def test_collate():
    x, t = collate([([1, 2], 0.5), ([3, 4], 1.5)])
    assert x.tolist() == [[1, 2], [3, 4]] and t.tolist() == [0.5, 1.5]


ERRORS = [
    (lambda: DataLoader(pairs(3), 0), ValueError, "DataLoader: .* >= 1, got 0"),
    (lambda: DataLoader(pairs(3), 2.0), TypeError, "DataLoader: .* integer .* float"),
    (lambda: DataLoader(iter([]), 2), TypeError, "DataLoader: .* length, .*iterator"),
    (lambda: DataLoader([], 1), ValueError, "DataLoader: .* got an empty one"),
    (lambda: SeqDataLoader(pairs(3), 4), ValueError, "SeqDataLoader: .* <= 3.* got 4"),
    (lambda: SeqDataLoader(pairs(3), 0), ValueError, "SeqDataLoader: .* >= 1, got 0"),
    (
        lambda: next(DataLoader([1, 2], 2)),
        TypeError,
        "collate: .*pairs.* got int$",
    ),
    (lambda: collate([(1, 2, 3)]), TypeError, "collate: .* tuple of length 3"),
    (lambda: collate([]), ValueError, "collate: expected at least one item"),
    (
        lambda: collate([(1, None), (2, 3)]),
        TypeError,
        "collate: expected every t .* numbers or an array, got NoneType and int$",
    ),
    (
        lambda: collate([(np.ones(3), 0), (np.ones(2), 0)]),
        ValueError,
        r"collate: expected every x .* got \(2,\) and \(3,\)",
    ),
    (
        lambda: collate([(0, np.ones((1, 2))), (0, 1)]),
        ValueError,
        r"collate: expected every t .* got \(\) and \(1, 2\)",
    ),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
