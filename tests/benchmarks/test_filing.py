"""The benchmark of filing: its streams, measures, simulations and peers, on generated items."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks import filing, filing_acceptance, filing_peers
from benchmarks.filing_measures import (
    Judged,
    calibration_error,
    hindsight,
    recent_share,
    single_measures,
    upper_limit,
)
from benchmarks.filing_models import (
    DefaultModel,
    Judgement,
    Progressive,
    default_run,
    run_learner,
)
from benchmarks.filing_simulations import (
    Arrivals,
    delayed,
    filed,
    in_chosen_order,
    sorted_then_random,
    swapped,
)
from benchmarks.filing_streams import FilingStream, mailbox, sorted_by_label
from benchmarks.filing_twin import TwinModel, twin_run
from benchmarks.markdown import parse_tables
from tagalong import LabelRanker
from tagalong.readers import Item


@pytest.fixture(scope="module")
def stream() -> FilingStream:
    return filing.generated(400)


class Noting:
    """A model that notes what it learns, and is sure of the first label after some answers."""

    def __init__(self, stream: FilingStream) -> None:
        self.learnt: list[int] = []
        self.labels: list[tuple[str, ...]] = []
        self.weights: list[float] = []
        self.stream = stream

    def judge(self, number: int) -> Judgement:
        sure = len(self.learnt) >= 50
        easy = number % 2 / 2
        return Judgement(["money"], [0.5 + easy], [0.96 if sure else 0.0], [True], 0.5)

    def learn(
        self, number: int, labels: Sequence[str] | None = None, stands_for: float = 1.0
    ) -> None:
        self.learnt.append(number)
        self.labels.append(tuple(labels or self.stream.labels[number]))
        self.weights.append(stands_for)


class Factory:
    """Makes models and keeps the last one."""

    model: Noting

    def __call__(self, stream: FilingStream) -> Noting:
        self.model = Noting(stream)
        return self.model


def test_rows_are_taken_in_any_order(stream):
    numbers = np.array([7, 3, 3, 399])
    taken = stream.take(numbers)
    assert taken.labels == [stream.labels[i] for i in numbers]
    for place, number in enumerate(numbers.tolist()):
        assert np.array_equal(taken.row(place)[0], stream.row(number)[0])
        assert np.array_equal(taken.row(place)[1], stream.row(number)[1])
    part = stream.part(3, 9)
    assert np.array_equal(part.indices[: part.indptr[1]], stream.row(3)[0])
    assert len(part.indptr) == 7


def test_sorting_brings_labels_together(stream):
    labels = [labels[0] for labels in sorted_by_label(stream).labels]
    assert labels == sorted(labels)


def test_made_up_senders_tell_of_the_group():
    rng = np.random.default_rng(0)
    posts = [Item(str(i), f"text {i}", labels=(f"group{rng.integers(10)}",)) for i in range(600)]
    mails = mailbox(posts)
    assert mails == mailbox(posts)
    assert [mail.labels for mail in mails] == [post.labels for post in posts]
    groups: dict[str, list[str]] = {}
    for mail in mails:
        assert isinstance(mail.text, dict)
        assert mail.labels
        assert mail.text["body"].startswith("text ")
        groups.setdefault(mail.text["from"], []).append(mail.labels[0])
    often = [found for found in groups.values() if len(found) >= 10]
    assert often
    for found in often:
        counts = sorted((found.count(group) for group in set(found)), reverse=True)
        assert sum(counts[:3]) > 0.6 * len(found)


@pytest.mark.parametrize("seed", range(5))
def test_hindsight_is_the_best_threshold(seed):
    rng = np.random.default_rng(seed)
    measure = rng.integers(0, 12, 60).astype(float)
    right = rng.random(60) < measure / 12
    best = max(
        int((measure >= cut).sum())
        for cut in [*measure.tolist(), math.inf]
        if right[measure >= cut].sum() >= 0.8 * (measure >= cut).sum()
    )
    assert hindsight(measure, right, 0.8) == best


def test_upper_limit_is_where_so_few_become_unlikely():
    limit = upper_limit(930, 1000)
    assert binom.cdf(930, 1000, limit) == pytest.approx(0.01)
    assert upper_limit(5, 5) == 1.0


def test_calibration_error():
    chances = np.array([0.05, 0.05, 0.95, 0.95])
    right = np.array([False, True, True, True])
    assert calibration_error(chances, right) == pytest.approx((0.9 + 0.1) / 4)
    assert math.isnan(calibration_error(chances[:0], right[:0]))


def test_single_measures_skip_labels_that_did_not_exist():
    scores = np.array([[1.0, -math.inf, -math.inf], [3.0, 1.0, -math.inf], [0.0, 1.0, 5.0]])
    found = single_measures(scores, np.ones(3, bool))
    assert found["score"].tolist() == [1.0, 3.0, 5.0]
    assert found["gap"].tolist() == [1.0, 2.0, 4.0]
    assert found["standardised score"].tolist() == pytest.approx([0.0, 1.0, 3 / np.std([0, 1, 5])])


def test_recent_share_uses_the_past_only():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400)
    right = rng.random(400) < 1 / (1 + np.exp(-3 * scores))
    other = right.copy()
    other[200:] = ~other[200:]
    before, after = recent_share(scores, right), recent_share(scores, other)
    assert np.array_equal(before[:250], after[:250])
    assert not np.array_equal(before[250:], after[250:])
    assert abs(before[100:] - right[100:]).mean() < 0.35


def test_late_answers(stream):
    factory = Factory()
    found = delayed(stream, factory, 100)
    assert factory.model.learnt == list(range(300))
    assert np.flatnonzero(found.assured)[0] == 150


@pytest.mark.parametrize(("first", "parity"), [("easy", 1), ("unsure", 0)])
def test_answers_in_chosen_order(stream, first, parity):
    factory = Factory()
    in_chosen_order(stream, factory, first)
    assert sorted(factory.model.learnt) == list(range(400))
    assert [number % 2 for number in factory.model.learnt[:50]] == [parity] * 50
    in_chosen_order(stream, factory, first, answered=0.5)
    assert {number % 2 for number in factory.model.learnt} == {parity}
    assert len(factory.model.learnt) == 200


def test_filed_items_are_learnt_by_audit_only(stream):
    factory = Factory()
    _, audited = filed(stream, factory, 0.95)
    assert factory.model.learnt[:50] == list(range(50))
    assert 15 < audited < 60
    assert factory.model.weights == [1.0] * 50 + [10.0] * audited
    _, audited = filed(stream, factory, 0.97)
    assert (len(factory.model.learnt), audited) == (400, 0)


def test_labels_swap(stream):
    factory = Factory()
    found = swapped(stream, factory, 200)
    following = {"family": "money", "money": "travel", "travel": "work", "work": "family"}
    assert factory.model.labels[:200] == stream.labels[:200]
    assert factory.model.labels[200:] == [(following[x],) for (x,) in stream.labels[200:]]
    assert found.right[200:] == [label == ("family",) for label in stream.labels[200:]]


def test_sorted_then_random(stream):
    factory = Factory()
    found = sorted_then_random(stream, factory, 200, judged=30)
    labels = factory.model.labels
    assert labels[:200] == sorted(labels[:200])
    assert labels[200:] == stream.labels[200:]
    assert [len(one.right) for one in (found.during, found.after, found.continued)] == [
        200,
        30,
        200,
    ]


def test_arrivals_count_what_is_sure():
    found = Arrivals([0.99, 0.96, 0.2, 0.95], [True, False, True, True])
    assert found.sure(0.95) == (4, 3, 2)
    assert found.sure(0.95, 1, 3) == (2, 1, 0)


@pytest.mark.parametrize(
    ("model_type", "run"), [(DefaultModel, default_run), (TwinModel, twin_run)]
)
def test_one_by_one_is_as_in_one_call(stream, model_type, run):
    model, together = model_type(stream), run(stream)
    for number in range(120):
        found = model.judge(number)
        if found.labels:
            assert found.assured == together.judged.assured[number][: len(found.assured)].tolist()
            assert found.first_probability == together.judged.probabilities[number, 0]
        model.learn(number)


def test_the_learner_judges_like_its_reference(stream):
    ours: Progressive = run_learner(LabelRanker(race=None), stream)
    theirs: Progressive = twin_run(stream)
    assert np.array_equal(ours.judged.right, theirs.judged.right)
    for target in (0.9, 0.95, 0.99):
        assert np.array_equal(ours.judged.sure(target), theirs.judged.sure(target))
    # A few answers pass before the learner notices that items have one label each.
    late = slice(100, None)
    gap = np.abs(ours.judged.probabilities[late] - theirs.judged.probabilities[late])
    assert gap.max() < 1e-5


@pytest.mark.parametrize("peer", [filing_peers.naive_bayes, filing_peers.calibrated_sgd])
@pytest.mark.parametrize("one_label", [True, False])
def test_peers_learn(stream, peer, one_label):
    if not one_label:
        labels = [(*one, "odd" if i % 2 else "even") for i, one in enumerate(stream.labels)]
        stream = FilingStream("several", stream.rows, labels, one_label=False)
    found = peer(stream, 250, 400)
    assert len(found.right) == len(found.probability) == 150
    assert found.right.mean() > 0.8
    assert ((found.probability >= 0) & (found.probability <= 1)).all()


def test_fasttext_learns(stream):
    pytest.importorskip("fasttext")
    found = filing_peers.fasttext(stream, 250, 400)
    assert found.right.mean() > 0.8


def test_quick_form(capsys):
    assert filing.main(["--quick"]) == 0
    page = capsys.readouterr().out
    assert "| 50 | Tagalong |" in page
    assert "| 200 | naive Bayes |" in page
    assert "after 200 it files" in page


def test_missing_data_is_reported(capsys, monkeypatch):
    monkeypatch.delenv("TAGALONG_DATA", raising=False)
    assert filing.main(["rcv1"]) == 0
    assert "TAGALONG_DATA is not set" in capsys.readouterr().out


def test_unknown_stream(capsys):
    with pytest.raises(SystemExit):
        filing.main(["letters"])
    assert "unknown stream 'letters'; choose from newsgroups, mailbox" in capsys.readouterr().err


def outcome(
    name: str, precision: float, sure: float, attainable: float
) -> filing_acceptance.Outcome:
    rows = 8000
    rng = np.random.default_rng(0)
    assured = np.where(rng.random((rows, 10)) < sure, 1.0, 0.0)
    assured[:, 1:] = 0.0
    right = rng.random((rows, 10)) < precision
    judged = Judged(
        np.full((rows, 10), precision), assured, right, right[:, 0].astype(float), right[:, 0]
    )
    limits = {
        (target, i): round(attainable * (end - begin))
        for target in (0.9, 0.95, 0.99)
        for i, (begin, end) in enumerate(filing_acceptance.SEGMENTS)
    }
    return filing_acceptance.Outcome(name, judged, limits)


def test_acceptance_names_what_falls_short():
    good = outcome("good", 0.995, 0.5, 0.5)
    poor = outcome("poor", 0.93, 0.4, 0.5)
    page, failures = filing_acceptance.acceptance_page([good])
    assert failures == []
    assert "| good, 0.95 |" in page
    _, failures = filing_acceptance.acceptance_page([poor])
    assert any(one.startswith("poor: precision at 0.95") for one in failures)
    assert not any(one.startswith("poor: precision at 0.90") for one in failures)
    assert any("of the attainable share at 0.90" in one for one in failures)


def test_pages_of_simulations(stream, monkeypatch):
    monkeypatch.setattr(filing_acceptance, "filing_stream", lambda name, order, limit: stream)
    with ThreadPoolExecutor(1) as pool:
        page, failures = filing_acceptance.audit_page(pool, orders=2, limit=2000)
    assert failures == []
    (table,) = parse_tables(page)
    assert [row["stream"] for row in table] == ["newsgroups", "debtags", "rcv1"]
    assert table[0]["1,000"] == "–"  # the stream is shorter
    ways, swap = parse_tables(filing_acceptance.simulation_page("newsgroups", 400))
    assert len(ways) == 7
    assert swap[1]["0 to 50"] != ""
    (by_label,) = parse_tables(filing_acceptance.sorted_page(400))
    assert by_label[0]["sorted, to 500"].startswith("0.")
