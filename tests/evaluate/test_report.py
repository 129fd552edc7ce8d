"""Tests of reports as text and as JSON."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import tagalong.evaluate
from tagalong import LabelRanker
from tagalong.evaluate import Progress, Report, progressive
from tagalong.evaluate.measures import HIGHER_IS_BETTER, MEASURES
from tagalong.evaluate.report import title
from tests.evaluate.streams import random_rounds, report_of


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(random_rounds(2, 2000, 4), k=3, window=1500)


TABLE = """\
2,000 items, 4 labels

first suggestion right: {all} % of the items, {recent} % of the last 1,500

                      all  last 1,500"""


def test_table_has_every_measure(report: Report) -> None:
    lines = str(report).splitlines()
    overall, recent = report.coverage.overall.accuracy, report.coverage.recent.accuracy
    first = TABLE.format(all=f"{100 * overall:.1f}", recent=f"{100 * recent:.1f}")
    assert lines[:5] == first.splitlines()
    measured = lines[5 : lines.index("", 5)]
    assert [line.split("  ")[0].rstrip() for line in measured] == [title(m, 3) for m in MEASURES]
    assert f"{report.overall.one_error:.4f}" in measured[1]
    assert len({len(line) for line in measured}) == 1


def test_text_has_the_certificate_on_request_only() -> None:
    learner = LabelRanker()
    report = progressive(learner, [({"a": 1.0}, ["x"]), ({"b": 1.0}, ["x", "y"])])
    assert report.text(certificate=True).splitlines()[-1] == f"certificate: {learner.certificate_}"
    assert report.text(certificate=True).startswith(f"{report}\n\ncertificate: ")
    assert "certificate" not in str(report)
    assert str(report).startswith("2 items, 2 labels\n")


def test_table_has_dashes_for_nan() -> None:
    found = str(progressive(LabelRanker(), [({"a": 1.0}, ["x", "y"])]))
    assert found.startswith("1 item, 2 labels\n")
    assert next(line for line in found.splitlines() if "one-error" in line).count("–") == 1
    assert "nan" not in found.lower()


def test_table_counts_labels_that_occurred() -> None:
    found = progressive(LabelRanker().add_labels(["x", "y", "z"]), [({"a": 1.0}, "x")])
    assert str(found).startswith("1 item, 3 labels (1 of them relevant at least once), one label")


def test_dict_is_valid_json(report: Report) -> None:
    named = replace(report, labels=("青", 3, True, ("a", 1)))
    found = named.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {label["label"] for label in found["labels"]} == {"青", 3, True, "('a', 1)"}
    assert found["overall"]["ndcg_at_k"] == report.overall.ndcg_at_k
    assert found["certificate"] is None
    empty = Progress().report().to_dict()
    assert empty["overall"]["one_error"] is None
    json.dumps(empty, allow_nan=False)


def test_labels_are_sorted_by_support(report: Report) -> None:
    support = [measured.support for measured in report.per_label()]
    assert support == sorted(support, reverse=True)
    tied = replace(report, counts=np.array([[0, 0, 1], [0, 5, 2], [0, 0, 1], [1, 1, 2]]))
    assert [measured.label for measured in tied.per_label()] == [1, 3, 0, 2]


def test_report_is_immutable(report: Report) -> None:
    with pytest.raises(FrozenInstanceError):
        report.items = 3  # type: ignore[misc]
    progress = Progress()
    progress.add_rounds(random_rounds(0, 10, 3))
    before = progress.report()
    text, points = str(before), before.curve["items"].copy()
    progress.add_rounds(random_rounds(1, 10, 3))
    assert str(before) == text
    assert before.curve["items"].tolist() == points.tolist()


def test_public_names() -> None:
    for name in tagalong.evaluate.__all__:
        assert getattr(tagalong.evaluate, name).__name__ == name
    assert dir(tagalong.evaluate) == sorted(tagalong.evaluate.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'guess'"):
        tagalong.evaluate.guess  # noqa: B018
    assert set(MEASURES) > HIGHER_IS_BETTER
