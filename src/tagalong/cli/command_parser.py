"""An argument parser with a short usage line."""

import argparse
from typing import Any, Protocol

__all__ = ["ArgumentGroup", "CommandParser"]


class ArgumentGroup(Protocol):
    """A group of arguments in the help of a command, whose class in argparse is private."""

    def add_argument(self, *args: str, **kwargs: Any) -> argparse.Action:
        """Add an argument, as `argparse.ArgumentParser.add_argument` does."""
        ...


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose usage line can show the required arguments only.

    Parameters
    ----------
    args, kwargs
        As for `argparse.ArgumentParser`.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        # Set this before the base class is initialised, because its constructor adds --help.
        self._added: list[argparse.Action] = []
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: str, **kwargs: Any) -> argparse.Action:
        """Add an argument. `short_usage` does not see arguments that are added to a group."""
        action = super().add_argument(*args, **kwargs)
        self._added.append(action)
        return action

    def short_usage(self) -> str:
        """Return the usage line with '[options]' in place of all optional options."""
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
