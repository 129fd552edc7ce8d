"""The precision that is required before a label is marked sure."""

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from tagalong import parameters
from tagalong.learning import model_files

__all__ = ["LabelTargets", "Target", "checked_target"]

Target: TypeAlias = float | Literal["never"]
"""A required precision, or "never" for a label that is never sure."""

NEVER = 2.0  # above every precision


def checked_target(target: object, name: str = "min_precision") -> Target:
    """Return a target; ValueError unless it is above 0 and at most 1, or "never"."""
    if target == "never":
        return "never"
    number = parameters.real(target, name)
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, or 'never', got {target!r}")
    return number


class LabelTargets(Mapping[Hashable, Target]):
    """The targets of the labels that have one of their own.

    Parameters
    ----------
    targets : mapping of label to float or "never", optional
        The targets.
    """

    def __init__(self, targets: Mapping[Hashable, object] | None = None):
        if targets is not None and not isinstance(targets, Mapping):
            raise ValueError(
                "min_precision must map labels to their required precision, for example "
                f"{{'legal': 0.99}}, got {targets!r}"
            )
        self._targets = {
            label: checked_target(target, f"min_precision of {label!r}")
            for label, target in (targets or {}).items()
        }

    def __getitem__(self, label: Hashable) -> Target:
        return self._targets[label]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._targets)

    def __len__(self) -> int:
        return len(self._targets)

    def set(self, label: Hashable, target: object) -> None:
        """Give a label its own target, or take it away with None."""
        if target is None:
            self._targets.pop(label, None)
        else:
            self._targets[label] = checked_target(target)

    def rename(self, old: Hashable, new: Hashable) -> None:
        """Follow a label to its new name."""
        if old in self._targets:
            self._targets[new] = self._targets.pop(old)

    def merge(self, labels: list[Hashable], into: Hashable) -> None:
        """Keep the strictest target of merged labels."""
        given = [self._targets.pop(label) for label in labels if label in self._targets]
        if given:
            self._targets[into] = max(given, key=_number)

    def required(self, label: Hashable, default: float) -> float:
        """Return the precision that a label needs; above 1 if it is never sure."""
        return _number(self._targets[label]) if label in self._targets else default

    def numbers(self) -> dict[Hashable, float]:
        """Return the required precision of the labels with a target, as `required` does."""
        if not self._targets:
            return {}
        return {label: _number(target) for label, target in self._targets.items()}

    def to_json(self) -> list[list[Any]]:
        """Return pairs of label and target as JSON values; the order of setting has no effect."""
        pairs = [[model_files.encode_label(name), target] for name, target in self._targets.items()]
        return sorted(pairs, key=lambda pair: json.dumps(pair[0]))

    @classmethod
    def from_json(cls, pairs: list[list[Any]]) -> "LabelTargets":
        """Return the targets that ``to_json`` described."""
        targets = cls({model_files.decode_label(label): target for label, target in pairs})
        targets.to_json()  # ValueError if a label cannot be saved again
        return targets


def _number(target: Target) -> float:
    return NEVER if target == "never" else float(target)
