"""The findings of spot checks: sure items that were left to a person."""

from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.journal.spot_checks import SpotCheck

__all__ = ["CheckFacts", "check_facts"]

MOST_WRONG = 5


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """The last spot checks.

    Parameters
    ----------
    answered, right, waiting : int
        Number of those that were answered, of these the ones that were right, and of those that
        wait for an answer.
    wrong : tuple of SpotCheck
        The last ones that would have been filed wrongly.
    """

    answered: int
    right: int
    waiting: int
    wrong: tuple[SpotCheck, ...]

    @property
    def share(self) -> float | None:
        """The share that was right; None if none was answered."""
        return self.right / self.answered if self.answered else None


def check_facts(checks: Sequence[SpotCheck]) -> CheckFacts:
    """Return what spot checks found.

    Parameters
    ----------
    checks : sequence of SpotCheck
        The spot checks, the newest first.
    """
    answered = [one for one in checks if one.is_right is not None]
    wrong = [one for one in answered if not one.is_right]
    return CheckFacts(
        len(answered),
        len(answered) - len(wrong),
        len(checks) - len(answered),
        tuple(wrong[:MOST_WRONG]),
    )
