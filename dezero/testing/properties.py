"""What must hold for every function of the table: one property, one function here.

Each takes a :class:`~dezero.testing.Case`, the arrays and the options drawn for it, and
raises AssertionError, with what it found, where the property does not hold.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from dezero import cuda
from dezero.core import Identity, Variable, no_grad
from dezero.testing.cases import Case
from dezero.testing.gradients import check_gradients, pin_random, pinned_random_state
from dezero.testing.passes import (
    Arrays,
    Options,
    assert_close,
    assert_same,
    assert_unchanged,
    bits_of,
    call_case,
    call_on_variables,
    carries_gradient,
    cast_options,
    data_of,
    leaf_gradients,
    map_arrays,
    seed_for,
)
from dezero.testing.strategies import LAYOUTS, with_layout

Property = Callable[[Case, Arrays, Options], None]


# How far results of a lower precision may be from those of float64, relative to their
# largest element: some twenty roundings.
PRECISION = {"float16": 2e-2, "float32": 3e-6}


def check_property(name: str, case: Case, xs: Arrays, options: Options) -> None:
    """Check the property ``name`` of ``PROPERTIES`` on one example.

    Raises:
        AssertionError: It does not hold. Errors of the function itself come through,
            with a note that names the property.
    """
    try:
        with pinned_random_state():
            PROPERTIES[name](case, xs, options)
    except Exception as error:
        error.add_note(f"{case!r}: property {name!r} does not hold")
        raise


def check_case(case: Case) -> None:
    """Check all that must hold, on examples that Hypothesis draws: a whole test.

    For functions of your own: ``def test_mine(): check_case(Case(mine, arrays()))``.

    Raises:
        AssertionError: A property does not hold; a note names it.
    """

    run_on_examples(case, properties_of(case))


def run_on_examples(case: Case, names: Sequence[str]) -> None:
    """Check the properties ``names`` of ``case`` on examples that Hypothesis draws.

    By the profile that is loaded, but without a time limit for an example, which fails
    on a busy machine and not on a wrong function; and of several failures the first.

    Raises:
        AssertionError: A property does not hold; a note names it.
    """

    @settings(
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow],
        # The phase that explains a failure traces every line, which takes minutes, and
        # what it finds are lines of this package.
        phases=[p for p in settings().phases if p is not Phase.explain],
    )
    @given(case.examples())
    def check(example: tuple[Arrays, Options]) -> None:
        for name in names:
            check_property(name, case, *example)

    check()


def properties_of(case: Case) -> list[str]:
    """The names in ``PROPERTIES`` of what ``case`` is checked for on any machine."""
    left_out = {"devices"}
    if case.reference is None:
        left_out.add("reference")
    if not case.differentiable:
        left_out |= {"gradients", "one_variable", "separate", "add_up", "passes"}
    return [name for name in PROPERTIES if name not in left_out]


def forward_equals_reference(case: Case, xs: Arrays, options: Options) -> None:
    """The outputs are what NumPy's formula gives: count, shapes, kinds and values."""
    assert case.reference is not None
    ys = [data_of(y) for y in call_case(case, xs, options)]
    pin_random()
    expected = case.reference(*[x.copy() for x in xs], **options)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    assert len(ys) == len(expected), f"{len(expected)} outputs expected, got {len(ys)}"
    for y, e in zip(ys, map(np.asarray, expected), strict=True):
        assert y.shape == e.shape, f"output of shape {e.shape} expected, got {y.shape}"
        kinds = y.dtype.kind, e.dtype.kind
        assert kinds[0] == kinds[1], f"output like {e.dtype} expected, got {y.dtype}"
        assert_close(y, e, 1e-10, "output against the reference")


def gradients_equal_differences(case: Case, xs: Arrays, options: Options) -> None:
    """Derivatives up to the order of the case are those that differences give."""
    # A partial shows the state that the case's function holds.
    f = functools.partial(case.function, **options)
    report = check_gradients(f, *xs, order=case.order, directions=1, name=case.name)
    report.assert_ok(case.tolerance)


def nothing_is_changed(case: Case, xs: Arrays, options: Options) -> None:
    """Inputs, options, outputs and the incoming gradient keep every bit."""
    watched = [(f"input {i}", x) for i, x in enumerate(xs)]
    watched += [(f"option {i}", x) for i, x in options.items() if cuda.is_array(x)]
    before = [bits_of(x) for _, x in watched]
    variables, ys = call_on_variables(case, xs, options)
    assert_unchanged(watched, before, "forward")
    watched += [(f"output {i}", data_of(y)) for i, y in enumerate(ys)]
    if case.differentiable:
        seeds = [seed_for(y) for y in ys]
        watched += [(f"incoming gradient {i}", s.data) for i, s in enumerate(seeds)]
        before = [bits_of(x) for _, x in watched]
        leaf_gradients(variables, ys, seeds)
        assert_unchanged(watched, before, "backward")


