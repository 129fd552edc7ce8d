"""Changes of labels and settings, and filing. Each method returns when it is stored."""

import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from tagalong.journal.contents import content_of, without_text
from tagalong.journal.errors import ConflictError, RefusedError
from tagalong.journal.events import Event, Kind
from tagalong.journal.ledger import checked_label, checked_labels
from tagalong.journal.teaching import TaughtWorkspace
from tagalong.journal.view import ItemRecord
from tagalong.learning.places import PLACES_JUDGED
from tagalong.tagger import Tagger
from tagalong.tagger.targets import Target, checked_target

__all__ = ["Filed", "OperatedWorkspace", "check_one_label"]

_ITEMS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Filed:
    """Items that were filed without asking, or would be.

    Parameters
    ----------
    batch : str
        The name of the batch, to undo all of it; "" if nothing was filed.
    items : list of (str, list of str)
        The ids with their labels.
    asked : list of str
        The ids that are left to a person as spot checks.
    """

    batch: str
    items: list[tuple[str, list[str]]]
    asked: list[str]


class OperatedWorkspace(TaughtWorkspace):
    """Base class of `Workspace`: labels, settings, filing."""

    def add_label(self, name: str, min_precision: Target | None = None, *, actor: str = "") -> int:
        """Add a label before its first item.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            Its own required precision.
        actor : str
            Who adds it.
        """
        body: dict[str, Any] = {"name": checked_label(name)}
        if min_precision is not None:
            body["min_precision"] = _checked_target(min_precision)
        return self._operate(Event("label-added", body, actor=actor))

    def rename_label(self, name: str, to: str, *, actor: str = "") -> int:
        """Rename a label.

        Parameters
        ----------
        name, to : str
            The present name and the new name.
        actor : str
            Who renames it.
        """
        body = {"name": checked_label(name), "to": checked_label(to, "the new name")}
        return self._operate(Event("label-renamed", body, actor=actor))

    def merge_labels(self, labels: Collection[str], into: str, *, actor: str = "") -> list[int]:
        """Merge labels into one; return the events, which are one batch.

        Parameters
        ----------
        labels : collection of str
            The labels that end.
        into : str
            The label that gets their items. If it does not exist, the first one is renamed.
        actor : str
            Who merges them.
        """
        target = checked_label(into)
        names = [name for name in checked_labels(labels) if name != target]
        if not names:
            raise RefusedError(f"the label {into!r} cannot be merged into itself")
        batch = str(uuid.uuid4())

        def work() -> list[int]:
            seqs = []
            for name in names:
                is_there = target in self._recorder.ledger.labels
                kind: Kind = "label-merged" if is_there else "label-renamed"
                body = {"name": name, "into" if is_there else "to": target}
                event = Event(kind, body, batch=batch, actor=actor)
                seqs.append(self._recorder.operate(event))
            return seqs

        return self._commits.submit(work)

    def merge_label(self, name: str, into: str, *, actor: str = "") -> int:
        """Merge a label into another one, which must exist.

        Parameters
        ----------
        name, into : str
            The label that ends, and the one that gets its items.
        actor : str
            Who merges them.
        """
        if name == into:
            raise RefusedError(f"the label {name!r} cannot be merged into itself")
        body = {"name": checked_label(name), "into": checked_label(into)}
        return self._operate(Event("label-merged", body, actor=actor))

    def forget_label(self, name: str, *, actor: str = "") -> int:
        """Remove a label and its weights.

        Parameters
        ----------
        name : str
            The label.
        actor : str
            Who removes it.
        """
        return self._operate(Event("label-forgotten", {"name": checked_label(name)}, actor=actor))

    def set_min_precision(self, name: str, min_precision: Target | None, *, actor: str = "") -> int:
        """Give a label its own required precision.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            The precision; "never" if the label is never sure; None for that of all labels.
        actor : str
            Who sets it.
        """
        target = None if min_precision is None else _checked_target(min_precision)
        body = {"name": checked_label(name), "min_precision": target}
        return self._operate(Event("label-target", body, actor=actor))

    def change_settings(self, *, actor: str = "", **changes: Any) -> int:
        """Change settings; see `Settings` for their names.

        Parameters
        ----------
        actor : str
            Who changes them.
        changes : object
            New values by name.
        """
        if not changes:
            raise RefusedError("no setting is given")
        new = self.settings.changed(changes)
        tagger = self._state.tagger
        if "one_label" in changes:
            check_one_label(tagger, new.one_label)
        if new.content == "features":
            without_text(content_of("text"), tagger.features)  # RefusedError if it cannot be
        plain = {name: new.to_json()[name] for name in changes}
        return self._operate(Event("settings", {"changes": plain}, actor=actor))

    def _operate(self, event: Event) -> int:
        return self._commits.submit(lambda: self._recorder.operate(event))

    def file(
        self, id: str, labels: object, *, asked: bool = False, batch: str = "", actor: str = ""
    ) -> int:
        """Record that an item was filed without asking. It teaches nothing.

        Parameters
        ----------
        id : str
            The item.
        labels : label or collection of labels
            Where it was filed.
        asked : bool, default False
            Whether it was sure, but is left to a person as a spot check.
        batch : str
            Events with the same batch can be undone together.
        actor : str
            Who filed it.
        """
        given = checked_labels(labels)
        return self._commits.submit(
            lambda: self._recorder.file(id, given, asked=asked, batch=batch, actor=actor)
        )

    def file_sure(
        self,
        min_precision: float | None = None,
        *,
        preview: bool = False,
        limit: int | None = None,
        actor: str = "",
    ) -> Filed:
        """File all open items that are sure, as one batch; some are left as spot checks.

        Parameters
        ----------
        min_precision : float, optional
            The share that has to be right; by default the setting.
        preview : bool, default False
            Whether to change nothing.
        limit : int, optional
            Maximum number of items to file or to leave as spot checks.
        actor : str
            Who files them.
        """
        if self.settings.paused and not preview:
            raise ConflictError("filing is paused; change the setting 'paused' to go on")
        required = self.settings.min_precision if min_precision is None else min_precision
        filed: list[tuple[str, list[str]]] = []
        asked: list[tuple[str, list[str]]] = []
        for records in self._open_items():
            found = self.suggest_many(
                [record.content.item for record in records], PLACES_JUDGED, required
            )
            for record, suggestions in zip(records, found, strict=True):
                sure = [str(each.label) for each in suggestions if each.sure]
                if sure and (limit is None or len(filed) + len(asked) < limit):
                    (asked if suggestions.audited else filed).append((record.id, sure))
        names = [id for id, _ in asked]
        if preview or not (filed or asked):
            return Filed("", filed, names)
        batch = str(uuid.uuid4())

        def work() -> None:
            for chosen, is_asked in ((filed, False), (asked, True)):
                for id, labels in chosen:
                    self._recorder.file(id, labels, asked=is_asked, batch=batch, actor=actor)

        self._commits.submit(work)
        return Filed(batch, filed, names)

    def _open_items(self) -> Iterator[list[ItemRecord]]:
        after = 0
        while records := self.items("open", after=after, limit=_ITEMS_AT_ONCE):
            yield records
            after = records[-1].seq


def _checked_target(min_precision: object) -> Target:
    try:
        return checked_target(min_precision)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def check_one_label(tagger: Tagger, one_label: Any) -> None:
    """Raise RefusedError if the learner does not know items with one label."""
    if one_label != "auto" and "one_label" not in tagger.learner.get_params():
        raise RefusedError(
            f"one_label must be 'auto': a {type(tagger.learner).__name__} has no such setting"
        )
