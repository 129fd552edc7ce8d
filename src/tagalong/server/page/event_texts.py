"""Events of a workspace as sentences."""

from collections.abc import Callable, Mapping
from typing import Any

from tagalong.evaluate.text_table import plural
from tagalong.journal import ListedEvent, NotFoundError, WantedEvents, Workspace
from tagalong.journal.contents import Content, title_of
from tagalong.printable import printable
from tagalong.server.page.setting_texts import settings_text
from tagalong.server.page.visible_text import visible_line

__all__ = ["batch_text", "event_text"]


def event_text(workspace: Workspace, listed: ListedEvent) -> str:
    """Return an event as a sentence, without its time and without who caused it.

    Parameters
    ----------
    workspace : Workspace
        The workspace, which has the titles of the items.
    listed : ListedEvent
        The event.
    """
    event, content = listed.event, _content(workspace, listed)
    subject = _subject(listed, content)
    if event.kind == "item":
        labels = f", as {_labels(event.body)}" if event.body.get("labels") else ""
        return f"{subject} came in{_origin(content)}{labels}"
    return _TEXTS[event.kind](subject, event.body)


def batch_text(workspace: Workspace, listed: ListedEvent, count: int) -> str:
    """Return many events of one batch as a sentence.

    Parameters
    ----------
    workspace : Workspace
        The workspace, which has the sources of the items.
    listed : ListedEvent
        One of them.
    count : int
        Number of events.
    """
    match listed.event.kind:
        case "filed" | "asked":
            wanted = WantedEvents(("asked",), batch=listed.event.batch)
            asked = len(workspace.history(None, count, wanted))
            return _filed_text(count - asked, asked)
        case "item":
            return f"{count:,} items came in{_origin(_content(workspace, listed))}"
        case "label-merged":
            return f"{count:,} labels were merged"
    return f"{count:,} changes as one"


def _filed_text(filed: int, asked: int) -> str:
    left = f"left for {'a spot check' if asked == 1 else 'spot checks'}"
    if not filed:
        return f"{plural(asked, 'item')} {'was' if asked == 1 else 'were'} {left}"
    text = f"{plural(filed, 'item')} {'was' if filed == 1 else 'were'} filed without asking"
    return f"{text}; {asked:,} {left}" if asked else text


def _content(workspace: Workspace, listed: ListedEvent) -> Content | None:
    """Return the item of an event; None if it has none, or it was undone or forgotten."""
    if listed.id is None:
        return None
    try:
        return workspace.item(listed.id).content
    except NotFoundError:
        return None


def _subject(listed: ListedEvent, content: Content | None) -> str:
    """Return the title of the item in quotation marks; without a title its id."""
    if listed.id is None:
        return "A forgotten item"
    title = "" if content is None else title_of(content)
    return f"“{visible_line(title)}”" if title else printable(listed.id)


def _origin(content: Content | None) -> str:
    source = "" if content is None else content.source
    return f" from {printable(source)}" if source else ""


def _labels(body: Mapping[str, Any]) -> str:
    return ", ".join(map(printable, body["labels"])) or "none of these"


def _quoted(name: str) -> str:
    return f"“{printable(name)}”"


def _target(subject: str, body: Mapping[str, Any]) -> str:
    name, target = _quoted(body["name"]), body["min_precision"]
    if target is None:
        return f"{name} follows the setting of the workspace again"
    if target == "never":
        return f"{name} is never filed without asking"
    return f"{name} is filed without asking when {100 * target:g} % are right"


_TEXTS: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "created": lambda subject, body: "The workspace was made",
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
