"""Custom class-dependent features: the ranker works as with built-in ones."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tagalong import LabelRanker, SharedLabelRanker, Tagger
from tagalong.features import FolderAffinity, LabelFeatures, TextFeatures
from tests.online.custom_features import Affinity, Kesler, Pair, Table
from tests.online.test_shared_ranker import CASES, WORDS, stream
from tests.weights import dense_coef


def assert_same_weights(found: Any, expected: Any) -> None:
    mine, theirs = found._native.state(), expected._native.state()
    assert mine["numbers"] == theirs["numbers"]
    for name in theirs["arrays"].keys() - {"words", "word_counts", "messages"}:
        assert mine["arrays"][name].tobytes() == theirs["arrays"][name].tobytes(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("update", "geometry"), CASES)
def test_folder_affinity_in_python_gives_the_same_bits(
    update: str, geometry: str, dtype: str
) -> None:
    values = {"common": 2.0, "rare": -1.0} if geometry == "euclidean" else {"common": 1, "rare": 0}
    params: dict[str, Any] = {"update": update, "geometry": geometry, "dtype": dtype}
    native = SharedLabelRanker(FolderAffinity(**values), n_features=WORDS, **params)
    own = SharedLabelRanker(Affinity(**values, n_features=WORDS), **params)
    for words, folders in stream(60):
        x = (words, np.ones(len(words)))
        found, expected = own.watch_one(x, folders), native.watch_one(x, folders)
        assert found.scores.tobytes() == expected.scores.tobytes()
        assert found.cutoff == expected.cutoff
    assert_same_weights(own, native)
    assert own.certificate_ == native.certificate_
    for words, _ in stream(5, seed=1):
        x = (words, np.ones(len(words)))
        assert own.rank_one(x) == native.rank_one(x)
        mine, theirs = own.explain_one(x, 2), native.explain_one(x, 2)
        used = theirs[1] != 0
        assert dict(zip(mine[0], mine[1], strict=True)).items() >= set(
            zip(theirs[0][used], theirs[1][used], strict=True)
        )
        assert mine[2] == theirs[2]


@pytest.mark.parametrize(
    ("shared", "apart"),
    [("max", "single"), ("optimal", "optimal"), ("simproj", "simproj"), ("conproj", "conproj")],
)
def test_a_copy_of_x_per_label_gives_one_weight_vector_per_label(shared: str, apart: str) -> None:
    """Kesler's construction makes a multi-prototype ranker of a shared one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (X @ rng.normal(size=(5, 4)) > 0.5).astype(int)
    own = SharedLabelRanker(Kesler(labels=4), update=shared, dtype="float64").fit(X, Y)
    known = LabelRanker(
        update=apart, geometry="euclidean", C=1.0, margin=1.0, average=False, constant=0,
        normalize=False, dtype="float64",
    ).fit(X, Y)  # fmt: skip
    np.testing.assert_allclose(dense_coef(own).reshape(5, 4).T, dense_coef(known), atol=1e-9)
    np.testing.assert_allclose(own.decision_function(X), known.decision_function(X), atol=1e-9)
    assert own.certificate_.dual == pytest.approx(known.certificate_.dual, rel=1e-9)


FORMS: dict[str, Any] = {
    "dense": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "integers": lambda rows: rows.astype(np.int64),
    "lists": lambda rows: rows.tolist(),
    "by columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "a buffer used again": None,
}


class Converted:
    """The features of another object, in another array type."""

    def __init__(self, form: str):
        self.form, self.buffer = form, np.zeros((4, 6))

    def rows(self, x: Pair, labels: Sequence[Any]) -> Any:
        found = np.arange(24).reshape(6, 4).T[: len(labels)] % 5 * x[1][0]
        if FORMS[self.form] is not None:
            return FORMS[self.form](found)
        self.buffer[: len(labels)] = found
        return self.buffer[: len(labels)]


@pytest.mark.parametrize("form", FORMS)
def test_rows_may_have_any_array_type(form: str) -> None:
    X = np.random.default_rng(3).integers(1, 5, (30, 1)).astype(float)
    y = np.arange(30) % 4
    found, expected = (
        SharedLabelRanker(Converted(each), update="max").fit(X, y) for each in (form, "dense")
    )
    assert np.abs(dense_coef(expected)).max() > 0
    assert_same_weights(found, expected)


numbers = st.integers(-6, 6).map(lambda n: n / 4)
tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=2, max_size=5)
)


