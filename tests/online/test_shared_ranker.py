"""SharedLabelRanker agrees with explicit rows and with a naive FolderAffinity."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tagalong
from tagalong import BlockProjection, SharedLabelRanker, Tagger, load
from tagalong.features import FolderAffinity
from tests.contract.bits import native_of

WORDS, FOLDERS = 30, 6


def stream(count: int, seed: int = 0) -> list[tuple[npt.NDArray[np.int64], list[int]]]:
    """Messages as sets of words; each folder has its own typical words."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        folders = rng.choice(FOLDERS, size=1 + (rng.random() < 0.2), replace=False)
        own = np.concatenate([rng.choice(5, 3, replace=False) + 5 * f for f in folders])
        noise = rng.integers(WORDS, size=4)
        out.append((np.unique(np.concatenate([own, noise])), sorted(folders.tolist())))
    return out


class NaiveAffinity:
    """FolderAffinity by its definition, with one set of words per message."""

    def __init__(
        self, often: float, seldom: float, common: float, rare: float, of_all: bool = False
    ):
        self.often, self.seldom, self.common, self.rare = often, seldom, common, rare
        self.of_all = of_all
        self.earlier: list[set[int]] = []
        self.filed: list[list[set[int]]] = [[] for _ in range(FOLDERS)]

    def phi(self, words: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        out = np.zeros((FOLDERS, WORDS))
        for r, messages in enumerate(self.filed):
            for j in words.tolist():
                among = self.earlier if self.of_all else messages
                if messages and sum(j in m for m in messages) >= self.often * len(messages):
                    out[r, j] = self.common
                elif sum(j in m for m in among) < self.seldom * len(among):
                    out[r, j] = self.rare
        return out

    def learn(self, words: npt.NDArray[np.int64], folders: list[int]) -> None:
        self.earlier.append(set(words.tolist()))
        for r in folders:
            self.filed[r].append(set(words.tolist()))


CASES = [
    (update, geometry)
    for geometry in ("euclidean", "entropic")
    for update in ("simperc", "conproj", "simproj", "simopt", "max", "optimal")
    if (update, geometry) != ("simopt", "entropic")
]


@pytest.mark.parametrize(("update", "geometry"), CASES)
def test_equals_block_projection_on_feature_differences(update: str, geometry: str) -> None:
    values = {"common": 2.0, "rare": -1.0} if geometry == "euclidean" else {"common": 1, "rare": 0}
    ranker = SharedLabelRanker(
        update=update, geometry=geometry, C=0.7, n_features=WORDS, dtype="float64"
    ).add_labels(range(FOLDERS))
    naive = NaiveAffinity(0.2, 0.02, **values)
    block = BlockProjection(update, geometry, C=0.7, dtype="float64")
    # An empty block declares the number of features; a row without features changes no weights.
    started = False
    for words, folders in stream(60):
        phi = naive.phi(words)
        scores, _ = ranker.score_one((words, np.ones(len(words))))
        if started:
            np.testing.assert_allclose(scores, block.decision_function(phi), atol=1e-9)
        rows = [phi[r] - phi[s] for r in folders for s in range(FOLDERS) if s not in folders]
        block.learn_block(np.array(rows), np.ones(len(rows)))
        started = True
        ranker.learn_one((words, np.ones(len(words))), folders)
        naive.learn(words, folders)
        np.testing.assert_allclose(ranker.coef_, block.coef_, atol=1e-9)
    mine, theirs = ranker.certificate_, block.certificate_
    assert mine.mistakes == theirs.mistakes
    assert mine.loss == pytest.approx(theirs.loss, rel=1e-9)
    assert mine.dual == pytest.approx(theirs.dual, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seldom", [0.02, 0.2])
def test_seldom_words_of_all_messages(seldom: float, tmp_path: Path) -> None:
    """The features are those of the definition; also after a file, and after merging folders."""
    features = FolderAffinity(0.3, seldom, seldom_of="all")
    ranker = SharedLabelRanker(
        features, update="simproj", C=0.7, n_features=WORDS, dtype="float64"
    ).add_labels(range(FOLDERS))
    naive = NaiveAffinity(0.3, seldom, 2.0, -1.0, of_all=True)
    block = BlockProjection("simproj", C=0.7, dtype="float64")
    rare_in_empty_folders = 0
    for number, (words, folders) in enumerate(stream(80)):
        phi = naive.phi(words)
        empty = [r for r, messages in enumerate(naive.filed) if not messages]
        rare_in_empty_folders += int((phi[empty] < 0).sum())
        rows = [phi[r] - phi[s] for r in folders for s in range(FOLDERS) if s not in folders]
        block.learn_block(np.array(rows), np.ones(len(rows)))
        ranker.learn_one((words, np.ones(len(words))), folders)
        naive.learn(words, folders)
        np.testing.assert_allclose(ranker.coef_, block.coef_, atol=1e-9)
        if number == 40:
            ranker.save(tmp_path / "model")
            ranker = load(tmp_path / "model")
            assert ranker.features.seldom_of == "all"
    assert rare_in_empty_folders > 0
    ranker.merge_labels([4, 5], into=4)
    naive.filed[4:] = [naive.filed[4] + naive.filed[5]]
    for words, _ in stream(20, seed=3):
        x = (words, np.ones(len(words)))
        expected = naive.phi(words)[:5] @ block.coef_
        np.testing.assert_allclose(ranker.score_one(x)[0], expected, atol=1e-9)


def test_the_two_readings_of_seldom_differ() -> None:
    models = [
        SharedLabelRanker(FolderAffinity(seldom=0.2, seldom_of=of)) for of in ("folder", "all")
    ]
    for words, folders in stream(60):
        for model in models:
            model.learn_one((words, np.ones(len(words))), folders)
    assert not np.array_equal(models[0].coef_, models[1].coef_)


def test_files_from_before_the_option_have_the_usual_reading() -> None:
    ranker = SharedLabelRanker(FolderAffinity(seldom=0.1))
    for words, folders in stream(30):
        ranker.learn_one((words, np.ones(len(words))), folders)
    header, arrays = ranker.to_parts()
    del header["settings"]["seldom_of"], header["params"]["features"]["seldom_of"]
    old = SharedLabelRanker.from_parts(header, arrays)
    assert isinstance(old.features, FolderAffinity)
    assert old.features.seldom_of == "folder"
    assert np.array_equal(old.coef_, ranker.coef_)


def test_learns_to_file_messages() -> None:
    ranker = SharedLabelRanker(update="max")
    right = 0
    for i, (words, folders) in enumerate(stream(600, seed=1)):
        x = (words, np.ones(len(words)))
        if i >= 300:
            right += ranker.rank_one(x, 1)[0] in folders
        ranker.learn_one(x, folders)
    assert right / 300 > 0.7  # chance level: one in six


def test_a_new_folder_benefits_from_the_others() -> None:
    ranker = SharedLabelRanker(update="simproj")
    for words, folders in stream(400, seed=2):
        ranker.learn_one((words, np.ones(len(words))), folders)
    words = np.array([0, 6, 12, 18])  # one informative word of each other folder
    # In the first round the folder is still empty, so only the other folders' scores change.
    for _ in range(2):
        ranker.learn_one((words, np.ones(4)), ["fresh"])
    assert ranker.rank_one((words, np.ones(4)), 1) == ["fresh"]


def test_the_value_of_a_word_does_not_matter() -> None:
    once, often = SharedLabelRanker(), SharedLabelRanker()
    for words, folders in stream(40):
        once.learn_one((words, np.ones(len(words))), folders)
        often.learn_one((words, np.full(len(words), 7.5)), folders)
    assert np.array_equal(once.coef_, often.coef_)


def test_tagger_and_files(tmp_path: Path) -> None:
    tagger = Tagger(SharedLabelRanker(features=FolderAffinity(often=0.3), update="max"))
    for i in range(30):
        tagger.learn(f"invoice payment number{i}", ["money"])
        tagger.learn(f"flight hotel number{i}", ["travel"])
    assert tagger.suggest("payment of the invoice", k=1)[0].label == "money"
    found = tagger.explain("payment of the invoice", "money")
    assert found.total == pytest.approx(found.score, abs=1e-6)
    assert {name for name, _ in found.speaks_for} <= {"invoice", "payment"}
    tagger.save(tmp_path / "model")
    loaded = tagalong.load(tmp_path / "model")
    assert loaded.learner.features.often == 0.3
    for text in ("hotel", "invoice", "number3"):
        assert loaded.suggest(text) == tagger.suggest(text)
    loaded.learn("hotel bill", ["travel", "money"])
    tagger.learn("hotel bill", ["travel", "money"])
    assert loaded.suggest("bill") == tagger.suggest("bill")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"features": 3}, "features must be a FolderAffinity, an object with rows"),
        (
            {"features": FolderAffinity(seldom_of="mail")},
            "seldom_of must be one of 'folder', 'all'",
        ),
        ({"features": FolderAffinity(often=0.01)}, "0 <= seldom <= often <= 1, got 0.02 and 0.01"),
        ({"features": FolderAffinity(common=float("nan"))}, "common must be a finite number"),
        ({"update": "single"}, "update must be one of 'simperc'"),
        ({"update": "simopt", "geometry": "entropic"}, "'simopt' does not exist"),
        ({"geometry": "adaptive"}, "geometry must be one of 'euclidean', 'entropic'"),
        ({"C": 0}, "C must be positive"),
    ],
)
def test_invalid_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SharedLabelRanker(**params).learn_one(([1], [1.0]), ["a"])


