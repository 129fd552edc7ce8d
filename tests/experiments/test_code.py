"""The digest of a cell's code changes with what the cell reaches, and with nothing else."""

import json
from pathlib import Path

import pytest

from experiments import catalogue, code
from experiments.experiment import Form

WORK = '''
"""A module."""
from experiments import helper
from experiments.helper import twice as double
from tagalong import M3LClassifier, attribute_prior

RATES = [1, 2]
UNUSED = [3]


def run(settings):
    """Return the result."""
    return {"value": double(len(RATES)) + helper.offset(), "learner": Model(settings)}


class Model:
    def __init__(self, settings):
        self.learner = M3LClassifier(**settings)


def report(results):
    return [f"{name}" for name in RATES + UNUSED]
'''
HELPER = """
START = 5


def twice(x):  # a comment
    return 2 * x


def offset():
    return START


def unused():
    return 0
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder in place of ``experiments``; returns a function that writes a file."""

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        code._module.cache_clear()
        code._reached.cache_clear()

    monkeypatch.setattr(code, "FOLDERS", {"experiments": tmp_path})
    write("work", WORK)
    write("helper", HELPER)
    yield write
    code._module.cache_clear()
    code._reached.cache_clear()


def work_digest() -> str:
    return code.digest("experiments.work:run")


@pytest.mark.parametrize(
    "name, old, new, changes",
    [
        ("work", "len(RATES)", "max(RATES)", True),
        ("work", "RATES = [1, 2]", "RATES = [1, 3]", True),
        ("work", "self.learner", "self.model", True),
        ("helper", "2 * x", "3 * x", True),
        ("helper", "START = 5", "START = 6", True),
        ("work", "UNUSED = [3]", "UNUSED = [4]", False),
        ("work", 'f"{name}"', 'f"<{name}>"', False),
        ("work", "Return the result.", "Return what was asked for.", False),
        ("helper", "# a comment", "# another comment", False),
        ("helper", "return 0", "return 1", False),
    ],
)
def test_the_digest_follows_what_is_reached(package, name, old, new, changes):
    before = work_digest()
    text = {"work": WORK, "helper": HELPER}[name]
    assert old in text
    package(name, text.replace(old, new))
    assert (work_digest() != before) == changes


def test_the_digest_is_the_same_in_all_python_versions(package):
    """The nested lists do not use ast.dump, whose text depends on the version."""
    assert work_digest() == "532bfaa87f4b"


def test_golden_answers_are_those_of_the_learners_that_are_reached(package):
    found = code.golden("experiments.work:run")
    assert found
    assert all(name.startswith("m3l/") for name in found)
    assert code.golden("experiments.helper:twice") == {}


def test_golden_answers_change_with_every_vector_width(package, tmp_path, monkeypatch):
    recorded = json.loads(code.GOLDEN_DIGESTS.read_text())
    before = code.golden("experiments.work:run")
    recorded["avx2"]["m3l/linear"]["answers"] = "changed"
    changed = tmp_path / "digests.json"
    changed.write_text(json.dumps(recorded))
    monkeypatch.setattr(code, "GOLDEN_DIGESTS", changed)
    code._golden_answers.cache_clear()
    after = code.golden("experiments.work:run")
    code._golden_answers.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"m3l/linear"}


def test_every_cell_has_code_and_the_golden_runs_of_its_learners():
    functions = {
        cell.run
        for experiment in catalogue.experiments()
        for form in (Form(), Form(full=True))
        for cell in experiment.cells(form)
    }
    assert len({code.digest(run) for run in functions}) == len(functions)
    without_learner = {run for run in functions if not code.golden(run)}
    assert without_learner == {"experiments.p5.real:run_baseline"}


def test_every_learner_has_golden_runs():
    recorded = json.loads(Path(code.GOLDEN_DIGESTS).read_text())["default"]
    for prefix in code.GOLDEN_RUNS.values():
        assert any(name.startswith(prefix) for name in recorded)
