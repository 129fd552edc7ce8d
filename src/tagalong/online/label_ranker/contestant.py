"""The contestants of a race of learners: how well each does, and why others left."""

from dataclasses import dataclass

from tagalong import _native as core

__all__ = ["Contestant"]


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
