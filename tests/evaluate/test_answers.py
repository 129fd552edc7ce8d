"""Tests of the counts of first suggestions, against naive counts row by row."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.evaluate import Progress, Report, confusion
from tagalong.evaluate.answers import COLUMNS, TARGETS, Answers, starts_of
from tagalong.evaluate.recent_rows import RecentRows
from tagalong.learning.labels import LabelRows
from tagalong.learning.places import Places
from tagalong.learning.rounds import Round, Rounds
from tests.evaluate.confident import (
    NaiveAnswers,
    confident_rounds,
    single,
    some_of,
    without_confidence,
)
from tests.evaluate.streams import report_of

MAKE = {
    "one label": lambda: confident_rounds(1, 700),
    "several labels": lambda: confident_rounds(2, 700, one_label=False),
    "unknown labels": lambda: confident_rounds(3, 700, one_label=False, unknown=0.2),
    "few labels": lambda: confident_rounds(4, 700, labels=3, width=3),
    "in runs": lambda: confident_rounds(5, 700, runs=range(100, 180)),
    "no confidence": lambda: without_confidence(confident_rounds(6, 700, unknown=0.1)),
    "short": lambda: confident_rounds(7, 90, one_label=False),
}


def in_batches(rounds: Rounds, sizes: list[int], progress: Progress, start: int = 0) -> Progress:
    turn = 0
    while start < len(rounds.scores):
        size = min(sizes[turn % len(sizes)], len(rounds.scores) - start)
        if size == 1:
            progress.add(single(rounds, start))
        else:
            progress.add_rounds(some_of(rounds, start, start + size))
        start, turn = start + size, turn + 1
    return progress


def by_name(answers: Answers) -> dict[str, int]:
    found = {name: getattr(answers, name) for name in COLUMNS if hasattr(answers, name)}
    for at in answers.targets:
        percent = round(100 * at.target)
        found |= {f"sure_{percent}": at.sure, f"sure_right_{percent}": at.right}
        found |= {f"marked_{percent}": at.marked, f"marked_right_{percent}": at.marked_right}
        found["relevant"] = at.relevant
        assert at.items == answers.judged
    return found


@pytest.mark.parametrize("name", MAKE)
def test_counts_equal_naive_counts(name: str) -> None:
    rounds = MAKE[name]()
    naive = NaiveAnswers(rounds)
    report = in_batches(rounds, [64, 1, 1, 7], Progress(5, 150)).report()
    assert by_name(report.coverage.overall) == naive.counts()
    assert by_name(report.coverage.recent) == naive.counts(len(naive.rows) - 150)
    assert [start.first_item for start in report.coverage.starts] == [
        naive.first_sure(target) for target in TARGETS
    ]
    assert report.answers.label_counts.tolist() == naive.label_counts(len(report.labels)).tolist()
    pairs = {(pair.label, pair.suggested): pair.items for pair in report.answers.confusion}
    expected: dict[Any, int] = {**naive.confusion()}
    assert pairs == {pair: expected[pair] for pair in pairs}
    assert len(pairs) == min(10, len(expected))
    assert min(pairs.values()) >= max(
        (expected[p] for p in expected.keys() - pairs.keys()), default=0
    )
    counted = report.answers.confusion_counts.tolist()
    assert {
        (report.labels[true], report.labels[first]): n for true, first, n in counted
    } == expected
    assert [n for *_, n in counted] == sorted(expected.values(), reverse=True)


@pytest.mark.parametrize("name", ["one label", "few labels", "no confidence"])
def test_macro_recall_is_the_mean_over_labels(name: str) -> None:
    rounds = MAKE[name]()
    report = report_of(rounds, window=150)
    naive = NaiveAnswers(rounds)
    assert report.answers.macro_recall == pytest.approx(naive.macro_recall(), rel=1e-12)
    recent = naive.macro_recall(len(naive.rows) - 150)
    assert report.answers.recent_macro_recall == pytest.approx(recent, rel=1e-12)


@pytest.mark.parametrize("name", ["one label", "several labels", "unknown labels", "short"])
@pytest.mark.parametrize("kind", ["first", "first_five", "whole"])
def test_calibration_error_equals_the_naive_one(name: str, kind: str) -> None:
    rounds = MAKE[name]()
    calibration = in_batches(rounds, [37, 1], Progress()).report().calibration
    start = 500 if len(rounds.scores) > 500 else 0
    assert calibration.from_item == start + 1
    found = getattr(calibration, kind)
    expected = NaiveAnswers(rounds).calibration_error(kind, start)
    assert found.error == pytest.approx(expected, abs=1e-8)
    assert sum(b["answers"] for b in found.to_dict()["bins"]) == found.counts.sum()


def test_exact_probabilities_have_no_calibration_error() -> None:
    rng = np.random.default_rng(0)
    rounds = confident_rounds(0, 4000)
    assert rounds.places is not None
    right = rounds.places.labels[:, 0] == rounds.relevant.indices
    rounds.places.probabilities[1:, 0] = right[1:]
    assert report_of(rounds).calibration.first.error == 0.0
    rounds.places.probabilities[1:, 0] = np.where(rng.random(3999) < 0.5, 0.0, 1.0)
    assert report_of(rounds).calibration.first.error > 0.3


@settings(max_examples=15)
@given(
    st.sampled_from(sorted(MAKE)),
    st.lists(st.integers(1, 90), min_size=1, max_size=4),
    st.integers(1, 200),
    st.integers(0, 90),
)
def test_batches_of_any_size_and_restarts_agree(
    name: str, sizes: list[int], window: int, stop: int
) -> None:
    rounds = MAKE[name]()
    first = in_batches(some_of(rounds, 0, stop), sizes, Progress(5, window))
    state = first.state()
    numbers = json.loads(json.dumps(state["numbers"]))
    again = Progress().restore({"arrays": state["arrays"], "numbers": numbers})
    found = in_batches(rounds, sizes[::-1], again, stop).report()
    expected = report_of(rounds, 5, window)
    assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())
    assert str(found) == str(expected)


def test_points_of_the_curve_equal_the_reports_at_that_time() -> None:
    rounds = confident_rounds(5, 230, one_label=False)
    curve = in_batches(rounds, [5, 1, 40], Progress(3, 20)).report().curve
    for i in (1, 30, 114):
        then = report_of(some_of(rounds, 0, int(curve["items"][i])), 3, 20).coverage
        for prefix, answers in (("", then.overall), ("recent_", then.recent)):
            assert curve[f"{prefix}accuracy"][i] == answers.accuracy
            for at in answers.targets:
                percent = round(100 * at.target)
                for name in ("share", "precision", "marked_precision", "found"):
                    expected = pytest.approx(getattr(at, name), nan_ok=True)
                    assert curve[f"{prefix}{name}_{percent}"][i] == expected


def test_older_states_are_restored_without_answers() -> None:
    rounds = confident_rounds(1, 400)
    state = in_batches(some_of(rounds, 0, 150), [50], Progress(5, 60)).state()
    new = ["answers", "recent_answers", "first_sure", "calibration", "label_answers", "confusion"]
    old_arrays = {name: array for name, array in state["arrays"].items() if name not in new}
    assert len(old_arrays) == len(state["arrays"]) - len(new)
    old_arrays["points"] = old_arrays["points"][:, : -2 * len(COLUMNS)]
    again = Progress().restore({"arrays": old_arrays, "numbers": state["numbers"]})
    assert again.report().coverage.overall == Answers.none()
    str(again.report())
    report = in_batches(rounds, [50], again, 150).report()
    assert report.items == 400
    assert by_name(report.coverage.overall) == NaiveAnswers(rounds).counts(150)
    assert report.overall == report_of(rounds, 5, 60).overall
    assert (report.coverage.starts[0].first_item or 0) > 150
    assert not report.one_label  # nothing is known about the first 150 items
    for kind in ("accuracy", "coverage", "calibration"):
        report.figure(kind)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("answers", np.zeros(3), "answers must have shape"),
        ("recent_answers", np.zeros((2, 23)), "recent_answers must have shape"),
        ("first_sure", np.zeros(2), "first_sure must have shape"),
        ("calibration", np.zeros((2, 2)), "calibration must have shape"),
        ("label_answers", np.zeros((3, 2)), "label_answers must have 5 columns"),
        ("label_answers", np.zeros((99, 5)), "more labels than per_label"),
        ("confusion", np.zeros((3, 2)), "confusion must have at most"),
        ("confusion", np.array([[0, 99, 1]]), "a label that does not exist"),
    ],
)
def test_damaged_answers_are_refused(name: str, value: Any, message: str) -> None:
    state = in_batches(confident_rounds(1, 60), [60], Progress(5, 30)).state()
    state["arrays"][name] = value
    with pytest.raises(ValueError, match=message):
        Progress().restore(state)


def test_first_suggestion_of_equal_scores_is_the_first_label() -> None:
    progress = Progress()
    progress.add(Round(np.array([1.0, 1.0, 0.0]), 0.5, [1], []))
    progress.add(Round(np.array([1.0, 1.0, 0.0]), 0.5, [0], []))
    overall = progress.report().coverage.overall
    assert (overall.suggested, overall.right, overall.right_of_3) == (2, 1, 2)
    assert not progress.report().coverage.is_known


def test_memory_of_confusion_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confusion, "MAX_PAIRS", 20)
    rounds = confident_rounds(1, 3000, labels=30)
    frequent = some_of(confident_rounds(2, 60, labels=30), 1, 2)
    progress = Progress()
    progress.add_rounds(rounds)
    for _ in range(50):
        progress.add_rounds(frequent)
    assert len(progress.state()["arrays"]["confusion"]) <= 20
    top = progress.report().answers.confusion
    naive: dict[Any, int] = {**NaiveAnswers(rounds).confusion()}
    one: dict[Any, int] = {**NaiveAnswers(frequent).confusion()}
    for pair in top:
        key = (pair.label, pair.suggested)
        assert pair.items <= naive.get(key, 0) + 50 * one.get(key, 0)
    if one:
        assert (top[0].label, top[0].suggested) == next(iter(one))


@pytest.mark.parametrize(
    "judged, sure, expected",
    [
        ([100, 100, 100, 100], [0, 49, 50, 90], 300),
        ([100, 100, 100, 100], [80, 80, 49, 50], 400),  # the early share did not last
        ([100, 100, 100, 100], [50, 50, 50, 50], 100),
        ([100, 100, 100, 100], [99, 99, 99, 49], None),
        ([0, 0, 100, 100], [0, 0, 60, 60], 300),  # no confidence at first
        ([math.nan, math.nan, 100, 100], [math.nan, math.nan, 60, 60], 300),
    ],
)
def test_half_is_sure_at_every_later_point(
    judged: list[float], sure: list[float], expected: int | None
) -> None:
    curve = {f"recent_{name}": np.zeros(4) for name in COLUMNS}
    curve |= {"items": np.array([100.0, 200.0, 300.0, 400.0]), "recent_judged": np.array(judged)}
    curve["recent_sure_95"] = np.array(sure)
    assert starts_of([0, 20, 0], curve)[1].half_from == expected
    assert starts_of([0, 0, 0], curve)[1].half_from is None


def test_half_from_agrees_with_the_curve() -> None:
    report = report_of(confident_rounds(1, 400), window=50)
    for start in report.coverage.starts:
        share = report.curve[f"recent_share_{round(100 * start.target)}"]
        later = [bool((share[i:] >= 0.5).all()) for i in range(len(share))]
        expected = report.curve["items"][later.index(True)] if any(later) else None
        assert start.half_from == expected


@pytest.mark.parametrize("window", [1, 5, 64, 1000])
def test_recent_rows(window: int) -> None:
    rng = np.random.default_rng(window)
    recent, everything = RecentRows(window, 2), np.zeros((0, 2), np.int64)
    total = np.zeros(2, np.int64)
    for _ in range(60):
        more = rng.integers(0, 9, size=(int(rng.integers(0, 40)), 2))
        total += more.sum(axis=0) - recent.append(more)
        everything = np.vstack([everything, more])
        assert recent.rows.tolist() == everything[-window:].tolist()
        assert total.tolist() == everything[-window:].sum(axis=0).tolist()


def order_of(rounds: Rounds, window: int = 1000) -> str | None:
    return report_of(rounds, window=window).order


def test_order() -> None:
    assert order_of(confident_rounds(0, 300)) == "mixed"
    assert order_of(confident_rounds(0, 300, runs=range(10, 20))) == "mixed"
    assert order_of(confident_rounds(0, 301, runs=range(10, 40))) == "sorted"
    assert order_of(confident_rounds(0, 300, runs=range(290, 300)), window=10) == "sorted"
    assert order_of(without_confidence(confident_rounds(0, 300))) is None
    assert Progress().report().order is None


def text_of(rounds: Rounds, **arguments: Any) -> tuple[Report, str]:
    progress = Progress(5, 100)
    progress.add_rounds(rounds)
    report = progress.report(**arguments)
    return report, str(report)


def test_text_of_one_label_per_item() -> None:
    report, text = text_of(confident_rounds(1, 400))
    recent = report.coverage.recent
    low, middle, high = (f"{100 * at.share:.0f} %" for at in recent.targets)
    lines = text.splitlines()
    assert lines[0] == "400 items, 12 labels, one label per item"
    assert lines[2] == (
        f"first suggestion right: {100 * report.coverage.overall.accuracy:.1f} % of the items, "
        f"{100 * recent.accuracy:.1f} % of the last 100"
    )
    assert lines[3] == (
        f"at 95 % right, {middle} can be filed without asking (90 %: {low}, 99 %: {high})"
        f"; the first was item {report.coverage.starts[1].first_item}"
    )
    for name in ("accuracy", "right among the first 3", "macro recall", "weakest labels"):
        assert sum(line.startswith(name) for line in lines) == 1
    assert "most confused" in text
    for name in ("precision@5", "Hamming", "micro-F1", "subset accuracy", "any mistake"):
        assert name not in text
    assert report.to_dict()["overall"]["precision_at_k"] == report.overall.precision_at_k
    assert len({len(line) for line in lines[5:9]}) == 1


def test_text_of_several_labels_per_item() -> None:
    report, text = text_of(confident_rounds(1, 400, one_label=False))
    low, middle, high = (f"{100 * at.found:.0f} %" for at in report.coverage.recent.targets)
    assert (
        f"at 95 % right, {middle} of the right labels can be set without asking "
        f"(90 %: {low}, 99 %: {high})"
    ) in text
    assert "precision@5" in text
    assert "most confused" not in text
    assert "first item" in text
    assert "half from item" not in text
    assert "one label per item" not in text


def test_learner_can_say_that_items_have_one_label() -> None:
    rounds = confident_rounds(1, 400, one_label=False)
    assert not text_of(rounds)[0].one_label
    report, text = text_of(rounds, one_label=True)
    assert report.to_dict()["one_label"]
    assert "macro recall" in text


def test_text_without_confidence_has_no_coverage() -> None:
    _, text = text_of(without_confidence(confident_rounds(1, 400)))
    assert "first suggestion right: " in text
    assert "without asking" not in text
    assert "sure at" not in text


def test_text_if_nothing_is_sure() -> None:
    rounds = confident_rounds(1, 400)
    assert rounds.places is not None
    rounds.places.assured[:] = 0
    report, text = text_of(rounds)
    assert "nothing can be filed without asking yet" in text
    assert [start.first_item for start in report.coverage.starts] == [None] * 3
    assert math.isnan(report.coverage.overall.at(0.95).precision)
    assert report.to_dict()["coverage"]["overall"]["targets"][1]["precision"] is None


def test_text_of_sorted_items_warns_first() -> None:
    report, text = text_of(confident_rounds(1, 400, runs=range(50, 400)))
    lines = text.splitlines()
    assert lines[2].startswith("THE ITEMS CAME SORTED BY LABEL")
    assert "must not be trusted" in lines[2]
    assert "--shuffle" in lines[4]
    assert "can be filed" not in text
    assert "filed alone" not in text
    assert "weakest labels" not in text
    assert "most confused" not in text
    assert report.to_dict()["order"] == "sorted"


def test_text_of_frozen_models_has_no_first_item() -> None:
    _, learning = text_of(confident_rounds(1, 400))
    report, text = text_of(confident_rounds(1, 400), frozen=True)
    for part in ("; the first was item ", "first item", "half from item"):
        assert part in learning
        assert part not in text
    assert "filed alone" in text
    assert text_of(MAKE["one label"](), frozen=True)[0].calibration.from_item == 1
    assert report.to_dict()["frozen"]


def test_weakest_labels_are_those_found_least() -> None:
    rounds = confident_rounds(1, 400)
    report = report_of(rounds)
    text = str(report)
    table = text[text.index("weakest labels") :].split("\n\n")[0].splitlines()[1:]
    measured = {one.label: one for one in report.per_label() if one.support >= 10}
    order = sorted(measured.values(), key=lambda one: one.found_first)[:5]
    assert [int(line.split()[0]) for line in table] == [one.label for one in order]
    first = order[0]
    assert table[0].split() == [
        str(first.label),
        str(first.support),
        f"{100 * first.found_first:.1f}",
        "%",
        f"{100 * first.precision_first:.1f}",
        "%",
        str(first.marked),
        *(["–"] if not first.marked else [f"{100 * first.marked_precision:.1f}", "%"]),
    ]


def test_answers_at_another_target_are_refused() -> None:
    with pytest.raises(ValueError, match=r"target must be one of 0.9, 0.95, 0.99, got 0.8"):
        Answers.none().at(0.8)


def test_names_cannot_control_the_terminal() -> None:
    rounds = confident_rounds(1, 400)
    progress = Progress()
    progress.add_rounds(rounds)
    names = [f"evil\x1b[2J{i}\n" for i in range(12)]
    assert "\x1b" not in str(progress.report(names))


def test_places_may_be_narrow_and_rows_empty() -> None:
    empty = Places(
        np.full((2, 0), -1, np.int32),
        np.zeros((2, 0)),
        np.zeros((2, 0)),
        np.zeros((2, 0)),
        np.zeros((2, 0), bool),
        np.zeros(2),
        np.zeros(2, np.int32),
        np.zeros(2, bool),
    )
    rows = LabelRows.from_lists([[0], []])
    rounds = Rounds(np.full((2, 1), -np.inf), np.zeros(2), rows, LabelRows.empty(2), empty)
    overall = report_of(rounds).coverage.overall
    assert (overall.rows, overall.suggested, overall.judged) == (2, 0, 0)
