"""The warning of ``learn`` that a comma inside one label may have split it."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run

CELLS = ["Sales, EMEA", "Support"]
WARNING = (
    "warning: the labels 'Sales' and 'EMEA' always occur together (20 times in the first 40 "
    "items). If 'Sales, EMEA' is one label, learn again with --separator ''"
)


def write(name: str, cells: list[str]) -> None:
    rows = [f'words of item {number},"{cell}"' for number, cell in enumerate(cells)]
    Path(name).write_text("\n".join(["text,labels", *rows]))


def test_labels_that_are_never_apart(run: Run) -> None:
    write("a.csv", CELLS * 20)
    done = run("learn", "a.csv", "--passes", "2")
    assert done.code == 0
    assert done.err.count(WARNING) == 1
    done = run("learn", "a.csv", "--separator", "")
    assert "always occur together" not in done.err
    assert "40 items, 2 labels" in done.out


@pytest.mark.parametrize(
    "cells", [CELLS * 19, [*CELLS * 20, "EMEA"], ["Sales, EMEA", "EMEA, Sales"] * 20]
)
def test_labels_that_are_apart_or_rare(run: Run, cells: list[str]) -> None:
    write("a.csv", cells)
    assert "always occur together" not in run("learn", "a.csv").err


def test_formats_with_lists_of_labels_are_not_split(run: Run) -> None:
    line = '{"text": "x", "labels": ["Sales", "EMEA"]}\n{"text": "y", "labels": ["Support"]}\n'
    Path("a.jsonl").write_text(line * 30)
    assert "always occur together" not in run("learn", "a.jsonl").err
