"""docs/papers.md names only what exists, and every experiment with its present verdict."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from experiments import catalogue, store
from experiments.experiment import Verdict
from tools import make_papers_page

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "`tests/" in line
]
NAMES = sorted({name for row in ROWS for name in re.findall(r"`([^`]+)`", row[1])})
PACKAGES = (
    "tagalong",
    "tagalong.problems",
    "tagalong.norms",
    "tagalong.losses",
    "tagalong.evaluate",
    "tagalong.features",
)


def public(name: str) -> Any:
    for package in map(importlib.import_module, PACKAGES):
        if name in package.__all__:
            return getattr(package, name)
    raise AssertionError(f"{name} is in none of {PACKAGES}")


def test_the_page_has_a_row_per_statement() -> None:
    assert len(ROWS) > 70
    assert all(len(row) == 4 and all(row) for row in ROWS)


@pytest.mark.parametrize("name", NAMES)
def test_public_names_and_their_parameters_exist(name: str) -> None:
    tree: Any = ast.parse(name, mode="eval").body
    if isinstance(tree, ast.Attribute):
        assert hasattr(public(tree.value.func.id), tree.attr)  # type: ignore[attr-defined]
        return
    if not isinstance(tree, ast.Call):
        assert public(name) is not None
        return
    found = public(tree.func.id)  # type: ignore[attr-defined]
    given = {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords}
    inspect.signature(found).bind(**given)
    model = found(**given)
    if hasattr(model, "check_parameters"):
        model.check_parameters()


def test_the_tests_exist() -> None:
    for row in ROWS:
        named = re.findall(r"`([^`]+)`", row[2])
        assert named
        for test in named:
            path, *names = test.split("::")
            assert (ROOT / path).is_file(), path
            scope: Any = ast.parse((ROOT / path).read_text())
            for name in names:
                (scope,) = [each for each in scope.body if getattr(each, "name", "") == name]


def test_the_experiments_are_those_of_the_catalogue() -> None:
    named = set(re.findall(r"`(p\d/\w+)`", PAGE))
    assert named == {experiment.name for experiment in catalogue.experiments()}


def test_the_verdicts_are_those_of_the_stored_results() -> None:
    assert make_papers_page.page(PAGE) == PAGE, (
        f"docs/papers.md is out of date: run python {make_papers_page.TOOL}"
    )
    assert re.findall(r"<!-- verdicts of (p\d):", PAGE) == catalogue.papers()


def test_every_claim_of_an_experiment_has_a_row() -> None:
    for experiment in catalogue.experiments():
        stored = store.read_results(experiment.name)
        assert stored is not None
        for part in experiment.report(stored[1]):
            if isinstance(part, Verdict):
                words = make_papers_page.WORDS[part.holds]
                row = f"({'../experiments/' + experiment.name}.py) | {part.claim} | {words} |"
                assert row in PAGE


def test_experiments_without_results_say_so(tmp_path: Path) -> None:
    text = make_papers_page.page(PAGE, results=tmp_path)
    assert text.count("| not run | – |") == len(catalogue.experiments())
    assert "holds here" not in text
    assert make_papers_page.page(text) == PAGE
