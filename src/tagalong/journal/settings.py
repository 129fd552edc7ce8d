"""The settings of a workspace that decide learning and filing. Every change of them is an event."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

from tagalong import parameters
from tagalong.journal.errors import RefusedError
from tagalong.tagger.audit import Audit

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide learning and filing in a workspace.

    Parameters
    ----------
    labels : str
        "grow": an answer may bring a new label. "fixed": only existing labels are accepted.
    one_label : bool or "auto"
        Whether every item has one label. "auto": the learner notices.
    min_precision : float
        The share of the items filed without asking that has to be right.
    audit : float
        The share of the sure items that a person is asked about nevertheless.
    content : str
        What the journal stores of an item: its "text", or only its hashed "features".
    paused : bool
        Whether nothing is filed without asking.
    """

    labels: Literal["grow", "fixed"] = "grow"
    one_label: bool | Literal["auto"] = "auto"
    min_precision: float = 0.95
    audit: float = 0.02
    content: Literal["text", "features"] = "text"
    paused: bool = False

    def __post_init__(self) -> None:
        try:
            parameters.choice(self.labels, "labels", ("grow", "fixed"))
            parameters.choice(self.content, "content", ("text", "features"))
            one_label: Any = self.one_label
            if one_label != "auto":
                one_label = parameters.flag(one_label, "one_label")
            for name, value in (
                ("paused", parameters.flag(self.paused, "paused")),
                ("one_label", one_label),
                ("min_precision", parameters.real(self.min_precision, "min_precision")),
                ("audit", parameters.real(self.audit, "audit")),
            ):
                object.__setattr__(self, name, value)  # plain values, which JSON can store
            if not 0 < self.min_precision <= 1:
                raise ValueError(
                    f"min_precision must be above 0 and at most 1, got {self.min_precision!r}"
                )
            Audit(self.audit)
        except ValueError as error:
            raise RefusedError(str(error)) from None

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the settings with changes; RefusedError if one is unknown or not valid.

        Parameters
        ----------
        changes : mapping of str to object
            New values by name.
        """
        known = [each.name for each in fields(self)]
        for name in changes:
            if name not in known:
                raise RefusedError(f"there is no setting {name!r}; the settings are {known}")
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)