@pytest.mark.parametrize("geometry", ["euclidean", "entropic"])
def test_labels_can_be_forgotten_and_merged(geometry: str) -> None:
    tagger = Tagger(SharedLabelRanker(geometry=geometry, update="max"))
    for i in range(30):
        tagger.learn(f"invoice payment number{i}", ["money"])
        tagger.learn(f"flight hotel number{i}", ["travel"])
        tagger.learn(f"mother birthday number{i}", ["family"])
    before = {s.label: s.score for s in tagger.suggest("invoice flight birthday", k=None)}
    tagger.forget_label("travel")
    after = {s.label: s.score for s in tagger.suggest("invoice flight birthday", k=None)}
    assert after == {label: before[label] for label in ("money", "family")}
    assert "'travel' was forgotten" in str(tagger.certificate_)
    tagger.merge_labels(["money", "family"], into="home")
    assert tagger.labels == ["home"]
    assert native_of(tagger.learner).state()["arrays"]["messages"].tolist() == [60]
    tagger.learn("invoice again", ["home", "new"])
    assert tagger.certificate_.rounds == 1


def test_weights_can_be_pruned() -> None:
    tagger = Tagger(SharedLabelRanker(update="max"))
    for i in range(30):
        tagger.learn(f"invoice number{i}", ["money"])
        tagger.learn(f"flight number{i}", ["travel"])
    assert isinstance(tagger.learner, SharedLabelRanker)
    before = tagger.learner.coef_
    assert tagger.prune(features=2).features == 2
    after = tagger.learner.coef_
    kept = np.flatnonzero(after)
    assert len(kept) == 2
    assert np.array_equal(after[kept], before[kept])
    dropped = np.setdiff1d(np.flatnonzero(before), kept)
    assert np.abs(before[kept]).min() >= np.abs(before[dropped]).max()


@pytest.mark.parametrize("values", [{"common": 1e300}, {"rare": -1e10}])
def test_values_that_would_overflow_are_refused(values: dict[str, Any]) -> None:
    ranker = SharedLabelRanker(FolderAffinity(**values))
    with pytest.raises(ValueError, match=f"{next(iter(values))} must be at most 1e\\+09"):
        ranker.partial_fit(np.eye(3), [[0], [1], [2]])