def precision_is_kept(case: Case, xs: Arrays, options: Options) -> None:
    """Float32 inputs give float32 outputs and gradients, close to those of float64."""
    for name in case.dtypes:
        low = [x.astype(name) for x in xs]
        low_options = cast_options(options, name)
        # What float64 makes of the same, already rounded, numbers.
        high = [x.astype(np.float64) for x in low]
        high_options = cast_options(low_options, "float64")
        variables, ys = call_on_variables(case, low, low_options)
        exact_variables, exact = call_on_variables(case, high, high_options)
        pairs = [("output", ys, exact)]
        if case.differentiable:
            gradients = leaf_gradients(variables, ys)
            seeds = [Variable(seed_for(y).data.astype(np.float64)) for y in ys]
            expected = leaf_gradients(exact_variables, exact, seeds)
            pairs.append(("gradient", gradients, expected))
        for what, found, wanted in pairs:
            for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
                a, b = data_of(a), data_of(b)
                if b.dtype.kind == "f":
                    assert a.dtype == name, f"{name} {what} {i} expected, got {a.dtype}"
                label = f"{what} {i} in {name} against float64"
                assert_close(a.astype(b.dtype), b, PRECISION[name], label)


def no_grad_records_nothing(case: Case, xs: Arrays, options: Options) -> None:
    """Under ``no_grad`` the results are the same, and constants."""
    with no_grad():
        variables, constants = call_on_variables(case, xs, options)
    _, ys = call_on_variables(case, xs, options)
    for constant, y in zip(constants, ys, strict=True):
        if isinstance(constant, Variable) and not any(
            [constant is x for x in variables]
        ):
            recorded = constant.creator is not None or constant.requires_grad
            assert not recorded, "under no_grad, an output was recorded"
        assert_same(data_of(constant), data_of(y), "output under no_grad")


def constants_give_the_same(case: Case, xs: Arrays, options: Options) -> None:
    """Raw arrays give the same outputs as Variables, and outputs without a gradient."""
    _, ys = call_on_variables(case, xs, options)
    for constant, y in zip(call_case(case, xs, options), ys, strict=True):
        assert_same(data_of(constant), data_of(y), "output for raw arrays")
        recorded = isinstance(constant, Variable) and constant.requires_grad
        assert not recorded, "for raw arrays, an output requires a gradient"


def one_variable_among_constants(case: Case, xs: Arrays, options: Options) -> None:
    """An input gets the same gradient when the other inputs are constants."""
    gradients = leaf_gradients(*call_on_variables(case, xs, options))
    for i, expected in enumerate(gradients):
        variable = Variable(xs[i])
        ys = call_case(case, [*xs[:i], variable, *xs[i + 1 :]], options)
        (found,) = leaf_gradients([variable], ys)
        assert_close(found, expected, 1e-13, f"gradient {i} beside constants")


def leaf_gradients_are_separate(case: Case, xs: Arrays, options: Options) -> None:
    """Each gradient that ``backward`` leaves is writable and in memory of its own."""
    variables, ys = call_on_variables(case, xs, options)
    seeds = [seed_for(y) for y in ys]
    for y, seed in zip(ys, seeds, strict=True):
        if carries_gradient(y):
            y.backward(grad=seed)
    others = [(f"input {i}", x) for i, x in enumerate(xs)]
    others += [(f"output {i}", data_of(y)) for i, y in enumerate(ys)]
    others += [(f"incoming gradient {i}", s.data) for i, s in enumerate(seeds)]
    others += [(f"option {i}", x) for i, x in options.items() if cuda.is_array(x)]
    leaves = [
        (f"gradient {i}", x.grad.data)
        for i, x in enumerate(variables)
        if x.grad is not None
    ]
    for name, g in leaves:
        assert g.flags.writeable, f"{name} is read-only"
    for (name, g), (other, a) in itertools.chain(
        itertools.combinations(leaves, 2), itertools.product(leaves, others)
    ):
        assert not np.shares_memory(g, a), f"{name} shares memory with {other}"


