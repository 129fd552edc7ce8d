"""What a tagger answers: suggestions, explanations, sizes."""

import math
from collections.abc import Hashable
from dataclasses import dataclass

__all__ = ["Explanation", "SizeReport", "Suggestion"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A label for an item.

    Parameters
    ----------
    label : hashable
        The label.
    score : float
        What the learner says; comparable between the labels of one item.
    probability : float
        How often labels with such scores have been right lately.
    chosen : bool
        Whether the score is above the learnt cut-off: whether the item should have the label.
    sure : bool
        Whether the probability reaches the wanted precision: whether to file without asking.
    explores : bool
        Whether it is there mainly to learn about it, from a learner with partial feedback.
    """

    label: Hashable
    score: float
    probability: float
    chosen: bool
    sure: bool
    explores: bool = False

    def __str__(self) -> str:
        mark = "!" if self.sure else "+" if self.chosen else "?" if self.explores else " "
        return f"{mark} {self.probability:4.0%}  {self.label}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item has a score for a label: parts that add up to it.

    Parameters
    ----------
    label : hashable
        The label.
    score : float
        The learner's score, the same number that ``suggest`` gives.
    base : float
        What the label has without any word: how common it is. It also takes up what rounding
        the score to the storage type left over, below one part in a million.
    parts : tuple of (str, float)
        Words and values of the item with what each adds, the largest first, whichever its sign.
    """

    label: Hashable
    score: float
    base: float
    parts: tuple[tuple[str, float], ...]

    @property
    def speaks_for(self) -> tuple[tuple[str, float], ...]:
        """The parts that raise the score, the largest first."""
        return tuple(part for part in self.parts if part[1] > 0)

    @property
    def speaks_against(self) -> tuple[tuple[str, float], ...]:
        """The parts that lower the score, the largest first."""
        return tuple(part for part in self.parts if part[1] < 0)

    @property
    def total(self) -> float:
        """The sum of base and parts: the score."""
        return math.fsum([self.base, *(value for _, value in self.parts)])

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.score:+.3f}"]
        lines += [f"  {value:+.3f}  {name}" for name, value in self.parts[:10]]
        if len(self.parts) > 10:
            rest = math.fsum(value for _, value in self.parts[10:])
            lines.append(f"  {rest:+.3f}  ({len(self.parts) - 10} more)")
        lines.append(f"  {self.base:+.3f}  (without any word)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SizeReport:
    """How large a tagger is.

    Parameters
    ----------
    labels : int
        How many labels it knows.
    features : int
        How many features have weights.
    weight_bytes : int
        What the weights take.
    text_bytes : int
        What names, vocabulary and counts of words take.
    """

    labels: int
    features: int
    weight_bytes: int
    text_bytes: int

    @property
    def total_bytes(self) -> int:
        """Everything together."""
        return self.weight_bytes + self.text_bytes

    def __str__(self) -> str:
        return (
            f"{self.labels} labels, {self.features:,} features with weights; "
            f"{self.weight_bytes / 1e6:.1f} MB of weights, {self.text_bytes / 1e6:.1f} MB of words"
        )
