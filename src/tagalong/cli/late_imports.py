"""Deferred loading of modules that are slow to import and that few commands use."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader

__all__ = ["UNUSED_BY_COMMANDS", "late_imports"]

UNUSED_BY_COMMANDS = (
    "joblib:cpu_count",
    "pandas",
    "narwhals",
    "narwhals.stable",
    "narwhals.stable.v2",
    "numpy.f2py",
    "numpy.ma",
    "numpy.testing",
    "scipy.linalg",
    "scipy.sparse.csgraph:laplacian",
    "scipy.sparse.linalg:cg,LinearOperator",
    "scipy.special",
    "scipy.stats",
    "sklearn.utils.parallel:_get_threadpool_controller",
)
"""Modules that numpy, scipy and scikit-learn always import, although most commands do not use them.
After a colon, functions and classes that are imported from the module by name and only called."""


@contextmanager
def late_imports(*names: str) -> Iterator[None]:
    """Defer the loading of some modules that are imported in this block to their first use.

    Most commands take a second or two. The large packages that scikit-learn imports take longer
    to load, and most commands never use them. Within the block, an import of one of the modules
    yields a placeholder, which loads the module at the first access to an attribute. After the
    block, imports yield the module itself.

    Parameters
    ----------
    names : str
        Modules. Modules that are not installed or already loaded are not affected. The form
        "module:f,g" also defers functions: they are stand-ins, which load the module when they are
        called.
    """
    deferred = {}
    for name in names:
        module, _, functions = name.partition(":")
        # Only the top-level package is looked up: to look up a submodule would load the package.
        if module not in sys.modules and find_spec(module.partition(".")[0]) is not None:
            deferred[module] = _LateModule(module, filter(None, functions.split(",")))
    parents = _ParentFinder()
    for module, placeholder in deferred.items():
        parent, _, child = module.rpartition(".")
        if parent in sys.modules:
            _attach(sys.modules[parent], child, placeholder)
        elif parent in deferred:
            setattr(deferred[parent], child, placeholder)
        elif parent:
            parents.add(parent, child, placeholder)
    sys.modules.update(deferred)
    sys.meta_path.insert(0, parents)
    try:
        yield
    finally:
        sys.meta_path.remove(parents)
        for placeholder in deferred.values():
            placeholder.withdraw()


class _LateModule(ModuleType):
    """Placeholder that loads a module at the first access to an attribute.

    ``importlib.util.LazyLoader`` does not work here: before Python 3.12 the next import of the
    module loads it.
    """

    def __init__(self, name: str, functions: Iterable[str] = ()):
        super().__init__(name)
        for function in functions:
            setattr(self, function, _late_function(name, function))

    def withdraw(self) -> None:
        """Let the next import load the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # the import system asks whether this is a package
            raise AttributeError(name)
        return getattr(_loaded(self.__name__), name)


def _late_function(module: str, name: str) -> Callable[..., Any]:
    def late(*args: Any, **kwargs: Any) -> Any:
        return getattr(_loaded(module), name)(*args, **kwargs)

    return late


def _loaded(name: str) -> ModuleType:
    """Return a module itself, loaded if necessary, in place of the placeholders on its path."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:end]))
        if isinstance(module, _LateModule):
            module.withdraw()
    return import_module(name)


def _attach(parent: ModuleType, child: str, placeholder: _LateModule) -> None:
    """Make a placeholder an attribute of its package, as the import system does with modules."""
    if child not in vars(parent):
        setattr(parent, child, placeholder)


class _ParentFinder:
    """Attaches placeholders to their packages when these are loaded."""

    def __init__(self) -> None:
        self._children: dict[str, list[tuple[str, _LateModule]]] = {}

    def add(self, parent: str, child: str, placeholder: _LateModule) -> None:
        """Attach a placeholder to a package as soon as the package is loaded."""
        self._children.setdefault(parent, []).append((child, placeholder))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a package that has placeholders; None for other modules."""
        children = self._children.get(fullname)
        if children is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _ParentLoader(spec.loader, children)  # type: ignore[assignment]
        return spec


class _ParentLoader:
    """Loads a package whose attributes include placeholders from the beginning."""

    def __init__(self, loader: "Loader", children: list[tuple[str, _LateModule]]):
        self._loader = loader
        self._children = children

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None: the import system makes the module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Attach the placeholders and run the package."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        for child, placeholder in self._children:
            _attach(module, child, placeholder)
        self._loader.exec_module(module)