@given(table=tables, data=st.data())
@settings(max_examples=60)
def test_scores_are_weights_times_features(table: list[list[float]], data: Any) -> None:
    phi = Table(np.array(table))
    K = len(table)
    ranker = SharedLabelRanker(
        phi, update=data.draw(st.sampled_from(["max", "simproj", "optimal"]))
    )
    ranker.set_params(dtype="float64").add_labels(range(K))
    rounds = st.tuples(numbers.filter(bool), st.sets(st.integers(0, K - 1)))
    for value, labels in data.draw(st.lists(rounds, max_size=8)):
        ranker.learn_one(([0], [value]), sorted(labels))
    x = ([0], [data.draw(numbers.filter(bool))])
    scores, _ = ranker.score_one(x)
    np.testing.assert_allclose(scores, phi.table * x[1][0] @ dense_coef(ranker), atol=1e-12)
    assert dense_coef(ranker).shape == (phi.n_features,)
    for label in range(K):
        features, parts, score = ranker.explain_one(x, label)
        assert score == scores[label]
        assert parts.sum() == pytest.approx(score, abs=1e-12)
        np.testing.assert_allclose(
            parts, (phi.table[label] * x[1][0] * dense_coef(ranker))[features], atol=1e-12
        )
    certificate = ranker._native.certificate()
    assert ranker._native.recompute_dual() == pytest.approx(certificate.dual, rel=1e-9, abs=1e-12)


class Recorder:
    """Records all calls and their arguments."""

    n_features = 1

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def rows(self, x: Pair, labels: Sequence[Any]) -> Any:
        self.seen.append(("rows", x[0].tolist(), x[1].tolist(), list(labels)))
        return np.zeros((len(labels), 1))

    def learn(self, x: Pair, labels: Sequence[Any]) -> None:
        self.seen.append(("learn", x[0].tolist(), x[1].tolist(), list(labels)))


def test_the_arguments_of_the_features() -> None:
    """The features get preprocessed rows, the labels known by then, and the relevant labels."""
    ranker = SharedLabelRanker(Recorder())
    X = sp.csr_array(([2.0, 0.0, 1.5, 0.5, 1.0], [3, 1, 0, 3, 2], [0, 4, 5]), shape=(2, 4))
    ranker.partial_fit(X, [["a"], ["c", "b"]], "grow", sample_weight=[1, 2])
    ranker.learn_one(([5, 1], [1.0, 2.0]), "b", unknown=["d"])
    ranker.partial_fit(X[:1], [["a"]], sample_weight=[0])
    ranker.rank_one(([4], [1.0]))
    trained = ranker._custom_features
    assert isinstance(trained, Recorder)
    assert trained.seen == [
        ("rows", [0, 3], [1.5, 2.5], ["a"]),
        ("learn", [0, 3], [1.5, 2.5], ["a"]),
        ("rows", [2], [1.0], ["a", "c", "b"]),
        ("learn", [2], [1.0], ["c", "b"]),
        ("rows", [1, 5], [2.0, 1.0], ["a", "c", "b", "d"]),
        ("learn", [1, 5], [2.0, 1.0], ["b"]),
        ("rows", [0, 3], [1.5, 2.5], ["a", "c", "b", "d"]),
        ("rows", [4], [1.0], ["a", "c", "b", "d"]),
    ]
    assert isinstance(ranker.features, Recorder)
    assert ranker.features.seen == []  # the ranker trains a copy


def messages(learner: object) -> dict[Hashable, int]:
    """Return the number of messages per label that trained `Affinity` features have seen."""
    assert isinstance(learner, SharedLabelRanker)
    assert isinstance(learner._custom_features, Affinity)
    return learner._custom_features.messages


def test_fit_starts_with_untrained_features() -> None:
    X, Y = np.eye(4), [["a"], ["b"], ["a"], ["b"]]
    ranker = SharedLabelRanker(Affinity(), update="max").fit(X, Y)
    assert messages(ranker) == {"a": 2, "b": 2}
    assert clone(ranker).features == ranker.features == Affinity()
    assert messages(ranker.fit(X[:1], Y[:1])) == {"a": 1}


def test_without_labels_the_features_are_not_called() -> None:
    ranker = SharedLabelRanker(Recorder()).learn_one(([1], [1.0]), [])
    assert ranker.rank_one(([1], [1.0])) == []
    assert isinstance(ranker._custom_features, Recorder)
    assert [what for what, *_ in ranker._custom_features.seen] == ["learn"]


