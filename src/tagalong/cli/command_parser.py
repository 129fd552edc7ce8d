"""A parser whose usage line is short."""

import argparse
from typing import Any

__all__ = ["CommandParser"]


class CommandParser(argparse.ArgumentParser):
    """A parser that can tell what must be given, and leave out the rest: there is much of it.

    Parameters
    ----------
    args, kwargs
        As for `argparse.ArgumentParser`.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._added: list[argparse.Action] = []  # the base class adds --help
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Add an argument; those of groups are options, which `short_usage` leaves out."""
        action = super().add_argument(*args, **kwargs)
        self._added.append(action)
        return action

    def short_usage(self) -> str:
        """Return a usage line without the options that can be left out."""
        words = [self.prog]
        for action in self._added:
            if not action.option_strings:
                words.append(_positional(action))
            elif action.required:
                words.append(f"{action.option_strings[0]} {action.metavar}")
        return " ".join([*words, "[options]"])


def _positional(action: argparse.Action) -> str:
    if action.choices is not None:
        return f"{{{','.join(action.choices)}}}"
    name = str(action.metavar)
    ending = {"*": f"[{name} ...]", "+": f"{name} ..."}
    return ending.get(str(action.nargs), name)
