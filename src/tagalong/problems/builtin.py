"""Base class of the built-in problems."""

import inspect
from typing import Any, Self

from tagalong.problems.protocol import Vector

__all__ = ["BuiltinProblem"]


class BuiltinProblem:
    """Base class of the built-in problems.

    A built-in problem is defined by its constructor's arguments, and the native core can decode
    it.
    """

    _arguments: dict[str, Any]

    def _store_arguments(self, **arguments: Any) -> None:
        self._arguments = arguments

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, except the dimension."""
        return {name: value for name, value in self._arguments.items() if name != "dimension"}

    def sized(self, dimension: int) -> Self:
        """Return the same problem with this number of scores."""
        return type(self)(**{**self._arguments, "dimension": dimension})

    def worst_decode(self, scores: Vector, y: Any) -> Any:
        """Return the prediction with the largest loss among those with the highest score.

        Learning uses it, so that a tie counts as a mistake. A custom problem may omit it; then
        learning uses ``decode``.
        """
        raise NotImplementedError

    def rule(self) -> dict[str, Any] | None:
        """Return the problem's description for the native core; None if it cannot decode it."""
        raise NotImplementedError

    @property
    def is_known_to_the_core(self) -> bool:
        """Whether the native core can decode the problem; False for a user's subclass."""
        is_builtin = type(self).__module__.startswith("tagalong.problems.")
        return is_builtin and self.rule() is not None

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        arguments = (
            f"{name}={value!r}"
            for name, value in self._arguments.items()
            if value != defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(arguments)})"
