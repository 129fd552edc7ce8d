"""Deferred loading of modules that are slow to import and that few commands use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["UNUSED_BY_COMMANDS", "late_imports"]

UNUSED_BY_COMMANDS = ("scipy.stats", "scipy.special", "pandas")
"""Modules that scikit-learn always imports, although most commands do not use them."""


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
        Modules. Modules that are not installed or already loaded are not affected.
    """
    # Only the top-level package is looked up: to look up a submodule would load the package.
    deferred = {
        name: _LateModule(name)
        for name in names
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None
    }
    sys.modules.update(deferred)
    try:
        yield
    finally:
        for module in deferred.values():
            module.withdraw()


class _LateModule(ModuleType):
    """Placeholder that loads a module at the first access to an attribute.

    ``importlib.util.LazyLoader`` does not work here: before Python 3.12 the next import of the
    module loads it.
    """

    def withdraw(self) -> None:
        """Let the next import load the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str) -> Any:
        self.withdraw()
        return getattr(import_module(self.__name__), name)
