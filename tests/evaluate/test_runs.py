"""Tests of `progressive` and `frozen`: measures, and the same model as ``partial_fit``."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from tagalong import LabelRanker
from tagalong.evaluate import Progress, Report, frozen, progressive
from tagalong.evaluate.runs import CHUNK, chunk_size
from tagalong.learning.items import Item, ReadError
from tagalong.learning.labels import LabelRows
from tagalong.learning.rounds import Round, Rounds
from tests.evaluate.streams import report_of

ROWS, LABELS = 620, 5
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, 9))
TRUTH = X[:, :LABELS] + RNG.normal(size=(ROWS, LABELS)) > 0.8
NAMES = ["red", "green", "blue", "grün", "青"]
SETS = [[name for name, yes in zip(NAMES, row, strict=True) if yes] for row in TRUTH]
SINGLE = np.array(NAMES)[X[:, :LABELS].argmax(axis=1)]
SOME_UNKNOWN = np.where(RNG.random(TRUTH.shape) < 0.1, np.nan, TRUTH)

TARGETS: dict[str, tuple[Any, Any, Any]] = {
    "indicator": (X, TRUTH, None),
    "sparse": (sp.csr_array(X), sp.csr_array(TRUTH.astype(int)), None),
    "coordinates": (sp.coo_array(X), sp.coo_array(TRUTH.astype(int)), None),
    "unknown": (X, SOME_UNKNOWN, None),
    "frames": (
        pd.DataFrame(X).add_prefix("f"),
        pd.DataFrame(TRUTH.astype(int), columns=NAMES),
        None,
    ),
    "nested lists": (X, TRUTH.astype(int).tolist(), None),
    "sets": (X, SETS, "grow"),
    "one label per row": (X, SINGLE, "grow"),
    "one label per row, as a list": (X, SINGLE.tolist(), "grow"),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "single": {"update": "single", "geometry": "euclidean", "average": False},
    "entropic": {"update": "optimal", "geometry": "entropic", "dtype": "float64"},
}


def bits(learner: LabelRanker) -> dict[str, bytes]:
    state = learner._native.state()
    found = {name: np.asarray(array).tobytes() for name, array in state["arrays"].items()}
    found["numbers"] = repr(sorted(state["numbers"].items())).encode()
    found["labels"] = repr(learner.classes_.tolist()).encode()
    return found


@pytest.mark.parametrize(
    "settings, targets",
    [*(("default", targets) for targets in TARGETS), ("single", "sets"), ("entropic", "indicator")],
)
def test_model_equals_that_of_partial_fit(settings: str, targets: str) -> None:
    features, Y, classes = TARGETS[targets]
    learner = LabelRanker(**SETTINGS[settings])
    report = progressive(learner, (features, Y), k=3, window=100)
    fitted = LabelRanker(**SETTINGS[settings]).partial_fit(features, Y, classes)
    assert bits(learner) == bits(fitted)
    assert report.items == ROWS
    assert report.labels == tuple(learner.classes_.tolist())
    assert report.certificate == fitted.certificate_


def test_measures_equal_those_of_watch() -> None:
    report = progressive(LabelRanker(), (X, TRUTH), k=2, window=50)
    expected = report_of(LabelRanker().watch(X, TRUTH), k=2, window=50)
    assert report.overall == expected.overall
    assert report.recent == expected.recent
    assert report.counts.tolist() == expected.counts.tolist()
    np.testing.assert_array_equal(report.curve["items"], expected.curve["items"])
    np.testing.assert_array_equal(
        report.curve["recent_ndcg_at_k"], expected.curve["recent_ndcg_at_k"]
    )


def test_examples_and_matrices_give_the_same_measures() -> None:
    examples = (((np.arange(9), row), y) for row, y in zip(X, SETS, strict=True))
    one, several = LabelRanker(), LabelRanker()
    found = progressive(one, examples, window=70)
    expected = progressive(several, (X, SETS), window=70)
    assert (found.overall, found.recent) == (expected.overall, expected.recent)
    assert found.labels == expected.labels
    assert found.certificate == expected.certificate
    certified = expected.curve["certified_dual"]
    known = np.isfinite(certified)
    assert known.sum() > 20
    np.testing.assert_array_equal(found.curve["certified_dual"][known], certified[known])


def test_examples_may_have_unknown_labels() -> None:
    stream: list[tuple[Any, ...]] = [
        ({"a": 1.0}, "x"),
        ({"b": 1.0}, "y", ["x"]),
        ({"b": 1.0}, ["y"], ()),
    ]
    learner = LabelRanker()
    found = progressive(learner, stream)
    expected = LabelRanker()
    for example in stream:
        expected.learn_one(*example)
    assert bits(learner) == bits(expected)
    assert found.overall.rows == 3
    assert found.overall.ranked == 1  # the first row has one label, the second one known label


def test_generator_is_read_lazily() -> None:
    learner = LabelRanker()
    seen = []

    def stream() -> Iterator[tuple[dict[str, float], str]]:
        for i in range(5):
            seen.append(learner.certificate_.rounds if i else 0)
            yield {"word": 1.0}, f"label {i}"

    progressive(learner, stream())
    assert seen == [0, 1, 2, 3, 4]


class MinimalTagger:
    """A minimal Tagger: ``labels`` and ``watch``."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def watch(self, item: Item) -> Round:
        scores = np.zeros(len(self.labels), np.float32)
        assert item.labels is not None
        self.labels += [name for name in item.labels if name not in self.labels]
        return Round(scores, 0.5, [self.labels.index(name) for name in item.labels], [])


def test_items_with_a_tagger() -> None:
    stream = (Item(labels=labels) for labels in (("a",), ("b", "a"), (), ("c",)))
    report = progressive(MinimalTagger(), stream)
    assert report.labels == ("a", "b", "c")
    assert [measured.support for measured in report.per_label()] == [2, 1, 1]
    assert report.certificate is None
    assert report.overall.ranked == 1


