"""Results of a tagger: suggestions, explanations, sizes."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from tagalong.printable import printable

__all__ = ["Explanation", "SizeReport", "Suggestion", "Suggestions"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested label for an item.

    Parameters
    ----------
    label : hashable
        The label.
    score : float
        The score of the learner. Scores are comparable between the labels of one item.
    probability : float
        The chance that the label is right, learnt from how often such suggestions were right.
    chosen : bool
        Whether the label belongs to the answer: the best label if items have one label each,
        otherwise a label that scores at least the learnt cut-off.
    sure : bool
        Whether the item can be filed without asking: of all suggestions marked like this, the
        required share is right. It is a promise about all of them together, so a single one may
        have a lower probability.
    explores : bool
        Whether a learner from partial feedback shows the label mainly to learn about it.
    """

    label: Hashable
    score: float
    probability: float
    chosen: bool
    sure: bool
    explores: bool = False

    def __str__(self) -> str:
        mark = "!" if self.sure else "+" if self.chosen else "?" if self.explores else " "
        return f"{mark} {self.probability:4.0%}  {printable(str(self.label))}"


class Suggestions(list[Suggestion]):
    """The suggestions for one item, best first: a list with facts about the whole item.

    Parameters
    ----------
    suggestions : iterable of Suggestion
        The suggestions.
    whole : float
        The chance that the chosen labels are exactly the right ones.
    known : int
        Number of features of the item that the model knows; with 0 there are only base rates.
    in_runs : bool
        Whether the labels of the items learnt last came in runs, as in sorted data. Nothing is
        sure then.
    audited : bool
        Whether a person should be asked about the item even if it is sure; see `Tagger`.
    """

    def __init__(
        self,
        suggestions: Iterable[Suggestion] = (),
        whole: float = 0.0,
        known: int = 0,
        in_runs: bool = False,
        audited: bool = False,
    ):
        super().__init__(suggestions)
        self.whole = whole
        self.known = known
        self.in_runs = in_runs
        self.audited = audited


@dataclass(frozen=True, slots=True)
class Explanation:
    """The score of a label for an item as a sum of parts.

    Parameters
    ----------
    label : hashable
        The label.
    score : float
        The score of the learner, the same number as in ``suggest``.
    base : float
        The score without any word, which reflects how common the label is, and in a race also
        which words the item lacks. It includes the rounding error of the score, which is below one
        part in a million.
    parts : tuple of (str, float)
        Words and values of the item, each with its contribution to the score. They are sorted by
        absolute contribution in descending order.
    """

    label: Hashable
    score: float
    base: float
    parts: tuple[tuple[str, float], ...]

    @property
    def speaks_for(self) -> tuple[tuple[str, float], ...]:
        """The parts with positive contributions, the largest first."""
        return tuple(part for part in self.parts if part[1] > 0)

    @property
    def speaks_against(self) -> tuple[tuple[str, float], ...]:
        """The parts with negative contributions, the largest first."""
        return tuple(part for part in self.parts if part[1] < 0)

    @property
    def total(self) -> float:
        """The sum of base and contributions, which is the score."""
        return math.fsum([self.base, *(value for _, value in self.parts)])

    def __str__(self) -> str:
        lines = [f"{printable(str(self.label))}: {self.score:+.3f}"]
        lines += [f"  {value:+.3f}  {printable(name)}" for name, value in self.parts[:10]]
        if len(self.parts) > 10:
            rest = math.fsum(value for _, value in self.parts[10:])
            lines.append(f"  {rest:+.3f}  ({len(self.parts) - 10} more)")
        lines.append(f"  {self.base:+.3f}  (without any word)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SizeReport:
    """The size of a tagger.

    Parameters
    ----------
    labels : int
        Number of labels.
    features : int
        Number of features with weights.
    weight_bytes : int
        Memory of the weights.
    text_bytes : int
        Memory of the names, the vocabulary and the counts of words.
    """

    labels: int
    features: int
    weight_bytes: int
    text_bytes: int

    @property
    def total_bytes(self) -> int:
        """Total memory in bytes."""
        return self.weight_bytes + self.text_bytes

    def __str__(self) -> str:
        return (
            f"{self.labels} labels, {self.features:,} features with weights; "
            f"{self.weight_bytes / 1e6:.1f} MB of weights, {self.text_bytes / 1e6:.1f} MB of words"
        )