class Described:
    """The number of words that an item shares with a label's name and description."""

    feature_names = ("name", "description")

    def __init__(self, descriptions: dict[str, str]):
        self.descriptions = descriptions
        self.words = TextFeatures(buckets=2**16)

    def rows(self, x: Pair, labels: Sequence[Hashable]) -> npt.NDArray[np.float64]:
        item = set(x[0].tolist())
        texts = [[name, self.descriptions.get(name, "")] for name in map(str, labels)]
        return np.array(
            [[len(item & set(self.words.read(t)[0].tolist())) for t in pair] for pair in texts],
            dtype=np.float64,
        )


class Nameless(Described):
    feature_names = None  # type: ignore[assignment]


def described_tagger(kind: type[Described] = Described) -> Tagger:
    phi = kind({"money": "invoice payment bank", "travel": "flight hotel", "pets": "dog cat"})
    tagger = Tagger(SharedLabelRanker(phi), TextFeatures(buckets=2**16))
    tagger.add_labels(["money", "travel"])
    return tagger.learn("the invoice from the bank", ["money"]).learn("my hotel", ["travel"])


def test_a_tagger_suggests_a_label_without_examples() -> None:
    tagger = described_tagger().add_labels(["pets"])
    assert tagger.suggest("the dog and the invoice of the cat", k=1)[0].label == "pets"
    found = tagger.explain("the dog and the cat", "pets")
    assert [name for name, _ in found.parts] == ["description"]
    assert found.total == pytest.approx(found.score, abs=1e-6)


def test_features_without_names_are_numbered_in_explanations() -> None:
    found = described_tagger(Nameless).explain("hotel", "travel")
    assert [name for name, _ in found.parts] == ["feature 1"]


def test_pruning_drops_weights_but_no_words() -> None:
    tagger = described_tagger()
    assert tagger.prune(features=0).features == 0
    assert isinstance(tagger.learner, SharedLabelRanker)
    assert not tagger.learner.coef_.any()
    words, _ = tagger.features.read("invoice")
    assert tagger.features.name(int(words[0])) == "invoice"


def test_labels_can_change_for_features_that_do_not_learn() -> None:
    tagger = described_tagger().add_labels(["pets"])
    before = {s.label: s.score for s in tagger.suggest("invoice hotel dog", k=None)}
    tagger.forget_label("travel")
    after = {s.label: s.score for s in tagger.suggest("invoice hotel dog", k=None)}
    assert after == {label: before[label] for label in ("money", "pets")}
    tagger.rename_label("pets", "money pets")
    assert {s.label for s in tagger.suggest("dog", k=None)} == {"money", "money pets"}
    tagger.merge_labels(["money", "money pets"], into="travel")
    assert tagger.labels == ["travel"]
    assert tagger.explain("hotel", "travel").parts[0][0] == "description"


def test_labels_can_change_with_relabel() -> None:
    native = Tagger(SharedLabelRanker(FolderAffinity(), update="max"))
    own = Tagger(SharedLabelRanker(Affinity(), update="max"))
    for tagger in (native, own):
        for i in range(12):
            tagger.learn(f"invoice payment number{i}", ["money"])
            tagger.learn(f"flight hotel number{i}", ["travel"])
            tagger.learn(f"mother birthday number{i}", ["family"])
        tagger.rename_label("money", "bank")
        tagger.forget_label("travel")
        tagger.learn("invoice birthday", ["bank"])
        tagger.merge_labels(["bank", "family"], into="home")
        tagger.learn("invoice again", ["home", "new"])
    assert own.suggest("invoice again", k=None) == native.suggest("invoice again", k=None)
    assert messages(own.learner) == {"home": 26, "new": 1}
    assert str(own.certificate_) == str(native.certificate_)


class WithoutRelabel(Affinity):
    relabel = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "change",
    [
        lambda tagger: tagger.rename_label("a", "c"),
        lambda tagger: tagger.forget_label("a"),
        lambda tagger: tagger.merge_labels(["a", "b"], into="c"),
    ],
)
def test_labels_cannot_change_without_relabel(change: Any) -> None:
    tagger = Tagger(SharedLabelRanker(WithoutRelabel())).learn("one", ["a"]).learn("two", ["b"])
    before = tagger.suggest("one two", k=None)
    with pytest.raises(ValueError, match=r"WithoutRelabel has learn\(\) but no relabel\(changes\)"):
        change(tagger)
    assert tagger.labels == ["a", "b"]
    assert tagger.suggest("one two", k=None) == before


def test_the_protocol_can_be_used_as_a_type() -> None:
    features: LabelFeatures = Kesler()
    assert SharedLabelRanker(features).get_params()["features"] is features
