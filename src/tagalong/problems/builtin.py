"""What the problems of this package share beyond the protocol."""

import inspect
from typing import Any, Self

__all__ = ["BuiltinProblem"]


class BuiltinProblem:
    """A problem that is told by the arguments it was made with, and that the native core knows."""

    _arguments: dict[str, Any]

    def _keep(self, **arguments: Any) -> None:
        self._arguments = arguments

    def settings(self) -> dict[str, Any]:
        """Return the arguments that make an equal problem, the dimension excepted."""
        return {name: value for name, value in self._arguments.items() if name != "dimension"}

    def sized(self, dimension: int) -> Self:
        """Return the same problem with a number of scores."""
        return type(self)(**{**self._arguments, "dimension": dimension})

    def worst_decode(self, scores: Any, y: Any) -> Any:
        """Return the prediction that loses most among those that score best.

        What learning looks at: equal scores are a mistake. A problem of one's own need not have
        this, and is asked to ``decode`` then.
        """
        raise NotImplementedError

    def rule(self) -> dict[str, Any] | None:
        """Return what the native core needs to know; None if it does not know this problem."""
        raise NotImplementedError

    @property
    def is_known_to_the_core(self) -> bool:
        """Whether the core can decide; what somebody has derived from a problem, it cannot."""
        own = type(self).__module__.startswith("tagalong.problems.")
        return own and self.rule() is not None

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = (
            f"{name}={value!r}"
            for name, value in self._arguments.items()
            if value != defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(given)})"
