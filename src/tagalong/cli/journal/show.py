"""``tagalong journal show``: the events of a workspace, and numbers about all of it."""

import argparse
from collections import Counter
from typing import Any

from tagalong.cli.errors import OK
from tagalong.cli.journal.messages import counted, journal_errors, place_name
from tagalong.cli.output import Output, size_text, table
from tagalong.journal.events import Event
from tagalong.journal.listing import ListedEvent, Summary, disk_bytes, list_events

__all__ = ["run"]

MAX_WIDTH = 40
STATES = ("open", "asked", "filed", "answered")


def run(args: argparse.Namespace, out: Output) -> int:
    """Show events."""
    with journal_errors():
        last = None if args.after is not None else args.last
        found = list_events(
            args.workspace, last=last, after=args.after or 0, item=args.item, kind=args.kind
        )
        size = disk_bytes(args.workspace)
    summary = found.summary
    items = {state: summary.items.get(state, 0) for state in STATES}
    out.json_result(
        {
            "workspace": place_name(args.workspace),
            "events": summary.events,
            "items": items,
            "labels": summary.labels,
            "settings": summary.settings.to_json(),
            "bytes": size,
            "snapshots": [
                {"name": each.name, "seq": each.seq, "bytes": each.size, "build": each.build}
                for each in summary.snapshots
            ],
            "shown": [each.to_json() for each in found.events],
        }
    )
    out.result(
        *_summary_lines(place_name(args.workspace), summary, items, size), "", *_rows(found.events)
    )
    out.result(*_batch_lines(found.events))
    return OK


def _summary_lines(
    workspace: str, summary: Summary, items: dict[str, int], size: dict[str, int]
) -> list[str]:
    states = ", ".join(f"{count:,} {state}" for state, count in items.items() if count)
    total = sum(items.values())
    settings = ", ".join(f"{name}={_value(v)}" for name, v in summary.settings.to_json().items())
    return [
        f"{workspace}: {counted(total, 'item')}{f' ({states})' if total else ''}, "
        f"{counted(summary.labels, 'label')}, {counted(summary.events, 'event')}",
        f"on disk: {size_text(size['journal'])} of events, {size_text(size['snapshots'])} of "
        f"{counted(len(summary.snapshots), 'snapshot')}",
        f"settings: {settings}",
    ]


def _value(value: object) -> str:
    """Return the value of a setting as 'tagalong journal set' takes it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _rows(events: list[ListedEvent]) -> list[str]:
    if not events:
        return ["there are no such events"]
    rows = [("event", "time", "kind", "item", "details", "who", "")]
    for each in events:
        event = each.event
        time = event.time[:19].replace("T", " ")
        id = "(forgotten)" if each.is_forgotten else _shortened(each.id or "")
        undone = "undone" if each.is_undone and not each.is_forgotten else ""
        rows.append(
            (str(event.seq), time, event.kind, id, _details(event), _shortened(event.actor), undone)
        )
    return table(rows, numbers_from=len(rows[0]))


def _batch_lines(events: list[ListedEvent]) -> list[str]:
    """Return the batches of some events, as 'tagalong journal undo --batch' takes them."""
    batches = Counter(each.event.batch for each in events if each.event.batch)
    return [f"batch {batch}: {counted(count, 'event')} here" for batch, count in batches.items()]


def _details(event: Event) -> str:
    """Return what an event says: labels, names, changes or other events."""
    body: Any = event.body
    match event.kind:
        case "item" | "answer" | "filed" | "asked":
            labels = event.labels
            if labels is None:
                return ""
            return _shortened(", ".join(labels)) if labels else "(none of the labels)"
        case "label-renamed" | "label-merged":
            return _shortened(f"{body['name']} -> {body.get('to') or body['into']}")
        case "label-added" | "label-forgotten" | "label-target":
            target = body.get("min_precision")
            sure = "" if target is None else f", sure at {target}"
            return _shortened(f"{body['name']}{sure}")
        case "settings":
            changes = body["changes"].items()
            return _shortened(", ".join(f"{name}={_value(value)}" for name, value in changes))
        case "undo" | "forgotten":
            return _shortened(f"events {', '.join(map(str, event.taken))}")
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 1]}…"
