"""Modules that are loaded when something of them is used, not when somebody imports them."""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["lazily"]


def lazily(*names: str) -> None:
    """Let modules be loaded at their first use.

    For the command line, most of whose commands are over in a second or two: scikit-learn imports
    large packages that take longer than that, and of which they never use anything.

    Parameters
    ----------
    names : str
        Modules. Those that are not installed stay so, and those that are loaded stay loaded.
    """
    for name in names:
        # Of a module within a package the package tells: to look for more would load that.
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None:
            sys.modules[name] = _Waiting(name)


class _Waiting(ModuleType):
    """Stands for a module until something of it is wanted.

    ``importlib.util.LazyLoader`` would do, but before Python 3.12 the very next import of the
    module loads it.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
