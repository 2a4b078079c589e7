"""What the real CuPy has: its names and arguments, as names.json lists them."""

import functools
import inspect
import json
import pathlib

TABLE = json.loads(
    pathlib.Path(__file__).with_name("names.json").read_text(encoding="utf-8")
)
VERSION = TABLE["cupy"]
MODULES = TABLE["modules"]
CLASSES = TABLE["classes"]


def names_of(path):
    """The public names of the module or class ``path``, with what each of them is."""
    return MODULES[path] if path in MODULES else CLASSES[path]


@functools.cache
def signature_of(path, name):
    """The arguments of a function or method as ``inspect`` has them."""
    text = names_of(path)[name]
    space = {}
    exec(f"def f{text}: pass", space)
    return inspect.signature(space["f"])


def check_arguments(path, name, args, kwargs):
    """TypeError for arguments that the function of the real CuPy does not take."""
    try:
        signature_of(path, name).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{path}.{name} of CuPy {VERSION}: {error}") from None


def lacking(path, name):
    """The error for a name that is not there: in CuPy, or only in the stand-in."""
    if name in {**MODULES, **CLASSES}.get(path, ()):
        return AttributeError(
            f"the stand-in has no {path}.{name}, though CuPy {VERSION} has: add it to "
            "tests/cupy_stand_in"
        )
    return AttributeError(f"CuPy {VERSION} has no {path}.{name}")
