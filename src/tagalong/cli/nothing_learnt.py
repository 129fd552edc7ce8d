"""The error if there is nothing to learn: what the sources hold, and what to type."""

import shlex
from collections.abc import Sequence

from tagalong.cli.errors import CommandError
from tagalong.cli.output import links_text
from tagalong.cli.sources import Reading
from tagalong.learning.items import ReadError

__all__ = ["nothing_learnt"]

# Parts of names of columns that often hold labels, the likeliest first.
_LABEL_NAMES = (
    *(
        "label",
        "tag",
        "category",
        "categories",
        "folder",
        "team",
        "queue",
        "topic",
        "class",
        "group",
    ),
    *("department", "product", "type", "target", "assign"),
)
_OTHER_PARTS = ("id", "text", "subject", "title", "body", "description", "weight", "date")


def nothing_learnt(
    reading: Reading,
    read: int,
    skipped: int = 0,
    purpose: str = "learn",
    links: Sequence[str] = (),
) -> CommandError:
    """Return the error of a command that found no item with labels.

    Parameters
    ----------
    reading : Reading
        The sources and the reading options.
    read : int
        Number of items read.
    skipped : int
        Number of items that could not be read or learnt.
    purpose : str
        What the items are read for, as a verb.
    links : sequence of str
        Symbolic links that were left out. The items may be behind them.
    """
    sources = " ".join(reading.sources)
    if not read:
        problem = "--limit is 0" if reading.limit == 0 else "there are no items"
        problem = f"all {skipped:,} items were skipped" if skipped else problem
        hint = f"; {links_text(links)}" if links else ""
        return CommandError(f"{sources}: nothing to {purpose}: {problem}{hint}")
    count = "the only item has no" if read == 1 else f"none of the {read:,} items has"
    return CommandError(f"{sources}: nothing to {purpose}: {count} labels{_remedy(reading)}")


def _remedy(reading: Reading) -> str:
    """Return what the user can type so that items have labels; "" if nothing helps."""
    try:
        with reading.open() as stream:
            names, is_mail = stream.list_names(), stream.is_mail
    except (ReadError, OSError):
        return ""
    if is_mail:
        return (
            "; mail in an inbox has no label: add folders with filed mail, or name the label of "
            "the inbox with --inbox LABEL"
        )
    if not names:
        return ""
    likely = _likely_name(names, reading)
    example = f", for example --labels {shlex.quote(likely)}" if likely else ""
    return (
        f"; name the column or key of the labels with --labels{example}; there are "
        f"{', '.join(map(repr, names))}"
    )


def _likely_name(names: list[str], reading: Reading) -> str:
    """Return the name that most likely holds labels; "" if no name is left."""
    taken = {name for text in reading.options.values() for name in text.split(",")}
    left = [name for name in names if name not in taken and name.lower() not in _OTHER_PARTS]
    for part in _LABEL_NAMES:
        for name in left:
            if part in name.lower():
                return name
    return left[0] if left else ""
