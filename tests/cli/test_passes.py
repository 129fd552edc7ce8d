"""Tests of the first and later passes, and of the held-out estimate for sorted items."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.batches import MAX_BATCH, BatchSize
from tagalong.cli.learn.held_out import MAX_HELD_OUT, Sample, held_out_estimate
from tagalong.cli.learn.pass_learner import PassLearner
from tagalong.cli.output import Output
from tagalong.cli.run_state import Run as LearningRun
from tagalong.cli.sources import Reading
from tagalong.evaluate import Progress, QueryProgress, Report
from tagalong.learning.items import Item
from tests.cli.conftest import WORDS, Run
from tests.evaluate.confident import confident_rounds, single, some_of
from tests.evaluate.streams import report_of


def learning_run(sources: list[str] | None = None) -> LearningRun:
    return LearningRun(Reading(sources or [], None, {}, None, "stop"), 2, Progress())


class RecordingTagger:
    """Returns made-up rounds, and records whether they were to be judged."""

    certificate_ = None
    learns_together = True
    has_grades = False
    labels = ("a",) * 12

    def __init__(self) -> None:
        self.judged: list[bool] = []
        self._rounds = confident_rounds(0, 50)

    def watch(self, item: Item, judged: bool = True) -> Any:
        self.judged.append(judged)
        return single(self._rounds, 5)

    def watch_together(self, items: list[Item], judged: bool = True, ahead: object = None) -> Any:
        self.judged += [judged] * len(items)
        return some_of(self._rounds, 0, len(items))


def items(count: int) -> list[Any]:
    return [Item(id=str(number), text="a", labels=("a",)) for number in range(count)]


def test_only_the_first_pass_is_judged_and_measured() -> None:
    tagger: Any = RecordingTagger()
    run = learning_run()
    for _ in range(2):
        learner = PassLearner(tagger, run)
        learner.learn(items(3))
        learner.learn(items(1))
        run.next_pass()
    assert tagger.judged == [True] * 4 + [False] * 4
    assert run.progress.items == 4


def test_later_passes_learn_large_batches() -> None:
    tagger: Any = RecordingTagger()
    run = learning_run()
    size = BatchSize(tagger, run)
    assert size() == 1
    run.next_pass()
    assert size() == MAX_BATCH


def test_report_says_which_pass_it_speaks_of(run: Run, stream: Path) -> None:
    one = run("learn", "items.jsonl")
    two = run("learn", "items.jsonl", "--passes", "2")
    assert two.out.startswith(one.out)
    assert "These are the figures of pass 1 of 2" in two.out
    assert "pass" not in one.out
    found = run("learn", "items.jsonl", "--passes", "2", "--json").json
    assert (found["pass"], found["passes"], found["measured_pass"]) == (2, 2, 1)
    assert found["report"]["items"] == 54


def sorted_items(per_label: int, seed: int = 0) -> list[dict[str, Any]]:
    """Items sorted by label, with words that say little, so that the label before says more."""
    rng = np.random.default_rng(seed)
    words = [word for group in WORDS.values() for word in group]
    return [
        {"id": f"{label}-{i}", "text": " ".join(rng.choice(words, 4)), "labels": [label]}
        for label in WORDS
        for i in range(per_label)
    ]


def sorted_report() -> Report:
    return report_of(confident_rounds(0, 300, runs=range(20, 300)))


def estimate(report: Any, sources: list[str], tagger: tagalong.Tagger) -> Any:
    return held_out_estimate(
        tagger, learning_run(sources), report, Interrupts(), Output(quiet=True)
    )


@pytest.fixture
def sorted_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    found = sorted_items(150)
    Path("sorted.jsonl").write_text("".join(json.dumps(item) + "\n" for item in found))
    return "sorted.jsonl"


def test_held_out_estimate_of_sorted_items_is_honest(sorted_file: str) -> None:
    """Words say nothing: the estimate is near chance, while repeating the last label looks good."""
    tagger = tagalong.Tagger()
    progressive = tagalong.evaluate.progressive(
        tagger, [Item(**{**item, "labels": tuple(item["labels"])}) for item in sorted_items(150)]
    )
    before = {name: array.tobytes() for name, array in tagger.to_parts()[1].items()}
    found = estimate(sorted_report(), [sorted_file], tagger)
    assert {name: array.tobytes() for name, array in tagger.to_parts()[1].items()} == before
    assert found.report.items + found.learnt == 450
    assert 25 <= found.report.items <= 65
    assert progressive.coverage.overall.accuracy > 0.9
    assert found.report.coverage.overall.accuracy < 0.6
    assert str(found) == (
        "Held-out estimate: a model that learnt nine tenths of these items in this order "
        f"({found.learnt}) is right for {100 * found.report.coverage.overall.accuracy:.1f} % of "
        f"the rest ({found.report.items})."
    )
    assert found.to_dict()["accuracy"] == found.report.coverage.overall.accuracy


def test_held_out_estimate_follows_the_warning_and_is_kept(run: Run, sorted_file: str) -> None:
    shown = run("learn", sorted_file, "--model", "m.tagalong")
    assert shown.code == 0
    lines = shown.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("random order: --shuffle."))
    assert lines[at + 1].startswith("Held-out estimate: a model that learnt nine tenths of these")
    assert shown.out.count("Held-out estimate") == 1
    assert "weakest labels" not in shown.out
    assert "most confused" not in shown.out
    assert lines[at + 1] in run("inspect", "m.tagalong").out.splitlines()
    kept = run("inspect", "m.tagalong", "--json").json["held_out"]
    assert kept["accuracy"] < 0.6
    assert set(kept) == {"learnt", "items", "accuracy"}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_held_out_estimate_is_saved_after_the_predictions(
    run: Run, sorted_file: str, ending: str
) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    flags = ("--model", "m.tagalong", "--predictions", f"p.{ending}", "--report", "r.json")
    done = run("learn", sorted_file, *flags, "--json")
    assert done.code == 0, done.err
    kept = run("inspect", "m.tagalong", "--json").json["held_out"]
    assert kept["accuracy"] == done.json["held_out"]["accuracy"]
    assert f"predictions written to p.{ending}" in done.err
    assert Path("r.json").exists()


def test_held_out_estimate_only_for_sorted_items_that_can_be_read_again(sorted_file: str) -> None:
    tagger = tagalong.Tagger()
    assert estimate(report_of(confident_rounds(0, 300)), [sorted_file], tagger) is None
    assert estimate(sorted_report(), ["-"], tagger) is None
    assert estimate(QueryProgress().report(), [sorted_file], tagger) is None


def test_held_out_items_are_a_bounded_sample_of_the_whole_run() -> None:
    sample = Sample()
    taken = [sample.takes(Item(id=str(i), text="", labels=())) for i in range(30 * MAX_HELD_OUT)]
    numbers = np.array([int(item.id) for item in sample.items])
    assert all(taken[number] for number in numbers)
    assert 0.05 < np.mean(taken[: 10 * MAX_HELD_OUT]) < 0.15
    assert MAX_HELD_OUT / 3 < len(numbers) <= MAX_HELD_OUT
    halves = np.histogram(numbers, bins=4, range=(0, 30 * MAX_HELD_OUT))[0]
    assert halves.min() > 0.6 * halves.max()


def test_json_has_the_order(run: Run, stream: Path) -> None:
    found = run("learn", "items.jsonl", "--json").json
    assert found["order"] == found["report"]["order"]
    assert found["held_out"] is None


def test_a_pipe_is_read_once(run: Run) -> None:
    done = run("learn", "-", "--format", "jsonl", "--passes", "2", stdin="")
    assert done.code == 2
    assert "can be read only once" in done.err


def test_compare_warns_of_sorted_items(run: Run, sorted_file: str) -> None:
    done = run("compare", sorted_file, "--learners", "single")
    assert done.out.startswith("THE ITEMS CAME SORTED BY LABEL")
    done = run("compare", sorted_file, "--learners", "single", "--shuffle")
    assert "SORTED" not in done.out
