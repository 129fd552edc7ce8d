"""An item as the filing view shows it: its text with reasons, and the labels to choose from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tagalong.journal import ItemRecord, Workspace
from tagalong.journal.contents import title_of
from tagalong.learning.items import FeatureValue, Item
from tagalong.server.page.marked_text import MarkedField, Piece, marked_text
from tagalong.server.page.reasons import Reasons, reasons_of
from tagalong.server.page.shown_lengths import shown_lengths
from tagalong.tagger import Suggestion, Suggestions

__all__ = ["Chip", "ItemView", "item_view"]

PLACES = 9
"""Number of suggested labels, so that each has a digit key."""
MOST_CHARACTERS = 20_000
MOST_WORDS = 30
"""Number of marked words whose numbers are listed below the text."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A label that can be chosen for an item.

    Parameters
    ----------
    label : str
        The label.
    probability : float or None
        Its chance; None for a label that is not among the suggestions.
    chosen : bool
        Whether it is chosen when the item is shown.
    sure : bool
        Whether the suggestion is sure.
    is_above_cut : bool
        Whether it is above the cut-off, or a present label that is not suggested.
    """

    label: str
    probability: float | None
    chosen: bool
    sure: bool
    is_above_cut: bool


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item with everything that the filing view shows of it.

    Parameters
    ----------
    record : ItemRecord
        The item.
    title : str
        A short text.
    chips : list of Chip
        The labels to choose from: present labels that are not suggested, then suggestions.
    found : Suggestions
        The suggestions.
    fields : sequence of MarkedField
        The texts; words are marked if there is a label.
    values : sequence of (str, number or str)
        Its named values.
    why : str
        The label whose reasons are shown; "" while there is no label.
    reasons : Reasons or None
        The reasons; None while there is no label.
    viewers : list of str
        Who else looks at it.
    is_settled : bool
        Whether the model has followed every event; otherwise the suggestions will change.
    """

    record: ItemRecord
    title: str
    chips: list[Chip]
    found: Suggestions
    fields: Sequence[MarkedField]
    values: Sequence[tuple[str, FeatureValue]]
    why: str
    reasons: Reasons | None
    viewers: list[str]
    is_settled: bool

    @property
    def has_text(self) -> bool:
        """Whether its text is kept."""
        return isinstance(self.record.content.item, Item)

    @property
    def marked_words(self) -> list[Piece]:
        """The words that are marked, each once, the one with the largest value first."""
        marked: dict[tuple[str, float], Piece] = {}
        for field in self.fields:
            for piece in field.pieces:
                if piece.value is not None:
                    marked.setdefault((piece.text.casefold(), piece.value), piece)
        by_size = sorted(marked.items(), key=lambda each: -abs(each[0][1]))
        return [piece for _, piece in by_size[:MOST_WORDS]]

    @property
    def was(self) -> str:
        """The present answer as JSON, which a new answer must name."""
        return json.dumps(self.record.labels)

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return self.record.state in ("open", "asked")


def item_view(
    workspace: Workspace, record: ItemRecord, label: str | None, viewers: list[str]
) -> ItemView:
    """Return an item with its suggestions and the reasons for one label.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    record : ItemRecord
        The item.
    label : str, optional
        The label whose reasons are shown; by default, and if there is no such label, the first
        one.
    viewers : list of str
        Who else looks at it.
    """
    item = record.content.item
    found = workspace.suggest(item, PLACES)
    chips = _chips(found, record.labels)
    tagger = workspace.tagger  # one model for all reasons, even if an undo replaces it meanwhile
    known = set(tagger.labels)
    choices = [label, *(chip.label for chip in chips)]
    why = next((each for each in choices if each is not None and each in known), "")
    fields: Sequence[MarkedField] = _plain_fields(record)
    reasons = None
    if why:
        explanation = tagger.explain(item, why)
        fields = marked_text(item, explanation, tagger.features, MOST_CHARACTERS).fields
        reasons = reasons_of(explanation)
    return ItemView(
        record,
        title_of(record.content),
        chips,
        found,
        fields,
        tuple(item.features.items()) if isinstance(item, Item) else (),
        why,
        reasons,
        viewers,
        workspace.is_settled,
    )


def _chips(found: Sequence[Suggestion], labels: list[str] | None) -> list[Chip]:
    suggested = {str(each.label) for each in found}
    added = [label for label in labels or () if label not in suggested]
    chips = [Chip(label, None, True, False, True) for label in added]
    for each in found:
        label = str(each.label)
        chosen = each.chosen if labels is None else label in labels
        chips.append(Chip(label, each.probability, chosen, each.sure, each.chosen))
    return chips


def _plain_fields(record: ItemRecord) -> list[MarkedField]:
    """Return the texts of an item without marks."""
    item = record.content.item
    if not isinstance(item, Item):
        return []
    texts = {"": item.text} if isinstance(item.text, str) else dict(item.text)
    lengths = shown_lengths(texts, MOST_CHARACTERS)
    return [
        MarkedField(name, (Piece(text[: lengths[name]]),), len(text) - lengths[name])
        for name, text in texts.items()
    ]
