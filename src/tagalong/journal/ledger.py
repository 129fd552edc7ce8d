"""The labels and settings at some point of the history, and which events are possible there.

The ledger is the cheap part of the state: it is kept up to date while the model is still being
computed, so that a request can be judged at once.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from tagalong.journal.errors import RefusedError
from tagalong.journal.events import Event
from tagalong.journal.settings import Settings
from tagalong.journal.short_texts import checked_text

__all__ = ["Ledger", "checked_label", "checked_labels"]


@dataclass(slots=True)
class Ledger:
    """Labels and settings after some event.

    Parameters
    ----------
    labels : set of str
        The labels.
    settings : Settings
        The settings.
    """

    labels: set[str] = field(default_factory=set)
    settings: Settings = field(default_factory=Settings)

    def problem(self, event: Event, item_exists: Callable[[int], bool]) -> str | None:
        """Return why an event is impossible after this ledger; None if it is possible.

        Parameters
        ----------
        event : Event
            The event.
        item_exists : callable
            Whether an item, named by the number of its event, exists.
        """
        if event.item is not None and event.kind != "forgotten" and not item_exists(event.item):
            return "its item does not exist"
        body = event.body
        match event.kind:
            case "item" | "answer" if event.labels is not None:
                named = (*body.get("shown", ()), *body.get("unknown", ()))
                return self._problem_of_labels(event.labels) or self._missing(
                    label for label in named if label not in event.labels
                )
            case "filed" | "asked":
                return self._missing(body["labels"])
            case "label-added":
                return self._existing(body["name"])
            case "label-renamed":
                return self._missing([body["name"]]) or self._existing(body["to"])
            case "label-merged":
                return self._missing([body["name"], body["into"]])
            case "label-forgotten" | "label-target":
                return self._missing([body["name"]])
        return None

    def _problem_of_labels(self, labels: Collection[str]) -> str | None:
        if self.settings.one_label is True and len(labels) > 1:
            return f"the workspace takes one label per item, not {len(labels)}"
        return self._missing(labels) if self.settings.labels == "fixed" else None

    def _missing(self, labels: Iterable[str]) -> str | None:
        missing = next((label for label in labels if label not in self.labels), None)
        return None if missing is None else f"there is no label {missing!r}"

    def _existing(self, label: str) -> str | None:
        return f"there is a label {label!r} already" if label in self.labels else None

    def label_changes(self, event: Event) -> dict[str, bool]:
        """Return the labels that an event adds (True) or removes (False).

        Parameters
        ----------
        event : Event
            A possible event.
        """
        body = event.body
        match event.kind:
            case "created":
                return dict.fromkeys(body.get("labels", ()), True)
            case "item" | "answer":
                return {label: True for label in event.labels or () if label not in self.labels}
            case "label-added":
                return {body["name"]: True}
            case "label-renamed":
                return {body["name"]: False, body["to"]: True}
            case "label-merged" | "label-forgotten":
                return {body["name"]: False}
        return {}

    def follow(self, event: Event) -> dict[str, bool]:
        """Update the ledger by an event; return the labels that it added or removed.

        Parameters
        ----------
        event : Event
            A possible event.
        """
        changes = self.label_changes(event)
        for label, is_present in changes.items():
            (self.labels.add if is_present else self.labels.discard)(label)
        if event.kind == "created":
            self.settings = Settings(**event.body["settings"])
        elif event.kind == "settings":
            self.settings = self.settings.changed(event.body["changes"])
        return changes

    def copy(self) -> "Ledger":
        """Return an independent copy."""
        return Ledger(set(self.labels), self.settings)


def checked_label(label: object, name: str = "label") -> str:
    """Return a label; RefusedError unless it is a text that can be stored.

    Parameters
    ----------
    label : object
        The label.
    name : str
        What the label is, for the message.
    """
    return checked_text(label, name)


def checked_labels(labels: object, name: str = "labels") -> list[str]:
    """Return distinct labels in their order; RefusedError unless they are a collection of labels.

    Parameters
    ----------
    labels : object
        The labels. A single label may be given as a text.
    name : str
        What the labels are, for the message.
    """
    if isinstance(labels, str):
        labels = [labels]
    if not isinstance(labels, (list, tuple, set, frozenset)):
        raise RefusedError(f"{name} must be a list of labels, got {labels!r}")
    given = sorted(labels, key=str) if isinstance(labels, (set, frozenset)) else labels
    return list(dict.fromkeys(checked_label(label, f"a label in {name}") for label in given))
