"""Imports without modules that are slow to load and that hardly any command uses."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["UNUSED_BY_COMMANDS", "late_imports"]

UNUSED_BY_COMMANDS = ("scipy.stats", "scipy.special", "pandas")
"""Modules that scikit-learn imports in any case, and of which it uses little or nothing here."""


@contextmanager
def late_imports(*names: str) -> Iterator[None]:
    """Let what is imported in this block load some modules at their first use.

    For the command line, most of whose commands are over in a second or two: scikit-learn imports
    large packages that take longer than that, and of which they never use anything. Whoever
    imports one of the modules in the block gets an object that loads it when something of it is
    wanted. After the block every import gives the module itself, as if nothing had happened.

    Parameters
    ----------
    names : str
        Modules. Those that are not installed stay so, and those that are loaded stay loaded.
    """
    # Of a module within a package the package tells: to look for more would load that.
    waiting = {
        name: _LateModule(name)
        for name in names
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None
    }
    sys.modules.update(waiting)
    try:
        yield
    finally:
        for module in waiting.values():
            module.withdraw()


class _LateModule(ModuleType):
    """Stands for a module until something of it is wanted.

    ``importlib.util.LazyLoader`` would do, but before Python 3.12 the very next import of the
    module loads it.
    """

    def withdraw(self) -> None:
        """Let the next import load the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, name: str) -> Any:
        self.withdraw()
        return getattr(import_module(self.__name__), name)
