"""What the real front end has: its names and arguments, as names.json lists them."""

import functools
import inspect
import json
import pathlib

TABLE = json.loads(
    pathlib.Path(__file__).with_name("names.json").read_text(encoding="utf-8")
)
VERSION = TABLE["nvidia-cudnn-frontend"]
CLASSES, ENUMS, MODULE, NODES = [
    TABLE[key] for key in ("classes", "enums", "module", "nodes")
]


@functools.cache
def signature(text):
    """Arguments as they are written, as ``inspect`` has them."""
    space = {}
    exec(f"def f{text}: pass", space)
    return inspect.signature(space["f"])


def check(name, texts, args, kwargs):
    """TypeError for arguments that fit to none of the ways to call the real one."""
    errors = []
    for text in texts:
        try:
            signature(text).bind(*args, **kwargs)
        except TypeError as error:
            errors.append(str(error))
    if len(errors) == len(texts):
        raise TypeError(f"{name} of cudnn {VERSION}: {errors[-1]}")


def strict(texts):
    """A function that takes what the real one takes."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            check(function.__name__, texts, args, kwargs)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def strict_class(name):
    """A class with methods of the real one, and their arguments."""

    def decorate(cls):
        for key, value in list(vars(cls).items()):
            if callable(value) and (key == "__init__" or key[0] != "_"):
                texts = NODES.get(key) or [CLASSES[name][key]]
                setattr(cls, key, strict(texts)(value))
        return cls

    return decorate
