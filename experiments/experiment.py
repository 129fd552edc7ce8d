"""What an experiment is: cells to run, and a report made from their results.

A script such as ``p1/table1.py`` ends with ``EXPERIMENT = Experiment(...)``. A cell is a unit of
work of seconds to a few minutes: settings in terms of JSON, handed to a function of a module,
which returns results in terms of JSON. Cells of the same function and settings are run once,
whatever experiments they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

Settings = dict[str, Any]
Result = dict[str, Any]
Run = Callable[[Settings], Result]


@dataclass(frozen=True)
class Form:
    """How much of an experiment is asked for."""

    full: bool = False

    @property
    def name(self) -> str:
        return "full" if self.full else "quick"

    def pick(self, quick: Any, full: Any) -> Any:
        """Return what this form wants of the two."""
        return full if self.full else quick


@dataclass(frozen=True)
class Cell:
    """A unit of work: a function of a module, by name, and its settings."""

    run: str
    settings: Settings

    @property
    def key(self) -> str:
        """What tells it from every other cell."""
        return f"{self.run} {json.dumps(self.settings, sort_keys=True)}"

    def compute(self) -> Result:
        """Run it here and now."""
        module, _, name = self.run.partition(":")
        found: Run = getattr(import_module(module), name)
        return found(dict(self.settings))


def cell(run: Run, **settings: Any) -> Cell:
    """Return the cell that calls ``run(settings)``; ``run`` is a function of a module."""
    return Cell(f"{run.__module__}:{run.__qualname__}", settings)


@dataclass(frozen=True)
class Results:
    """The finished cells of an experiment, in the order in which it declares them."""

    cells: list[tuple[Settings, Result]]
    form: str = "quick"
    skipped: list[str] = field(default_factory=list)
    """What was missing, and what to do about it."""

    def where(self, **settings: Any) -> list[tuple[Settings, Result]]:
        """Return the cells that have all of these settings."""
        return [
            (own, result)
            for own, result in self.cells
            if all(own.get(name) == value for name, value in settings.items())
        ]

    def values(self, name: str) -> list[Any]:
        """Return the values of a setting, each once, in order."""
        return list(dict.fromkeys(own[name] for own, _ in self.cells if name in own))


@dataclass(frozen=True)
class Figure:
    """A picture: ``draw`` makes a matplotlib figure, which is written to ``<name>.svg``."""

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
    """One sentence, made from the numbers, on whether the paper's claim holds here."""

    claim: str
    finding: str
    holds: bool | None
    """None where it holds in part, or cannot be told."""


Part = str | Table | Figure | Verdict


class Missing(RuntimeError):
    """Data that an experiment needs is not there; the message says what to do."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    """``<folder>/<script>``, such as "p1/table1"."""

    title: str
    cells: Callable[[Form], list[Cell]]
    report: Callable[[Results], list[Part]]
