"""Events of a workspace as sentences."""

from collections.abc import Callable, Mapping
from typing import Any

from tagalong.journal import ListedEvent
from tagalong.printable import printable
from tagalong.server.page.setting_texts import settings_text

__all__ = ["batch_text", "event_text"]


def event_text(listed: ListedEvent) -> str:
    """Return an event as a sentence, without its time and without who caused it.

    Parameters
    ----------
    listed : ListedEvent
        The event.
    """
    event = listed.event
    subject = "A forgotten item" if listed.id is None else printable(listed.id)
    return _TEXTS[event.kind](subject, event.body)


def batch_text(kind: str, count: int) -> str:
    """Return many events of one batch as a sentence.

    Parameters
    ----------
    kind : str
        The kind of one of them.
    count : int
        Number of events.
    """
    match kind:
        case "filed" | "asked":
            return f"{count:,} items were filed without asking, or left for spot checks"
        case "item":
            return f"{count:,} items came in"
        case "label-merged":
            return f"{count:,} labels were merged"
    return f"{count:,} changes as one"


def _labels(body: Mapping[str, Any]) -> str:
    return ", ".join(map(printable, body["labels"])) or "none of these"


def _quoted(name: str) -> str:
    return f"“{printable(name)}”"


def _item(subject: str, body: Mapping[str, Any]) -> str:
    return f"{subject} came in" + (f", as {_labels(body)}" if body.get("labels") else "")


def _target(subject: str, body: Mapping[str, Any]) -> str:
    name, target = _quoted(body["name"]), body["min_precision"]
    if target is None:
        return f"{name} follows the setting of the workspace again"
    if target == "never":
        return f"{name} is never filed without asking"
    return f"{name} is filed without asking when {100 * target:g} % are right"


_TEXTS: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "created": lambda subject, body: "The workspace was made",
    "item": _item,
    "answer": lambda subject, body: f"{subject}: {_labels(body)}",
    "filed": lambda subject, body: f"{subject} was filed under {_labels(body)} without asking",
    "asked": lambda subject, body: f"{subject} is left for a spot check",
    "label-added": lambda subject, body: f"Label {_quoted(body['name'])} was made",
    "label-renamed": lambda subject, body: (
        f"Label {_quoted(body['name'])} was renamed to {_quoted(body['to'])}"
    ),
    "label-merged": lambda subject, body: (
        f"Label {_quoted(body['name'])} was merged into {_quoted(body['into'])}"
    ),
    "label-forgotten": lambda subject, body: f"Label {_quoted(body['name'])} was forgotten",
    "label-target": _target,
    "settings": lambda subject, body: settings_text(body["changes"]),
    "undo": lambda subject, body: (
        "Undone: event " + ", ".join(str(seq) for seq in body["seqs"][:10])
    ),
    "forgotten": lambda subject, body: "An item was deleted for good",
}
