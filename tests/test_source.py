"""The rules that can be read off the sources: imports, devices, declarations."""

import ast
import importlib
import inspect
import pathlib
import pkgutil
import textwrap

import pytest

import dezero
from dezero.core import Function, Variable
from dezero.functions import variable_methods

PACKAGE = pathlib.Path(dezero.__file__).parent


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in SOURCES.items()}


# ---- imports point one way -------------------------------------------------------

# A module imports from lower layers, or from its own layer where that makes no circle.
LAYERS = (
    {"cuda"},
    {"cudnn"},
    {"kernels"},
    {"core"},
    {"functions"},
    # Serializers store arrays by name; they know no layers, layers know them.
    {"autodiff", "testing", "functions_conv", "serializers"},
    {"layers"},
    {"models", "datasets", "checkpoints", "diagnostics", "visualize"},
    {"training"},
    {"utils"},
)
# These stand beside the layers, and only on what is listed.
BESIDE = {
    "allocation": set(),
    "optimizers": {"core", "cuda", "kernels"},
    "transforms": {"cuda"},
    "dataloaders": {"cuda"},
    "downloads": {"cuda"},
    "steps": {"downloads"},
}
# Among the functions; a family that is not listed is one of "the rest".
FAMILIES = (
    {"shape", "axes", "dtypes", "blocks"},
    {"broadcasting"},
    {"elementwise"},
    {"arithmetic", "safe", "powers"},
    {"elementary", "exponential", "comparison"},
    {"reduction", "extremes"},
)
# These gather the families, and no family imports them.
GATHERERS = ("", "numpy_counterparts", "numpy_protocol", "variable_methods")


def rank(name, layers):
    for i, layer in enumerate(layers):
        if name in layer:
            return i
    return len(layers)


