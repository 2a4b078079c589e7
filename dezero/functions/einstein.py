"""Sums of products in Einstein's notation."""

import string
from collections.abc import Sequence

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.broadcasting import sum_to
from dezero.functions.dtypes import as_variables

__all__ = ["Einsum", "einsum"]


class Einsum(Function):
    reads_outputs = False

    def __init__(self, terms, result):
        # One letter per axis, "..." spelt out: terms ["ij", "jk"], result "ik".
        self.terms, self.result = terms, result
        # NumPy returns a view where one operand only changes the order of its axes.
        self.fresh_gradients = len(terms) > 1

    def forward(self, *xs):
        xp = cuda.get_array_module(xs[0])
        equation = f"{','.join(self.terms)}->{self.result}"
        return xp.asarray(xp.einsum(equation, *xs, optimize=len(xs) > 1))

    def backward(self, gy):
        xs = self.inputs
        return tuple(
            [
                self._gradient(i, xs, gy) if n else None
                for i, n in enumerate(self.needs_grad)
            ]
        )

    def _gradient(self, i, xs, gy):
        """The gradient by operand i: gy times the other operands, to its letters."""
        xp = cuda.get_array_module(gy)
        terms = [self.result, *self.terms[:i], *self.terms[i + 1 :]]
        operands = [gy, *xs[:i], *xs[i + 1 :]]
        unused = iter(sorted(set(string.ascii_letters) - set("".join(self.terms))))
        result = ""
        for axis, letter in enumerate(self.terms[i]):
            size = xs[i].shape[axis]
            if letter in result:  # a diagonal was taken: it alone has a gradient
                twin = next(unused)
                terms.append(letter + twin)
                operands.append(xp.eye(size, dtype=gy.dtype))
                letter = twin
            elif size not in [
                x.shape[term.index(letter)]
                for term, x in zip(terms, operands, strict=True)
                if letter in term
            ]:  # summed out with nothing, or with axes of size 1, beside it
                terms.append(letter)
                operands.append(xp.ones(size, dtype=gy.dtype))
            result += letter
        return Einsum(terms, result)(*operands)

    def fit_gradient(self, gx, x):
        # Axes of size 1 are broadcast: the gradient is summed over them.
        return super().fit_gradient(sum_to(gx, x.shape), x)


def einsum(subscripts: str, *operands: ArrayLike) -> Variable:
    """Multiply arrays and sum, each axis named by a letter, as ``numpy.einsum``.

    ``"ij,jk->ik"`` is a matrix product, ``"ii"`` a trace, ``"...ij->...ji"`` transposes
    a stack of matrices. Axes with the same letter run together; those not named after
    ``->`` are summed. Without ``->`` the letters that occur once are kept, in
    alphabetical order.

    Args:
        subscripts: Letters for the axes of each operand, separated by commas; ``...``
            stands for any number of axes, which broadcast.
        *operands: One array per comma-separated term.

    Returns:
        Variable with one axis per letter of the result.

    Raises:
        TypeError: The first argument is no string.
        ValueError: The subscripts are malformed or do not fit the operands.
    """
    if not isinstance(subscripts, str):
        raise TypeError(
            "einsum: expected subscripts like 'ij,jk->ik' first, "
            f"got {type(subscripts).__name__}"
        )
    xs = as_variables(*operands)
    terms, result = _parse(subscripts, [x.shape for x in xs])
    return Einsum(terms, result)(*xs)


def _parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str]:
    """Terms and result spelt out: one letter per axis and a result, no ellipsis."""

    def refuse(expected: str, got: str) -> ValueError:
        return ValueError(f"einsum: expected {expected}, got {got} in {subscripts!r}")

    left, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise refuse("one term per operand", f"{len(shapes)} operands")
    for term in [*terms, result]:
        rest = term.replace("...", "", 1)
        if not all(c in string.ascii_letters for c in rest):
            raise refuse("letters and at most one '...' per term", repr(term))
    named = set(left + result)
    spare = [c for c in string.ascii_letters if c not in named]
    dots = 0  # axes that the longest ellipsis stands for
    for term, shape in zip(terms, shapes, strict=True):
        letters = len(term.replace("...", ""))
        if letters > len(shape) or ("..." not in term and letters < len(shape)):
            raise refuse(f"one letter per axis of shape {shape}", repr(term))
        if "..." in term:
            dots = max(dots, len(shape) - letters)
    if dots > len(spare):
        raise refuse(f"at most {len(spare)} axes for '...'", str(dots))
    ellipsis = "".join(spare[:dots])
    full = []
    for term, shape in zip(terms, shapes, strict=True):
        count = len(shape) - len(term.replace("...", ""))
        full.append(term.replace("...", ellipsis[dots - count :]))
    if arrow:
        if dots and "..." not in result:
            raise refuse("'...' in the result as in the operands", repr(result))
        result = result.replace("...", ellipsis)
    else:
        letters_once = [c for c in sorted(named - {",", "."}) if left.count(c) == 1]
        result = ellipsis + "".join(letters_once)
    if len(set(result)) < len(result):
        raise refuse("different letters in the result", repr(result))
    unknown = [c for c in result if not any(c in term for term in full)]
    if unknown:
        raise refuse("letters of the operands in the result", repr(unknown[0]))
    _check_sizes(full, shapes, subscripts)
    return full, result


def _check_sizes(
    terms: list[str], shapes: Sequence[tuple[int, ...]], subscripts: str
) -> None:
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        own: dict[str, int] = {}
        for letter, size in zip(term, shape, strict=True):
            if sizes.setdefault(letter, size) == 1:
                sizes[letter] = size
            # Between operands size 1 broadcasts; a diagonal needs a square.
            for other in (own.setdefault(letter, size), sizes[letter]):
                if size != other and (size != 1 or own[letter] != 1):
                    raise ValueError(
                        f"einsum: expected equal sizes for {letter!r}, got {other} and "
                        f"{size} in {subscripts!r}"
                    )
