"""Find the experiments: the modules with an ``EXPERIMENT`` in the folders ``p<number>``."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from experiments.experiment import Experiment

HERE = Path(__file__).parent


def papers() -> list[str]:
    """Return the folders of the papers, in order."""
    return sorted(path.name for path in HERE.glob("p[0-9]*") if (path / "__init__.py").exists())


def experiments(only: list[str] | None = None) -> list[Experiment]:
    """Return the experiments, by paper, tables before figures.

    ``only`` names folders ("p1") or scripts ("p2/figure7"); an unknown name raises ValueError.
    """
    found = [experiment for paper in papers() for experiment in _experiments_of(paper)]
    if only is None:
        return found
    for name in only:
        if not any(_belongs(experiment, name) for experiment in found):
            names = ", ".join(experiment.name for experiment in found)
            raise ValueError(f"unknown experiment {name!r}; choose from {names}")
    return [experiment for experiment in found if any(_belongs(experiment, n) for n in only)]


def _belongs(experiment: Experiment, name: str) -> bool:
    return experiment.name == name or experiment.name.startswith(f"{name}/")


def _experiments_of(paper: str) -> list[Experiment]:
    scripts = sorted((path.stem for path in (HERE / paper).glob("*.py")), key=_sort_key)
    modules = [import_module(f"experiments.{paper}.{script}") for script in scripts]
    return [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]


def _sort_key(script: str) -> tuple[bool, str, int]:
    """Sort tables before figures, and figure10 after figure9."""
    kind, number = re.fullmatch(r"(.*?)(\d*)", script, re.S).groups()  # type: ignore[union-attr]
    return kind != "table", kind, int(number or 0)
