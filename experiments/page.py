"""Write docs/reproduction.md and its plots from the stored results alone."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments import catalogue, plots, store
from experiments.experiment import Experiment, Figure, Part, Results, Table, Verdict

PAGE = store.ROOT / "docs" / "reproduction.md"
PLOT_FOLDER = "reproduction"

_OPENING = """\
# The papers, reproduced

Every table and figure of the papers' experiments, run with this library. `make reproduce` writes
the page from the files in `experiments/results/`. Our numbers all come from those files; the
numbers that the papers print are in the scripts of the experiments, with their sources.

    make reproduce                     # the quick form, takes minutes
    make reproduce FULL=1              # the full form: all rows, settings and repetitions
    make reproduce ENRON=~/maildir     # with the papers' own mail, if you have it
    make reproduce SCHEDULER=ADDRESS   # on a Dask cluster (docs/cluster.md)
    make reproduce ONLY=p2/figure7     # one experiment

An interrupted run can be resumed. `TAGALONG_DATA` names the folder with the data sets; the page
names missing data and leaves it out. "Best" settings are chosen in hindsight on the same stream, as
in the papers: such numbers compare learners, but do not predict the quality on new data.
"""
_RCV1_SETS = {"rcv1", "like"}
"""Values of the setting ``set`` whose data comes from the RCV1 files."""

_COMMITS_BEFORE_RCV1_CORRECTION = {"c1e31c6", "75608a2"}
"""Commits of stored results whose RCV1 files were faulty; they were corrected on 2026-11-17."""

_RCV1_VOID = (
    "**The RCV1 figures of this section, and the verdicts as far as they rest on them, are void "
    "until they are measured again:** they were measured before the RCV1 files were corrected on "
    "2026-11-17.\n"
)
_MARKS = {
    True: "holds here",
    False: "does not hold here",
    None: "holds in part",
    "not tested": "not tested",
}


def write(page: Path = PAGE, results: Path = store.RESULTS) -> list[Path]:
    """Write the page and its plots; return the paths."""
    page.parent.mkdir(parents=True, exist_ok=True)
    text, figures = compose(results)
    written = [_replace(page, text)]
    for figure in figures:
        path = page.parent / PLOT_FOLDER / f"{figure.name}.svg"
        path.parent.mkdir(exist_ok=True)
        written.append(_replace(path, plots.as_svg(figure.draw())))
    return written


def compose(results: Path = store.RESULTS) -> tuple[str, list[Figure]]:
    """Return the text of the page and its figures."""
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
        for experiment, (head, stored_results) in found:
            parts = experiment.report(stored_results) if stored_results.cells else []
            figures += [part for part in parts if isinstance(part, Figure)]
            claims += [
                [f"[{experiment.name}](#{_anchor(experiment)})", part.claim, _MARKS[part.holds]]
                for part in parts
                if isinstance(part, Verdict)
            ]
            sections.append(_section(experiment, head, stored_results, parts))
    summary = Table(["experiment", "the paper's claim", "verdict"], claims)
    text = "\n".join([_OPENING, "## At a glance\n", _markdown(summary, numbers=False), *sections])
    return text.rstrip() + "\n", figures


def _section(
    experiment: Experiment, head: dict[str, Any], results: Results, parts: list[Part]
) -> str:
    """Return the section of an experiment."""
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
    void = [_RCV1_VOID] if _has_void_rcv1_figures(head, results) else []
    return "\n".join([heading, *void, *verdicts, *rest, *skipped, source])


def _has_void_rcv1_figures(head: dict[str, Any], results: Results) -> bool:
    uses_rcv1 = not _RCV1_SETS.isdisjoint(results.values("set"))
    return uses_rcv1 and not _COMMITS_BEFORE_RCV1_CORRECTION.isdisjoint(head["commit"])


def _markdown(part: Part, numbers: bool = True) -> str:
    if isinstance(part, Verdict):
        return f"> **{part.claim}** *{_MARKS[part.holds].capitalize()}:* {part.finding}\n"
    if isinstance(part, Figure):
        return f"![{part.alt}]({PLOT_FOLDER}/{part.name}.svg)\n"
    if isinstance(part, Table):
        rule = ["---", *["--:" if numbers else "---"] * (len(part.head) - 1)]
        rows = [list(part.head), rule, *part.rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    return part.strip() + "\n"


def _anchor(experiment: Experiment) -> str:
    """Return the anchor that GitHub derives from the heading."""
    letters = "".join(c for c in experiment.title.lower() if c.isalnum() or c in " -_")
    return letters.replace(" ", "-")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _replace(path: Path, text: str) -> Path:
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path
