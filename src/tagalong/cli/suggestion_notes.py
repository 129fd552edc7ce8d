"""Notes on the suggestions that a command has written."""

from tagalong.cli.output import Output
from tagalong.tagger import Tagger

__all__ = ["show_limits", "show_protected"]

MAX_FIELDS = 8  # in a message


def show_limits(
    count: int, unknown: int, in_runs: bool, tagger: Tagger | None, out: Output
) -> None:
    """Say what limits the suggestions, if anything does.

    Parameters
    ----------
    count, unknown : int
        Number of items, and of those without any feature that the model knows.
    in_runs : bool
        Whether nothing could be sure, because the labels of the learnt items came in runs.
    tagger : Tagger, optional
        The model; None for that of a server.
    out : Output
        Where to say it.
    """
    if unknown:
        out.info(_unknown_text(count, unknown, tagger))
    if in_runs:
        out.info(
            "nothing is marked sure: the labels of the learnt items came in runs, as in a sorted "
            "file, so there is no evidence for other items; learn again with --shuffle"
        )


def show_protected(count: int, out: Output) -> None:
    """Say how many cells of a CSV table differ from their value, if any do.

    Parameters
    ----------
    count : int
        Number of cells with an apostrophe in front.
    out : Output
        Where to say it.
    """
    if count:
        out.info(
            f"{count:,} cells have an apostrophe in front, because a spreadsheet would "
            "take their text for a formula; --exact writes them without"
        )


def _unknown_text(count: int, unknown: int, tagger: Tagger | None) -> str:
    """Return how many items have nothing that the model knows, and what it knows."""
    which = "the item has" if count == 1 else f"{unknown:,} of {count:,} items have"
    names = [] if tagger is None else tagger.features.fields
    fields = [repr(name) if name else "text without a field" for name in names]
    more = len(fields) - MAX_FIELDS
    listed = [*fields[:MAX_FIELDS], f"{more} more"] if more > 0 else fields
    known = f"; the model was taught {', '.join(listed)}" if listed else ""
    return (
        f"{which} no word or value that the model knows, so the suggestions only reflect how "
        f"frequent the labels are{known}"
    )
