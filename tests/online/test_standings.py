"""Who is in the race of a label ranker, why others left, and whose certificate is shown."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tagalong import LabelRanker, load
from tagalong import _native as core
from tagalong.learning.certificates import Certificate
from tagalong.online.label_ranker import Contestant
from tests.changing_answers import changing_items

WORDS = {"unit", "idf", "one-vs-rest-idf", "bayes-idf"}


def learnt(rows: int, **settings: Any) -> LabelRanker:
    ranker = LabelRanker(**settings)
    for words, label in changing_items(rows):
        # Loud words without a meaning, which idf and Bayes ignore sooner than others.
        loud = {word: 4.0 if word.startswith("any") else 1.0 for word in words}
        ranker.learn_one({**loud, "the": 3.0, "a": 3.0}, [label])
    return ranker


@pytest.fixture(scope="module")
def ranker() -> LabelRanker:
    return learnt(580)


def test_there_are_none_before_the_start_and_none_for_one_learner() -> None:
    with pytest.raises(AttributeError, match="standings_ does not exist before"):
        _ = LabelRanker().standings_
    assert learnt(3, race=None).standings_ == ()
    assert [one.name for one in learnt(3, race=["idf", "unit"]).standings_] == ["idf", "unit"]


def test_a_race_needs_a_ranker_for_its_certificate() -> None:
    ranker = LabelRanker(race=["bayes-idf", "one-vs-rest-idf"])
    with pytest.raises(ValueError, match="race must name a contestant with a certificate"):
        ranker.learn_one({"a": 1.0}, ["x"])
    settings: dict[str, Any] = {
        "update": "smooth",
        "geometry": "adaptive",
        "average": "chosen",
        "solver": "exact",
        "one_label": "auto",
        "relevance": "rare",
    }
    numbers = {"C": 10.0, "margin": 1.0, "temperature": 0.1, "constant": 0.5, "rate": 3.0}
    settings |= {**numbers, "normalize": True, "probability": True, "n_features": 0}
    settings["working_set"] = True
    assert core.Race64(race=["unit"], **settings).labels == 0
    with pytest.raises(ValueError, match="a race needs a ranker"):
        core.Race64(race=["bayes-idf"], **settings)


def test_contestants_for_dense_rows_leave_a_stream_of_words() -> None:
    before, after = learnt(19).standings_, learnt(25).standings_
    assert all(one.running for one in before)
    assert {one.name for one in after if one.running} == WORDS
    left = [one for one in after if not one.running]
    assert len(left) == len(before) - len(WORDS)
    assert {(one.left, one.reason) for one in left} == {(20, "unsuited")}


def test_figures_of_those_running_and_of_those_beaten(ranker: LabelRanker) -> None:
    running = [one for one in ranker.standings_ if one.running]
    assert sum(one.weight for one in running) == pytest.approx(1)
    for one in running:
        assert 0.5 < one.average_precision <= 1
        assert (one.rounds, one.left, one.reason) == (580, 0, "")
        assert one.bytes > 0
    beaten = [one for one in ranker.standings_ if one.reason.startswith("beaten by ")]
    assert beaten
    assert all(one.left >= 500 and one.reason.endswith(" standard errors)") for one in beaten)


@pytest.mark.parametrize(
    "reason, words",
    [
        ("beaten", "beaten by idf (4.3 standard errors)"),
        ("same", "as good as idf"),
        ("unsuited", "unsuited"),
        ("memory", "memory"),
        ("not finite", "its scores were not finite"),
    ],
)
def test_reasons_in_words(reason: str, words: str) -> None:
    standing = SimpleNamespace(
        name="unit", running=False, weight=0.0, gain=0.0, rounds=0, bytes=0, left=620
    )
    standing.reason, standing.winner, standing.lead = reason, "idf", 4.321
    found = Contestant.of(cast(Any, standing))
    assert found == Contestant("unit", False, 0.0, 0.0, 0, 0, 620, words)


def test_a_file_keeps_them(ranker: LabelRanker, tmp_path: Path) -> None:
    ranker.save(tmp_path / "race")
    # Equal memory, too: it determines who leaves.
    assert cast(LabelRanker, load(tmp_path / "race")).standings_ == ranker.standings_


def test_the_certificate_names_its_contestant(ranker: LabelRanker) -> None:
    certificate = ranker.certificate_
    names = [one.name for one in ranker.standings_ if one.running]
    assert certificate.contestant in names
    assert certificate.rounds == 580
    assert str(certificate).startswith(f"contestant {certificate.contestant}: ")
    assert certificate.contestant not in str(replace(certificate, contestant=""))
    assert learnt(3, race=None).certificate_.contestant == ""


def test_the_certificate_has_the_settings_of_its_contestant() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)), rng.random((40, 3)) < 0.4
    one: Certificate = LabelRanker(race=["unit-cautious"]).fit(X, Y).certificate_
    assert one.contestant == "unit-cautious"
    assert (one.C, one.temperature) == pytest.approx((10 / 30, 5 * 0.1))
