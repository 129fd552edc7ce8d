"""Calls about labels and settings."""

from collections.abc import Iterable
from typing import Any, Literal

from tagalong.client.address import checked_unicode, path_part
from tagalong.client.calls import Calls, unchanged
from tagalong.client.item_json import label_list

__all__ = ["LabelCalls"]


class LabelCalls(Calls):
    """Base class of `Client`: labels and settings."""

    def labels(self) -> list[dict[str, Any]]:
        """Return the labels: ``name``, ``items``, ``min_precision``, ``precision`` and more."""
        return self._get(self._in_workspace("labels"), lambda found: list(found["labels"]))

    def add_labels(self, labels: Iterable[str]) -> list[int]:
        """Add labels before their first item, and return the numbers of the events.

        Parameters
        ----------
        labels : collection of str
            The new labels; `Refused` if one of them exists already.
        """
        path = self._in_workspace("labels")
        return [
            self._change_seq("POST", path, {"name": name})
            for name in label_list(labels if isinstance(labels, str) else list(labels))
        ]

    def rename_label(self, old: str, new: str) -> int:
        """Change the name of a label, and return the number of the event.

        Parameters
        ----------
        old, new : str
            The present name and the new name.
        """
        return self._change_label(old, {"name": checked_unicode(new, "the new name")})

    def merge_labels(self, labels: Iterable[str], into: str) -> list[int]:
        """Merge labels into one, and return the numbers of the events, one per label.

        Parameters
        ----------
        labels : collection of str
            The labels that end.
        into : str
            The label that gets their items. If it does not exist, the first one is renamed.
        """
        names = [name for name in dict.fromkeys(label_list(list(labels))) if name != into]
        if not names:
            raise ValueError(f"the label {into!r} cannot be merged into itself")
        seqs = []
        if not any(each["name"] == into for each in self.labels()):
            seqs.append(self.rename_label(names.pop(0), into))
        body = {"into": checked_unicode(into, "the merged label")}
        return [*seqs, *(self._change_label(name, body) for name in names)]

    def forget_label(self, label: str) -> int:
        """Remove a label and its weights, and return the number of the event.

        Parameters
        ----------
        label : str
            The label.
        """
        return self._change_seq("DELETE", self._label_path(label))

    def set_min_precision(self, label: str, min_precision: float | Literal["never"] | None) -> int:
        """Give a label its own required precision, and return the number of the event.

        Parameters
        ----------
        label : str
            The label.
        min_precision : float, "never" or None
            The precision; "never" if the label is never sure; None for that of all labels.
        """
        return self._change_label(label, {"min_precision": min_precision})

    def settings(self) -> dict[str, Any]:
        """Return the settings that decide learning and filing."""
        return self._get(self._in_workspace("settings"), unchanged)

    def change_settings(self, **changes: Any) -> int:
        """Change settings, and return the number of the event.

        Parameters
        ----------
        changes : object
            New values of ``labels``, ``one_label``, ``min_precision``, ``audit``, ``content`` or
            ``paused``.
        """
        return self._change_seq("PATCH", self._in_workspace("settings"), changes)

    def _change_label(self, label: str, body: dict[str, Any]) -> int:
        return self._change_seq("PATCH", self._label_path(label), body)

    def _label_path(self, label: str) -> str:
        return self._in_workspace("labels", path_part(label, "the label"))
