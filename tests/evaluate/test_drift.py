"""A change of the answers in reports."""

from dataclasses import replace

import pytest

from tagalong import LabelRanker
from tagalong.evaluate import progressive
from tagalong.evaluate.drift import drift_text, drift_values
from tagalong.learning.drift import Drift
from tests.changing_answers import SWAPPED, changing_items
from tests.evaluate.streams import random_rounds, report_of


@pytest.mark.parametrize(
    "drift, text",
    [
        (
            Drift(8200, ("A", "B"), True),
            "since item 8,200 the answers have changed: labels A, B",
        ),
        (Drift(8200, ("A",), True), "since item 8,200 the answers have changed: label A"),
        (Drift(7, (), True), "since item 7 the answers have changed"),
        (Drift(8200, ("A", 2), False), "at item 8,200 the answers changed: labels A, 2"),
        (Drift(7, ("\x1b[1m\nx",), False), "at item 7 the answers changed: label \\x1b[1m x"),
    ],
)
def test_a_change_in_words(drift: Drift, text: str) -> None:
    assert drift_text(drift) == text


def test_values_for_json() -> None:
    assert drift_values(None) is None
    assert drift_values(Drift(3, ("a", 1, (2, 3)), False)) == {
        "since": 3,
        "labels": ["a", 1, "(2, 3)"],
        "active": False,
    }


def test_a_report_without_a_change() -> None:
    report = report_of(random_rounds(1, 50, 4))
    assert report.drift is None
    assert report.to_dict()["drift"] is None
    assert "the answers" not in str(report)


def test_a_report_with_a_change() -> None:
    drift = Drift(20, ("A",), True)
    report = replace(report_of(random_rounds(1, 50, 4)), drift=drift)
    assert report.to_dict()["drift"] == drift_values(drift)
    assert drift_text(drift) in str(report).splitlines()


def test_the_report_of_a_run_has_the_change_that_the_learner_noticed() -> None:
    report = progressive(LabelRanker(race="auto"), changing_items(900))
    assert report.drift is not None
    assert set(report.drift.labels) == set(SWAPPED)
    assert drift_text(report.drift) in str(report)
