"""An argument parser with a short usage line."""

import argparse
import os
import sys
from typing import Any, NoReturn, Protocol

from tagalong.printable import printable

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

    def error(self, message: str) -> NoReturn:
        """Print the usage and a message, which may quote arguments, and exit."""
        super().error(printable(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments. An optional value must be valid, or it is taken as the next argument.

        Without this, ``--shuffle tickets.csv`` would take the file as the seed.
        """
        given = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(self._with_explicit_values(given), namespace)

    def _with_explicit_values(self, given: list[str]) -> list[str]:
        """Return the arguments with the constant of each option whose value is left out."""
        constants = {
            flag: action
            for action in self._actions
            if action.nargs == "?"
            for flag in action.option_strings
        }
        found = list(given)
        for place, word in enumerate(given):
            action = constants.get(word)
            if action is not None and not _accepts(action, given[place + 1 : place + 2]):
                found[place] = f"{word}={action.const}"
        return found

    def short_usage(self) -> str:
        """Return the usage line with '[options]' in place of all optional options."""
        words = [self.prog]
        for action in self._added:
            if not action.option_strings:
                words.append(_positional(action))
            elif action.required:
                words.append(action.option_strings[0])
                if action.nargs != 0:  # not a flag
                    words.append(str(action.metavar))
        return " ".join([*words, "[options]"])


def _accepts(action: argparse.Action, words: list[str]) -> bool:
    """Whether the next word, if there is one, is meant as the value of an option.

    A number that the option refuses is meant as its value too, unless a file has this name.
    """
    try:
        return all(callable(action.type) and action.type(word) is not None for word in words)
    except (ValueError, argparse.ArgumentTypeError):
        return all(_is_number(word) and not os.path.exists(word) for word in words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _positional(action: argparse.Action) -> str:
    if action.choices is not None:
        return f"{{{','.join(action.choices)}}}"
    name = str(action.metavar)
    ending = {"*": f"[{name} ...]", "+": f"{name} ..."}
    return ending.get(str(action.nargs), name)