def test_unlabelled_item_is_named_by_its_place() -> None:
    stream = [Item(labels=("a",)), Item(place="mail.jsonl:7")]
    with pytest.raises(ReadError, match=r"mail\.jsonl:7: the item has no labels"):
        progressive(MinimalTagger(), stream)
    with pytest.raises(ReadError, match="stream: element 0: the item has no labels"):
        progressive(MinimalTagger(), [Item()])


def test_invalid_example_is_named() -> None:
    with pytest.raises(ValueError, match="stream: element 1 is 'b'; it must be"):
        progressive(LabelRanker(), [({"a": 1.0}, "x"), "b"])


def test_different_numbers_of_rows() -> None:
    learner = LabelRanker()
    with pytest.raises(ValueError, match="X has 620 rows but Y has 619"):
        progressive(learner, (X, TRUTH[:-1]))
    assert not hasattr(learner, "classes_")


def test_error_names_the_rows() -> None:
    bad = X.copy()
    bad[500, 3] = np.nan
    progress = Progress()
    with pytest.raises(ValueError) as caught:
        progressive(LabelRanker(), (bad, TRUTH), progress=progress)
    start = progress.items
    assert 256 < start <= 500
    assert any(f"in the rows from {start} to " in note for note in caught.value.__notes__)


def test_measures_are_kept_after_an_interrupt() -> None:
    learner, progress = LabelRanker(), Progress()

    def stream() -> Iterator[Any]:
        yield from [((np.arange(9), row), y) for row, y in zip(X[:300], SETS, strict=False)]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        progressive(learner, stream(), progress=progress)
    assert progress.items == 300
    rest = [((np.arange(9), row), y) for row, y in zip(X[300:], SETS[300:], strict=True)]
    found = progressive(learner, rest, progress=Progress().restore(progress.state()))
    whole = progressive(LabelRanker(), (X, SETS))
    assert (found.overall, found.recent, found.items) == (whole.overall, whole.recent, ROWS)
    np.testing.assert_array_equal(found.curve["items"], whole.curve["items"])
    np.testing.assert_array_equal(found.curve["macro_f1"], whole.curve["macro_f1"])


def test_on_progress_is_called_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    reports: list[Report] = []

    def stream() -> Iterator[Any]:
        for _ in range(100):
            now[0] += 0.01
            yield {"a": 1.0}, "x"

    progressive(LabelRanker(), stream(), on_progress=reports.append)
    assert 3 <= len(reports) <= 4
    assert reports[0].items == 25


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 31, 100, 5000])
def test_chunks_end_at_multiples_of_powers_of_two(rows: int) -> None:
    ends = [0]
    while ends[-1] < rows:
        ends.append(ends[-1] + chunk_size(ends[-1]))
    sizes = np.diff(ends)
    assert (sizes >= 1).all()
    assert sizes.max() <= CHUNK
    assert all(end % size == 0 for end, size in zip(ends[1:], sizes, strict=True))
    assert len(ends) < 100 + rows / CHUNK


def test_empty_streams() -> None:
    learner = LabelRanker()
    report = progressive(learner, iter(()))
    assert (report.items, report.labels, report.certificate) == (0, (), None)
    report = progressive(learner, (np.empty((0, 3)), []))
    assert report.items == 0
    assert len(str(report).splitlines()) > 5


def test_rows_without_labels() -> None:
    report = progressive(LabelRanker(), (X[:50], [[] for _ in range(50)]))
    assert (report.items, report.overall.ranked, report.labels) == (50, 0, ())
    assert np.isnan(report.overall.micro_f1)
    assert report.overall.subset_accuracy == 1.0


def test_frozen_does_not_change_the_model() -> None:
    model = LabelRanker().fit(X[:300], SETS[:300])
    before = bits(model)
    report = frozen(model, X[300:], SETS[300:], k=3)
    assert bits(model) == before
    numbers = {name: number for number, name in enumerate(model.classes_.tolist())}
    relevant = LabelRows.from_lists([numbers[name] for name in row] for row in SETS[300:])
    scores = model.decision_function(X[300:])
    none = LabelRows.empty(len(scores))
    expected = report_of(Rounds(scores, np.full(len(scores), model.cutoff_), relevant, none), k=3)
    assert report.overall == expected.overall
    assert report.labels == tuple(model.classes_.tolist())
    assert report.certificate is None


def test_frozen_ignores_unknown_relevance() -> None:
    model = LabelRanker().fit(X, TRUTH)
    found = frozen(model, X, SOME_UNKNOWN).overall
    expected = frozen(model, X, TRUTH).overall
    assert found.ranking_loss != expected.ranking_loss
    assert found.ranking_loss == pytest.approx(expected.ranking_loss, rel=0.2)


def test_frozen_ranks_unknown_labels_last() -> None:
    model = LabelRanker().fit(X[:100], TRUTH[:100])
    targets: list[list[int | str]] = [[0, "new"], ["other"]]
    report = frozen(model, X[:2], targets)
    assert report.labels == (0, 1, 2, 3, 4, "new", "other")
    assert report.overall.coverage == 7.0
    assert report.counts[5:].tolist() == [[0, 0, 1], [0, 0, 1]]


def test_frozen_chooses_the_better_of_two_classes() -> None:
    y = np.where(X[:, 0] > 0, "yes", "no")
    for model in (LabelRanker().fit(X, y), LogisticRegression().fit(X, y)):
        found = frozen(model, X, y).overall
        right = float((model.predict(X) == y).mean())
        assert found.subset_accuracy == pytest.approx(right)
        assert found.one_error == pytest.approx(1 - right)
