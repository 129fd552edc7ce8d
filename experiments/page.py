"""Write docs/reproduction.md and its plots from the stored results alone."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments import catalogue, plots, store
from experiments.experiment import Experiment, Figure, Form, Part, Results, Table, Verdict

PAGE = store.ROOT / "docs" / "reproduction.md"
PLOT_FOLDER = "reproduction"

_OPENING = """\
# The papers, reproduced

Every table and figure of the papers' experiments, run with this library. `make reproduce` writes
the page from the files in `experiments/results/`. Our numbers all come from those files; the
numbers that the papers print are in the scripts of the experiments, with their sources.

    make reproduce                     # the quick form: about half an hour on one core
    make reproduce FULL=1              # the full form: about a day on one core
    make reproduce ENRON=~/maildir     # with the papers' own mail, if you have it
    make reproduce SCHEDULER=ADDRESS   # on a Dask cluster (docs/cluster.md)
    make reproduce ONLY=p2/figure7     # one experiment

An interrupted run can be resumed, also from the results of the repository: a cell runs again only
if the code that it depends on has changed. `TAGALONG_DATA` names the folder with the data sets; the
page names missing data and leaves it out. "Best" settings are chosen in hindsight on the same
stream, as in the papers: such numbers compare learners, but do not predict the quality on new data.

**Forms.** Each experiment has a quick and a full form; the numbers of an experiment are all from
one of them. The table below names it for each claim, and [Forms](#forms) says what the forms cover.
A verdict from a quick form may change in the full form.
"""
_FORMS = """\
## Forms

The form of the numbers on this page, what that form covers, and the processor time it took.
"""
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
    forms: list[list[str]] = []
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
            name = f"[{experiment.name}](#{_anchor(experiment)})"
            claims += [
                [name, part.claim, _MARKS[part.holds], head["form"]]
                for part in parts
                if isinstance(part, Verdict)
            ]
            covers = _covers(experiment, head, stored_results)
            forms.append([name, _form(head, results), covers, _duration(head["seconds"])])
            sections.append(_section(experiment, head, stored_results, parts))
    summary = Table(["experiment", "the paper's claim", "verdict", "form"], claims)
    by_form = Table(["experiment", "form", "what it covers", "computing"], forms)
    text = "\n".join(
        [
            *(_OPENING, "## At a glance\n", _markdown(summary, numbers=False)),
            *(_FORMS, _markdown(by_form, numbers=False)),
            *sections,
        ]
    )
    return text.rstrip() + "\n", figures


def _form(head: dict[str, Any], results: Path) -> str:
    """Return the form of the results, and how much of a full form is finished beside them."""
    unfinished = store.read_unfinished(head["experiment"], results)
    if unfinished is None or head["form"] == "full":
        return f"**{head['form']}**"
    return f"**{head['form']}**; of the full form {unfinished[0]} of {unfinished[1]} cells exist"


def _covers(experiment: Experiment, head: dict[str, Any], results: Results) -> str:
    """Return what the stored results cover; cells that were added since they ran are counted."""
    form = Form(head["form"] == "full")
    stored = {json.dumps(own, sort_keys=True) for own, _ in results.cells}
    wanted = {json.dumps(cell.settings, sort_keys=True) for cell in experiment.cells(form)}
    lacking = len(wanted - stored)
    if not lacking or head["skipped"]:
        return experiment.covers(form)
    return f"{experiment.covers(form)}; **without {lacking} of {len(wanted)} cells, not yet run**"


def _section(
    experiment: Experiment, head: dict[str, Any], results: Results, parts: list[Part]
) -> str:
    """Return the section of an experiment."""
    verdicts = [_markdown(part) for part in parts if isinstance(part, Verdict)]
    rest = [_markdown(part) for part in parts if not isinstance(part, Verdict)]
    skipped = [f"*Left out:* {reason}.\n" for reason in head["skipped"]]
    made = head["made"]
    codes = sorted({each["code"] or "not recorded" for each in made})
    dates = sorted({each["date"] for each in made})
    machines = "; ".join(dict.fromkeys(each["machine"] for each in made))
    source = (
        f"<sub>{head['form']} form · {_duration(head['seconds'])} of computing · "
        f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))} · "
        f"code {', '.join(codes)} · "
        f"{machines} · `python -m experiments --only {experiment.name}"
        f"{' --full' if head['form'] == 'full' else ''}`</sub>\n"
    )
    heading = f"### {experiment.title}\n"
    return "\n".join([heading, *verdicts, *rest, *skipped, source])


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