def guarded_by_type_checking(tree):
    """What stands under ``if TYPE_CHECKING:``, and is never run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for inner in node.body:
                yield from ast.walk(inner)


def imports_of(name, tree=None):
    """The dezero modules that a module imports, inside its functions too."""
    tree = TREES[name] if tree is None else tree
    skipped = set(guarded_by_type_checking(tree))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from [a.name for a in node.names if a.name.split(".")[0] == "dezero"]
        elif isinstance(node, ast.ImportFrom):
            assert node.module and node.level == 0, f"{name} has a relative import"
            if node.module.split(".")[0] == "dezero":
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    yield submodule if submodule in SOURCES else node.module


def backward_imports(name, tree=None):
    """The imports of a module that point the wrong way, each with what is wrong."""
    top, _, rest = name.removeprefix("dezero").strip(".").partition(".")
    if top == "":
        return  # the package itself imports what it likes
    for imported in imports_of(name, tree):
        other, _, inner = imported.removeprefix("dezero").strip(".").partition(".")
        if other == "":
            yield f"{name} imports the package that imports it"
        elif other == top == "functions":
            yield from backward_among_functions(name, rest, imported, inner)
        elif other == top:
            continue
        elif top in BESIDE:
            if other not in BESIDE[top]:
                yield f"{name} imports {imported}"
        elif other in BESIDE:
            # What stands beside may be used from where a user would use it.
            if rank(top, LAYERS) < rank("models", LAYERS):
                yield f"{name} imports {imported}"
        elif rank(other, LAYERS) > rank(top, LAYERS):
            yield f"{name} imports {imported}, which stands above it"


def backward_among_functions(name, family, imported, other):
    if family in GATHERERS:
        return
    if other in GATHERERS:
        yield f"{name} imports {imported}, which gathers the families"
    elif rank(other, FAMILIES) > rank(family, FAMILIES):
        yield f"{name} imports {imported}, which stands above it"


@pytest.mark.parametrize("name", SOURCES)
def test_imports_point_one_way(name):
    assert list(backward_imports(name)) == []


def test_every_module_has_its_place():
    tops = {name.split(".")[1] for name in SOURCES if "." in name}
    placed = set().union(*LAYERS, BESIDE)
    assert tops <= placed, f"say in LAYERS or BESIDE where {tops - placed} belongs"


def test_imports_make_no_circle():
    # The packages that only gather names are left out: they import all their modules.
    graph = {
        name: {other for other in imports_of(name) if other in SOURCES}
        for name, path in SOURCES.items()
        if path.stem != "__init__"
    }
    done = set()

    def visit(name, path):
        assert name not in path, " -> ".join([*path, name])
        if name in graph and name not in done:
            for other in sorted(graph[name] - {name}):
                visit(other, [*path, name])
            done.add(name)

    for name in graph:
        visit(name, [])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("dezero.core", "from dezero.functions import add"),
        ("dezero.core", "def f():\n    import dezero.functions.shape"),
        ("dezero.functions.shape", "from dezero.functions.arithmetic import add"),
        ("dezero.functions.elementary", "from dezero.functions import reduction"),
        ("dezero.functions.loss", "import dezero.functions as F"),
        ("dezero.functions.linalg", "from dezero import layers"),
        ("dezero.testing.cases", "from dezero.layers import Linear"),
        ("dezero.layers.base", "from dezero import models"),
        ("dezero.optimizers.sgd", "import dezero.functions as F"),
        ("dezero.dataloaders", "from dezero.core import Variable"),
        ("dezero.cuda", "import dezero.core"),
        ("dezero.models.base", "import dezero as dz"),
    ],
)
def test_an_import_that_points_back_is_found(name, line):
    assert list(backward_imports(name, ast.parse(line)))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("dezero.core", "from dezero import cuda"),
        ("dezero.core", "if TYPE_CHECKING:\n    import dezero.functions"),
        ("dezero.functions.loss", "from dezero.functions.activation import sigmoid"),
        ("dezero.layers.base", "import dezero.functions as F"),
        ("dezero.functions.elementary", "from dezero.functions import arithmetic"),
    ],
)
def test_an_import_that_points_down_is_not(name, line):
    assert list(backward_imports(name, ast.parse(line))) == []


# ---- devices ---------------------------------------------------------------------


def names_of_cupy(tree):
    """The names and imports that mention CuPy, but for attributes of our own cuda.

    Strings and comments may say what they like.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [alias.name for alias in node.names]
            modules.append(getattr(node, "module", None) or "")
            yield from [m for m in modules if m.split(".")[0] in ("cupy", "cupyx")]
        elif isinstance(node, ast.Name) and node.id in ("cupy", "cupyx", "cp"):
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in ("cupy", "cupyx"):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            # importlib.import_module("cupy"), sys.modules.get("cupy")
            yield from [
                ast.unparse(node)
                for a in node.args
                if isinstance(a, ast.Constant) and a.value in ("cupy", "cupyx")
            ]


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "dezero.cuda"])
def test_only_cuda_names_cupy(name):
    assert list(names_of_cupy(TREES[name])) == []


@pytest.mark.parametrize(
    "line",
    [
        "import cupy",
        "import cupy as xp",
        "from cupyx import scatter_add",
        "y = cuda.cupy.zeros(3)",
        "importlib.import_module('cupy')",
    ],
)
def test_a_name_of_cupy_is_found(line):
    assert list(names_of_cupy(ast.parse(line)))


def test_cuda_is_the_file_that_does():
    assert list(names_of_cupy(TREES["dezero.cuda"]))


# ---- what a Function declares ----------------------------------------------------


def function_classes():
    """Every Function class of the package, by qualified name."""
    found = {}
    packages = [dezero.functions.__name__]
    modules = [importlib.import_module("dezero.core")]
    for info in pkgutil.iter_modules(dezero.functions.__path__, packages[0] + "."):
        modules.append(importlib.import_module(info.name))
    for module in modules:
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Function):
                if cls.__module__ == module.__name__ and cls is not Function:
                    found[f"{cls.__module__.split('.')[-1]}.{cls.__name__}"] = cls
    return found