def passes_add_up(case: Case, xs: Arrays, options: Options) -> None:
    """A second and third pass add the same again; so does a second use of an input.

    Gradients are summed in place: one that is also somebody else's array shows here.
    """
    variables, ys = call_on_variables(case, xs, options)
    once = leaf_gradients(variables, ys)
    for times in (1, 2, 3):
        for y in ys:
            if carries_gradient(y):
                y.backward(grad=seed_for(y))
        for i, (x, g) in enumerate(zip(variables, once, strict=True)):
            found = np.zeros(x.shape) if x.grad is None else x.grad.data
            assert_close(found, times * g, 1e-13, f"gradient {i} after {times} passes")

    leaves = [Variable(x) for x in xs]
    stems = [Identity()(x) for x in leaves]  # sums on the way, not only at a leaf
    ys = [*call_case(case, stems, options), *call_case(case, stems, options)]
    seeds = [seed_for(y) for y in ys]
    before = [bits_of(seed.data) for seed in seeds]
    for i, (found, g) in enumerate(
        zip(leaf_gradients(leaves, ys, seeds), once, strict=True)
    ):
        assert_close(found, 2 * g, 1e-13, f"gradient {i} of an input used twice")
    watched = [(f"incoming gradient {i}", s.data) for i, s in enumerate(seeds)]
    assert_unchanged(watched, before, "backward through an input used twice")


def passes_agree(case: Case, xs: Arrays, options: Options) -> None:
    """``create_graph=True`` and ``retain_graph=False`` give the same gradients.

    So does a pass when nobody holds the outputs any more.
    """
    plain = leaf_gradients(*call_on_variables(case, xs, options))
    recorded = leaf_gradients(*call_on_variables(case, xs, options), create_graph=True)
    freed = leaf_gradients(*call_on_variables(case, xs, options), retain_graph=False)
    for i, g in enumerate(plain):
        assert_close(recorded[i], g, 1e-13, f"gradient {i} with create_graph=True")
        assert_close(freed[i], g, 1e-13, f"gradient {i} with retain_graph=False")
    variables, ys = call_on_variables(case, xs, options)
    ys = [Identity()(y) if carries_gradient(y) else y for y in ys]
    try:
        gone = leaf_gradients(variables, ys)
    except Exception as error:
        raise AssertionError(
            "backward fails once nobody holds the outputs: is reads_outputs False in a "
            f"class that reads self.outputs? ({type(error).__name__}: {error})"
        ) from error
    for i, g in enumerate(plain):
        assert_close(gone[i], g, 1e-13, f"gradient {i} when the outputs are gone")


def layout_does_not_matter(case: Case, xs: Arrays, options: Options) -> None:
    """Transposed, reversed and strided views give what contiguous arrays give."""
    expected: list[Any] = []
    for layout in LAYOUTS:
        views = [with_layout(x, layout) for x in xs]
        variables, ys = call_on_variables(case, views, options)
        found = [("output", data_of(y)) for y in ys]
        if case.differentiable:
            found += [("gradient", g) for g in leaf_gradients(variables, ys)]
        expected = expected or [a for _, a in found]
        for (what, a), b in zip(found, expected, strict=True):
            assert_close(a, b, 1e-12, f"{what} for {layout} inputs")


def devices_agree(case: Case, xs: Arrays, options: Options) -> None:
    """CuPy gives what NumPy gives. Only for machines with a usable device."""
    variables, ys = call_on_variables(case, xs, options)
    gpu_options = map_arrays(options, cuda.as_cupy)
    gpu_xs = [cuda.as_cupy(x) for x in xs]
    gpu_variables, gpu_ys = call_on_variables(case, gpu_xs, gpu_options)
    pairs = [("output", data_of(a), b) for a, b in zip(ys, gpu_ys, strict=True)]
    if case.differentiable:
        seeds = [Variable(cuda.as_cupy(seed_for(y).data)) for y in ys]
        gradients = leaf_gradients(variables, ys)
        gpu_gradients = leaf_gradients(gpu_variables, gpu_ys, seeds)
        zipped = zip(gradients, gpu_gradients, strict=True)
        pairs += [("gradient", a, b) for a, b in zipped]
    for what, a, b in pairs:
        assert cuda.get_array_module(b) is not np, f"{what} left the device"
        b = cuda.as_numpy(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), (
            f"{what} {a.dtype}{a.shape} on the CPU, {b.dtype}{b.shape} on the device"
        )
        if not case.random:
            assert_close(b, a, 1e-9, f"{what} on the device")


PROPERTIES: dict[str, Property] = {
    "reference": forward_equals_reference,
    "gradients": gradients_equal_differences,
    "unchanged": nothing_is_changed,
    "precision": precision_is_kept,
    "no_grad": no_grad_records_nothing,
    "constants": constants_give_the_same,
    "one_variable": one_variable_among_constants,
    "separate": leaf_gradients_are_separate,
    "add_up": passes_add_up,
    "passes": passes_agree,
    "layout": layout_does_not_matter,
    "devices": devices_agree,
}
