"""The parts of an experiment: cells to run, their results, and the parts of a report.

A script such as ``p1/table1.py`` ends with ``EXPERIMENT = Experiment(...)``. A cell is a unit of
work that takes seconds to a few minutes: a module-level function and its settings. Settings and
result are JSON values. Cells with the same function and settings run once, even if several
experiments share them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, TypeVar

Settings = dict[str, Any]
Result = dict[str, Any]
Run = Callable[[Settings], Result]
QuickT = TypeVar("QuickT")
FullT = TypeVar("FullT")


@dataclass(frozen=True)
class Form:
    """The quick or the full form of an experiment."""

    full: bool = False

    @property
    def name(self) -> str:
        return "full" if self.full else "quick"

    def pick(self, quick: QuickT, full: FullT) -> QuickT | FullT:
        """Return the first argument in the quick form, the second in the full form."""
        return full if self.full else quick


@dataclass(frozen=True)
class Cell:
    """A unit of work: the name of a function ("module:function") and its settings."""

    run: str
    settings: Settings

    @property
    def key(self) -> str:
        """Text that identifies the cell."""
        return f"{self.run} {json.dumps(self.settings, sort_keys=True)}"

    def compute(self) -> Result:
        """Run the cell in this process."""
        module, _, name = self.run.partition(":")
        function: Run = getattr(import_module(module), name)
        return function(dict(self.settings))


def cell(run: Run, **settings: Any) -> Cell:
    """Return the cell that calls ``run(settings)``; ``run`` must be a module-level function."""
    return Cell(f"{run.__module__}:{run.__qualname__}", settings)


@dataclass(frozen=True)
class Results:
    """The finished cells of an experiment, in the order in which the experiment lists them."""

    cells: list[tuple[Settings, Result]]
    form: str = "quick"
    skipped: list[str] = field(default_factory=list)
    """The missing data, one message each."""

    def where(self, **settings: Any) -> list[tuple[Settings, Result]]:
        """Return the cells that have all of these settings."""
        return [
            (own, result)
            for own, result in self.cells
            if all(own.get(name) == value for name, value in settings.items())
        ]

    def values(self, name: str) -> list[Any]:
        """Return the different values of a setting, in order of occurrence."""
        return list(dict.fromkeys(own[name] for own, _ in self.cells if name in own))


@dataclass(frozen=True)
class Figure:
    """A plot: ``draw`` returns a matplotlib figure, which is written to ``<name>.svg``."""

    name: str
    draw: Callable[[], Any]
    alt: str


@dataclass(frozen=True)
class Table:
    """A Markdown table; the first column is text, the others are aligned to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper and whether our numbers support it."""

    claim: str
    finding: str
    holds: bool | Literal["not tested"] | None
    """None if the claim holds in part; "not tested" if the data cannot tell."""


Part = str | Table | Figure | Verdict


class MissingData(RuntimeError):
    """Data of an experiment is missing; the message names it."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    """``<folder>/<script>``, such as "p1/table1"."""

    title: str
    cells: Callable[[Form], list[Cell]]
    report: Callable[[Results], list[Part]]
    covers: Callable[[Form], str]
    """Describes what a form covers: streams, rows, settings, repetitions; for the page."""
