"""The contestants of a race of learners: their names, how well each does, and why others left."""

from collections.abc import Sequence
from dataclasses import dataclass

from tagalong import _native as core

__all__ = ["CONTESTANTS", "Contestant", "checked_names", "largest_budget"]

CONTESTANTS = {contestant.name: contestant for contestant in core.contestant_types()}
"""The native table of contestants, by name."""


def checked_names(race: object) -> list[str]:
    """Return the names of contestants that a user has given; ValueError if they make no race.

    Parameters
    ----------
    race : sequence of str
        The value of the parameter.
    """
    if isinstance(race, str) or not isinstance(race, Sequence) or not race:
        raise ValueError(
            f"race must be 'auto', None or names of contestants ({', '.join(CONTESTANTS)}), "
            f"got {race!r}"
        )
    names = list(race)
    if any(not isinstance(name, str) or name not in CONTESTANTS for name in names):
        raise ValueError(f"race must name contestants ({', '.join(CONTESTANTS)}), got {race!r}")
    if len(set(names)) != len(names):
        raise ValueError(f"race must name every contestant once, got {race!r}")
    if not any(CONTESTANTS[name].is_ranker for name in names):
        rankers = [name for name, found in CONTESTANTS.items() if found.is_ranker]
        raise ValueError(
            f"race must name a contestant with a certificate ({', '.join(rankers)}), got {race!r}"
        )
    return names


def largest_budget(race: Sequence[str]) -> float:
    """Return the largest budget of a contestant, in units of C; 1 if there is one learner.

    Parameters
    ----------
    race : sequence of str
        The names of the contestants; empty if there is one learner.
    """
    return max((CONTESTANTS[name].budget for name in race), default=1.0)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A contestant of a race, running or not.

    After the answers have changed (`Drift`), a name can occur several times: for the contestant
    that started first, for one that started after the change, and for the last one that left.

    Parameters
    ----------
    name : str
        The name in the table of contestants (docs/label-ranker.md).
    running : bool
        Whether it is still in the race.
    weight : float
        Its weight in the mixture; the weights sum to 1. 0 if it left.
    average_precision : float
        Its mean average precision in this heat, for labels seen before; 0 if it left. A heat begins
        when a contestant joins.
    rounds : int
        The rounds that it has learnt since it started; 0 if it left.
    bytes : int
        The memory of its weights; 0 if it left.
    left : int
        The round after which it left; 0 if it is running.
    reason : str
        Why it left, such as "beaten by idf (4.3 standard errors)"; empty if it is running.
    """

    name: str
    running: bool
    weight: float
    average_precision: float
    rounds: int
    bytes: int
    left: int
    reason: str

    @classmethod
    def of(cls, standing: core.Standing) -> "Contestant":
        """Return a contestant of a native race."""
        return cls(
            standing.name,
            standing.running,
            standing.weight,
            standing.gain,
            standing.rounds,
            standing.bytes,
            standing.left,
            _reason_in_words(standing),
        )


def _reason_in_words(standing: core.Standing) -> str:
    if standing.running:
        return ""
    return {
        "beaten": f"beaten by {standing.winner} ({standing.lead:.1f} standard errors)",
        "same": f"as good as {standing.winner}",
        "unsuited": "unsuited",
        "memory": "memory",
        "not finite": "its scores were not finite",
    }[standing.reason]
