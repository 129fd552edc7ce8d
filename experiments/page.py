"""Writes docs/reproduction.md and its pictures, from the results that are kept and nothing else."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments import catalogue, plots, store
from experiments.experiment import Experiment, Figure, Part, Table, Verdict

PAGE = store.ROOT / "docs" / "reproduction.md"
PICTURES = "reproduction"

_OPENING = """\
# The papers, reproduced

Every table and figure of the papers' experiments, run with this library. The page is written by
`make reproduce` from the files in `experiments/results/`; nothing on it is typed in but the numbers
that the papers print, which are in the experiment's script beside their source.

    make reproduce                     # the quick form, minutes
    make reproduce FULL=1              # in full: all rows, all settings, all repetitions
    make reproduce ENRON=~/maildir     # with the papers' own mail, if you have it
    make reproduce ONLY=p2/figure7     # a part

Runs resume where they were interrupted. `TAGALONG_DATA` names the folder with the data sets;
what is missing is named and left out. "Best" settings are chosen with hindsight, on the same
stream, as the papers did: such numbers compare learners, and promise nothing.
"""
_MARKS = {True: "holds here", False: "does not hold here", None: "holds in part"}


def write(page: Path = PAGE, results: Path = store.RESULTS) -> list[Path]:
    """Write the page and its pictures; returns what was written."""
    page.parent.mkdir(parents=True, exist_ok=True)
    text, figures = compose(results)
    written = [_replace(page, text)]
    for figure in figures:
        path = page.parent / PICTURES / f"{figure.name}.svg"
        path.parent.mkdir(exist_ok=True)
        written.append(_replace(path, plots.as_svg(figure.draw())))
    return written


def compose(results: Path = store.RESULTS) -> tuple[str, list[Figure]]:
    """Return the text of the page and the figures it shows."""
    sections: list[str] = []
    figures: list[Figure] = []
    claims: list[list[str]] = []
    for paper in catalogue.papers():
        module = import_module(f"experiments.{paper}")
        found = [
            (experiment, stored)
            for experiment in catalogue.experiments()
            if experiment.name.startswith(f"{paper}/")
            and (stored := store.read_results(experiment.name, results)) is not None
        ]
        if not found:
            continue
        sections.append(f"## {module.TITLE}\n\n{module.PAPER}\n")
        for experiment, (head, kept) in found:
            parts = experiment.report(kept) if kept.cells else []
            figures += [part for part in parts if isinstance(part, Figure)]
            claims += [
                [f"[{experiment.name}](#{_anchor(experiment)})", part.claim, _MARKS[part.holds]]
                for part in parts
                if isinstance(part, Verdict)
            ]
            sections.append(_section(experiment, head, parts))
    summary = Table(["experiment", "the paper's claim", "verdict"], claims)
    text = "\n".join([_OPENING, "## At a glance\n", _markdown(summary, numbers=False), *sections])
    return text.rstrip() + "\n", figures


def _section(experiment: Experiment, head: dict[str, Any], parts: list[Part]) -> str:
    """Return an experiment's part of the page."""
    verdicts = [_markdown(part) for part in parts if isinstance(part, Verdict)]
    rest = [_markdown(part) for part in parts if not isinstance(part, Verdict)]
    skipped = [f"*Left out:* {reason}.\n" for reason in head["skipped"]]
    source = (
        f"<sub>{head['form']} form · {_duration(head['seconds'])} of computing · commit "
        f"{', '.join(head['commit'])} · {'; '.join(head['machine'])} · "
        f"`python -m experiments --only {experiment.name}"
        f"{' --full' if head['form'] == 'full' else ''}`</sub>\n"
    )
    heading = f"### {experiment.title}\n"
    return "\n".join([heading, *verdicts, *rest, *skipped, source])


def _markdown(part: Part, numbers: bool = True) -> str:
    if isinstance(part, Verdict):
        return f"> **{part.claim}** *{_MARKS[part.holds].capitalize()}:* {part.finding}\n"
    if isinstance(part, Figure):
        return f"![{part.alt}]({PICTURES}/{part.name}.svg)\n"
    if isinstance(part, Table):
        rule = ["---", *["--:" if numbers else "---"] * (len(part.head) - 1)]
        rows = [list(part.head), rule, *part.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    return part.strip() + "\n"


def _anchor(experiment: Experiment) -> str:
    """Return the anchor that GitHub gives to a heading."""
    kept = "".join(c for c in experiment.title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _replace(path: Path, text: str) -> Path:
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path