def attributes_read_by(cls, method, seen=None):
    """The attributes of self that a method reads, through the methods it calls too."""
    seen = set() if seen is None else seen
    function = inspect.getattr_static(cls, method, None)
    if not inspect.isfunction(function) or function in seen:
        return set()
    seen.add(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    read = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if owner == "self":
                read.add(node.attr)
                read |= attributes_read_by(cls, node.attr, seen)
            elif owner == "super()":
                for base in cls.__mro__[1:]:
                    if node.attr in vars(base):
                        read |= attributes_read_by(base, node.attr, seen)
                        break
    return read


def untruths(cls):
    """What the class declares and its backward does not keep to."""
    read = attributes_read_by(cls, "backward")
    for flag, attribute in (("reads_inputs", "inputs"), ("reads_outputs", "outputs")):
        if getattr(cls, flag) != (attribute in read):
            yield f"{flag} = {getattr(cls, flag)}, but backward " + (
                f"reads self.{attribute}"
                if attribute in read
                else f"does not read self.{attribute}"
            )


CLASSES = {
    name: cls for name, cls in function_classes().items() if "backward" in dir(cls)
}
# Base classes leave backward to their subclasses.
CONCRETE = {
    name: cls for name, cls in CLASSES.items() if cls.backward is not Function.backward
}


@pytest.mark.parametrize("name", CONCRETE)
def test_classes_declare_what_backward_reads(name):
    assert list(untruths(CONCRETE[name])) == []


def test_untrue_declarations_are_found():
    class Keeps(Function):
        reads_outputs = False

        def backward(self, gy):
            return gy

    class Forgets(Function):
        reads_inputs = False
        reads_outputs = False

        def backward(self, gy):
            return self.slope() * gy

        def slope(self):
            return self.inputs[0]

    class Inherits(Forgets):
        def backward(self, gy):
            return super().backward(gy)

    class Right(Function):
        reads_inputs = False

        def backward(self, gy):
            return gy * self.outputs[0]()

    assert list(untruths(Keeps)) == [
        "reads_inputs = True, but backward does not read self.inputs"
    ]
    expected = ["reads_inputs = False, but backward reads self.inputs"]
    assert list(untruths(Forgets)) == list(untruths(Inherits)) == expected
    assert list(untruths(Right)) == []


def test_classes_without_a_backward_are_base_classes():
    for name, cls in CLASSES.items():
        if cls.backward is Function.backward:
            assert cls.__subclasses__(), f"{name} has no backward"


# ---- Variable's methods ----------------------------------------------------------


def stubs_of_variable():
    """The names that class Variable lists under ``if TYPE_CHECKING:``."""
    (cls,) = [
        node
        for node in TREES["dezero.core"].body
        if isinstance(node, ast.ClassDef) and node.name == "Variable"
    ]
    for node in cls.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for stub in node.body:
                if isinstance(stub, ast.FunctionDef):
                    yield stub.name
                elif isinstance(stub, ast.AnnAssign):
                    yield ast.unparse(stub.target)
                elif isinstance(stub, ast.Assign):
                    yield from map(ast.unparse, stub.targets)


def test_stubs_of_variable_are_the_table_of_methods():
    stubs = list(stubs_of_variable())
    assert sorted(set(stubs)) == sorted(stubs), "a stub stands there twice"
    missing = sorted(set(variable_methods.METHODS) - set(stubs))
    surplus = sorted(set(stubs) - set(variable_methods.METHODS))
    assert (missing, surplus) == ([], []), "stubs missing, stubs without a method"


def test_methods_are_attached():
    for name in variable_methods.METHODS:
        assert hasattr(Variable, name)


# ---- docstrings ------------------------------------------------------------------


def test_modules_say_what_they_are_for():
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []
