"""Shared by Tables 1 to 3: tables of our streams and of the paper's users, texts on settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments import compare, streams
from experiments.experiment import Part, Results, Table

# Folders and messages of the users, Tables 1 to 3. (Table 2 prints lokay-m as "lokey-m".)
USERS = {
    "beck-s": (101, 1972),
    "farmer-d": (25, 3398),
    "kaminski-v": (41, 4478),
    "kitchen-l": (47, 4016),
    "lokay-m": (11, 2490),
    "sanders-r": (30, 1189),
    "williams-w3": (18, 2770),
}


def our_table(
    results: Results,
    head: Sequence[str],
    percent: Sequence[Mapping[str, float]],
    printed: Mapping[str, Sequence[float]],
) -> Table:
    """Return a table, streams × learners; for the paper's users, with its number in brackets.

    ``percent`` has one column per learner, all on the same streams.
    """
    rows = []
    for name in percent[0]:
        size = results.where(stream=name)[0][1]
        values = compare.bold_minimum([column[name] for column in percent])
        theirs = printed.get(name.removeprefix("enron/"), ())
        values = [
            f"{value} ({theirs[place]:.1f})" if place < len(theirs) else value
            for place, value in enumerate(values)
        ]
        rows.append([name, f"{size['labels']}", f"{size['rows']:,}", *values])
    return Table(["stream", "labels", "texts", *head], rows)


def paper_table(head: Sequence[str], printed: Mapping[str, Sequence[float]]) -> Table:
    """Return the paper's table."""
    rows = [
        [user, f"{folders}", f"{messages:,}", *compare.bold_minimum(printed[user])]
        for user, (folders, messages) in USERS.items()
    ]
    return Table(["user", "folders", "messages", *head], rows)


def describe_settings(results: Results) -> str:
    """Return the text on the settings of the learners."""
    grid = results.cells[0][0]["Cs"]
    lowest = [
        result["percent"].index(min(result["percent"])) == 0
        for own, result in results.cells
        if own["update"] != "simperc" and len(set(result["percent"])) > 1
    ]
    return (
        f"Percentage of mistakes of each learner at the best of {len(grid)} values of C in the "
        f"paper's range, {grid[0]:g} to {grid[-1]:g}. In {sum(lowest)} of {len(lowest)} sweeps "
        "(without SimPerc) the smallest C is best, so a wider range might contain a better one."
    )


def describe(results: Results) -> str:
    """Return the text on streams and settings."""
    return (
        f"{streams.describe(results.values('stream'))} The verdicts are about the streams with one "
        "label per text, like the paper's mail; the others are beside them in the tables. "
        f"{describe_settings(results)}"
    )


def other_reading(
    results: Results, head: Sequence[str], percent: Mapping[str, Mapping[str, float]]
) -> list[Part]:
    """Return the table with the other reading of the rule for rare words, if it was run."""
    if not all(percent.values()):
        return [
            "The paper's rule for rare words can also mean all earlier messages instead of the "
            "folder's; this run lacks that reading."
        ]
    return [
        "The same with the other reading of the paper's rule for rare words: a word is rare if it "
        "is in less than 2% of all earlier messages, instead of the folder's:",
        our_table(results, head, list(percent.values()), {}),
    ]
