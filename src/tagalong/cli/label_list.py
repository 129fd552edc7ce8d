"""The labels of a model as a list: frequency, last occurrence, own target."""

import argparse
from typing import Any

from tagalong.cli.output import Output, table
from tagalong.tagger import Tagger

__all__ = ["list_labels", "target_text"]


def list_labels(tagger: Tagger, args: argparse.Namespace, out: Output) -> None:
    """Print the labels of a tagger.

    Parameters
    ----------
    tagger : Tagger
        The model.
    args : Namespace
        The arguments ``model`` and ``sort``.
    out : Output
        Writes the list.
    """
    found = sorted(_described(tagger), key=_ORDERS[args.sort])
    out.json_result({"model": args.model, "items": tagger.history.items, "labels": found})
    rows = [("label", "items", "last", "sure at")]
    for one in found:
        target = target_text(one["min_precision"])
        rows.append((str(one["label"]), f"{one['items']:,}", _age(one["age"]), target))
    out.result(*(table(rows) if found else ["the model has no labels yet"]))


def _described(tagger: Tagger) -> list[dict[str, Any]]:
    history = tagger.history
    targets = tagger.min_precision
    counted = zip(tagger.labels, history.count.tolist(), history.last.tolist(), strict=True)
    return [
        {
            "label": label,
            "items": count,
            "age": history.items - last if last else None,
            "min_precision": targets.get(label),
        }
        for label, count, last in counted
    ]


_ORDERS: dict[str, Any] = {
    "items": lambda one: (-one["items"], str(one["label"])),
    # A label that no item has is unused for longer than any other.
    "last": lambda one: (one["age"] is not None, -(one["age"] or 0), str(one["label"])),
    "name": lambda one: str(one["label"]),
}


def _age(age: int | None) -> str:
    """Return how many items ago a label occurred last."""
    if age is None:
        return "never"
    return "latest" if age == 0 else f"{age:,} ago"


def target_text(target: float | str | None) -> str:
    """Return a label's own target for a table; "" if it has none.

    Parameters
    ----------
    target : float, "never" or None
        The value in ``Tagger.min_precision``.
    """
    return "" if target is None else str(target)
