"""Changes of labels and settings. Each method returns when it is stored."""

import uuid
from collections.abc import Collection
from typing import Any

from tagalong.journal.contents import content_of, without_text
from tagalong.journal.errors import RefusedError
from tagalong.journal.events import Event, Kind
from tagalong.journal.ledger import checked_label, checked_labels
from tagalong.journal.teaching import TaughtWorkspace
from tagalong.tagger import Tagger
from tagalong.tagger.targets import Target, checked_target

__all__ = ["OperatedWorkspace", "check_one_label"]


class OperatedWorkspace(TaughtWorkspace):
    """Base class of `Workspace`: labels and settings."""

    def add_label(
        self,
        name: str,
        min_precision: Target | None = None,
        *,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> int:
        """Add a label before its first item.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            Its own required precision.
        key, scope, actor
            As for ``add``.
        """
        body: dict[str, Any] = {"name": checked_label(name)}
        if min_precision is not None:
            body["min_precision"] = _checked_target(min_precision)
        return self._operate(Event("label-added", body, actor=actor), key, scope)

    def rename_label(
        self, name: str, to: str, *, key: str | None = None, scope: str = "", actor: str = ""
    ) -> int:
        """Rename a label.

        Parameters
        ----------
        name, to : str
            The present name and the new name.
        key, scope, actor
            As for ``add``.
        """
        body = {"name": checked_label(name), "to": checked_label(to, "the new name")}
        return self._operate(Event("label-renamed", body, actor=actor), key, scope)

    def merge_labels(
        self,
        labels: Collection[str],
        into: str,
        *,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> list[int]:
        """Merge labels into one; return the events, which are one batch.

        Parameters
        ----------
        labels : collection of str
            The labels that end.
        into : str
            The label that gets their items. If it does not exist, the first one is renamed.
        key, scope, actor
            As for ``add``.
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

        return self._commit(work, key, scope, ["merge", names, target])

    def merge_label(
        self, name: str, into: str, *, key: str | None = None, scope: str = "", actor: str = ""
    ) -> int:
        """Merge a label into another one, which must exist.

        Parameters
        ----------
        name, into : str
            The label that ends, and the one that gets its items.
        key, scope, actor
            As for ``add``.
        """
        if name == into:
            raise RefusedError(f"the label {name!r} cannot be merged into itself")
        body = {"name": checked_label(name), "into": checked_label(into)}
        return self._operate(Event("label-merged", body, actor=actor), key, scope)

    def forget_label(
        self, name: str, *, key: str | None = None, scope: str = "", actor: str = ""
    ) -> int:
        """Remove a label and its weights.

        Parameters
        ----------
        name : str
            The label.
        key, scope, actor
            As for ``add``.
        """
        event = Event("label-forgotten", {"name": checked_label(name)}, actor=actor)
        return self._operate(event, key, scope)

    def set_min_precision(
        self,
        name: str,
        min_precision: Target | None,
        *,
        key: str | None = None,
        scope: str = "",
        actor: str = "",
    ) -> int:
        """Give a label its own required precision.

        Parameters
        ----------
        name : str
            The label.
        min_precision : float, "never" or None
            The precision; "never" if the label is never sure; None for that of all labels.
        key, scope, actor
            As for ``add``.
        """
        target = None if min_precision is None else _checked_target(min_precision)
        body = {"name": checked_label(name), "min_precision": target}
        return self._operate(Event("label-target", body, actor=actor), key, scope)

    def change_settings(
        self, *, key: str | None = None, scope: str = "", actor: str = "", **changes: Any
    ) -> int:
        """Change settings; see `Settings` for their names.

        Parameters
        ----------
        key, scope, actor
            As for ``add``.
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
        return self._operate(Event("settings", {"changes": plain}, actor=actor), key, scope)

    def _operate(self, event: Event, key: str | None, scope: str) -> int:
        request = [event.kind, event.body]
        return self._commit(lambda: self._recorder.operate(event), key, scope, request)


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
