import os
import platform
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import scipy.sparse as sp

import tagalong
from tagalong import LabelRanker, Tagger, mix
from tagalong.distributed import learn
from tagalong.distributed.workers import local_workers
from tagalong.features import TextFeatures
from tagalong.readers import ReadError, write
from tagalong.streams.format import OptionError
from tests.distributed.shard_functions import KillsOnce, some_items
from tests.online.streams import Item, minimum_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = (X[:, :3] > 0.3).astype(int)
SHARDS = [(X[k:240:3], Y[k:240:3]) for k in range(3)]
HELD_OUT = (X[240:], Y[240:])


def by_hand(epochs, start=None):
    """Learn and mix without workers."""
    model = start
    for epoch in range(epochs):
        rankers = []
        for rows, targets in SHARDS:
            ranker = LabelRanker(race=None)
            if model is not None:
                ranker = LabelRanker.from_parts(*model.to_parts())
            rankers.append(ranker.partial_fit(rows, targets, judged=epoch == 0))
        model = mix(rankers, base=model)
    return model


def test_every_client_gives_the_same_bits(client):
    found = learn(LabelRanker(race=None), SHARDS, client, epochs=3)
    assert tagalong.model_hash(found.model) == tagalong.model_hash(by_hand(3))
    assert [epoch.items for epoch in found.epochs] == [240] * 3


def test_report_and_held_out_part(threads):
    ranker = LabelRanker(race=None)
    found = learn(ranker, [(sp.csr_array(x), y) for x, y in SHARDS], threads, 2, held_out=HELD_OUT)
    assert not ranker.is_started
    assert (found.epochs[0].held_out or 0) > 0.9
    assert found.epochs[1].dual > found.epochs[0].dual
    assert 0.7 < found.epochs[0].average_precision < 1
    assert found.model.certificate_.rounds == 2 * 240 + 60
    assert np.isfinite(found.model.cutoff_)
    last = by_hand(2)
    assert found.epochs[1].dual == last.certificate_.dual
    assert found.epochs[1].held_out == pytest.approx(last.score(*HELD_OUT))
    assert "held out" in str(found)
    assert len(str(found).splitlines()) == 3


@pytest.mark.parametrize("geometry", ["euclidean", "adaptive"])
@pytest.mark.parametrize("how", ["average", "sum"])
def test_dual_value_of_several_epochs_is_a_lower_bound(threads, geometry, how):
    """Over the rounds of all epochs; every epoch counts as new rounds."""
    rows, targets = X[:12], Y[:12]
    shards = [(rows[k::3], targets[k::3]) for k in range(3)]
    ranker = LabelRanker(race=None, dtype="float64", constant=0.5, geometry=geometry, C=1.0)
    model = learn(ranker, shards, threads, epochs=3, how=how).model
    items = [
        Item(x, np.flatnonzero(y).tolist(), [], 1.0) for x, y in zip(rows, targets, strict=True)
    ]
    minimum = minimum_for(model, items * 3, 3)
    assert model.certificate_.rounds == 36
    assert 0 < model.certificate_.dual <= minimum + 1e-5 * (1 + minimum)


def test_a_model_goes_on_learning_in_shards(threads):
    start = LabelRanker(race=None).partial_fit(*HELD_OUT)
    before = tagalong.model_hash(start)
    found = learn(start, SHARDS, threads)
    assert tagalong.model_hash(start) == before
    assert tagalong.model_hash(found.model) == tagalong.model_hash(by_hand(1, start))
    assert found.model.certificate_.rounds == 300


@pytest.mark.parametrize("how", ["average", "sum"])
def test_a_model_whose_certificate_started_anew_counts_once(threads, how):
    """All shards start from the model, whose earlier rounds are those before a restart."""
    start = Tagger(LabelRanker(race=None)).add_labels(["late"])
    for item in some_items() * 2:
        start.learn(item)
    start.forget_label("late")
    assert start.certificate_.rounds == 0
    found = learn(start, [some_items(), some_items()], threads, how=how).model
    assert found.history.items == 12
    assert dict(zip(found.labels, found.history.count.tolist(), strict=True)) == {
        "money": 8,
        "travel": 4,
    }
    assert found.features.to_parts()[0]["numbers"]["items"] == 12
    copies = [Tagger.from_parts(*start.to_parts()) for _ in range(2)]
    for copy in copies:
        for item in some_items():
            copy.learn(item)
    assert found.model_hash() == mix(copies, how, base=start).model_hash()


def test_features_that_have_seen_items_count_once(threads):
    start = Tagger(LabelRanker(race=None), TextFeatures(weighting="tfidf"))
    start.features.partial_fit(["the bank", "the flight"])
    found = learn(start, [some_items(), some_items()], threads).model
    assert found.features.to_parts()[0]["numbers"]["items"] == 2 + 6


def test_a_race_that_has_learnt_and_forgotten_is_refused(threads):
    race = LabelRanker().add_labels(["a", "b", "c", "late"])
    race.partial_fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    race.forget_labels(["late"])
    with pytest.raises(ValueError, match="race of learners that has learnt already"):
        learn(race, SHARDS, threads)


def test_iterators_are_refused(threads):
    with pytest.raises(ValueError, match=r"shard 1 is an iterator \(generator\).*a function"):
        learn(tagger(), [some_items(), (one for one in some_items())], threads)
    with pytest.raises(ValueError, match="held_out is an iterator"):
        learn(tagger(), [some_items()], threads, epochs=2, held_out=iter(some_items()))


def test_held_out_items_are_read_in_parts(threads, monkeypatch):
    calls: list[int] = []
    real = Tagger.suggest_many

    def counted(self, items, k):
        calls.append(len(items))
        return real(self, items, k)

    monkeypatch.setattr(Tagger, "suggest_many", counted)
    found = learn(tagger(), [some_items()], threads, held_out=some_items() * 300)
    assert sum(calls) == 900
    assert max(calls) <= 256
    assert found.epochs[0].held_out == 1
    with pytest.raises(ValueError, match="held_out has no items with labels"):
        learn(tagger(), [some_items()], threads, held_out=[])


def test_rows_in_lists(threads):
    lists = [(X[k:240:3].tolist(), Y[k:240:3]) for k in range(3)]
    found = learn(LabelRanker(race=None), lists, threads).model
    assert tagalong.model_hash(found) == tagalong.model_hash(by_hand(1))
    with pytest.raises(ValueError, match=r"X of a shard \(X, Y\) must be a matrix"):
        learn(LabelRanker(race=None), [([[1.0, 2.0], [3.0]], Y[:2])], threads)
    with pytest.raises(ValueError, match="must be a matrix, with rows and columns, got str"):
        learn(LabelRanker(race=None), [("items.jsonl", Y)], threads)


def test_paths_are_those_of_the_caller(tmp_path, monkeypatch):
    """A worker has another working directory."""
    write(some_items(), tmp_path / "items.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with ProcessPoolExecutor(1, get_context("spawn"), os.chdir, (str(elsewhere),)) as client:
        monkeypatch.chdir(tmp_path)
        found = learn(tagger(), ["items.jsonl"], client)
        assert found.epochs[0].items == 3
        place = rf"/nowhere\.jsonl: .* \(shard 1, on {platform.node()}\)"
        with pytest.raises(ReadError, match=place):
            learn(tagger(), ["items.jsonl", "nowhere.jsonl"], client)
        with pytest.raises(OptionError, match="standard input: workers cannot share a pipe"):
            learn(tagger(), ["-"], client)


def test_dask_arrays_that_do_not_fit_are_refused(threads, dask_client):
    da = pytest.importorskip("dask.array")
    bag = pytest.importorskip("dask.bag").from_sequence(some_items(), npartitions=1)
    rows, targets = da.from_array(X[:240], (80, 2)), da.from_array(Y[:240], (60, 3))
    ranker = LabelRanker(race=None)
    for client, given in ((threads, (rows, targets)), (threads, bag)):
        with pytest.raises(TypeError, match=r"so client must be a dask\.distributed\.Client"):
            learn(ranker, given, client)
    unknown = rows[rows[:, 0] > -9]
    for given, kind, message in (
        ((rows, targets[:200]), ValueError, "X has 240 rows but Y has 200"),
        ((unknown, targets), ValueError, r"Y has 4 blocks of rows but X has 3.*compute_chunk_s"),
        ((rows, Y[:240]), TypeError, "X is a Dask array, so Y must be one, too"),
        ((X[:240], targets), TypeError, "Y is a Dask array, so X must be one, too"),
        (rows, TypeError, r"a pair \(X, Y\) of Dask arrays, got one array"),
    ):
        with pytest.raises(kind, match=message):
            learn(ranker, given, dask_client)
    found = learn(ranker, (unknown, targets.rechunk((80, 3))), dask_client)
    assert found.epochs[0].items == 240


def test_a_race_is_replaced_by_one_learner(threads):
    with pytest.warns(UserWarning, match="race=None"):
        found = learn(LabelRanker(), SHARDS, threads)
    assert found.model.race is None
    with pytest.warns(UserWarning, match="race=None"):
        tagger = learn(Tagger().add_labels(["money", "travel"]), [some_items()], threads).model
    assert tagger.labels == ["money", "travel"]
    with pytest.raises(ValueError, match="race of learners that has learnt already"):
        learn(LabelRanker().partial_fit(X, Y), SHARDS, threads)


def tagger():
    return Tagger(LabelRanker(race=None))


def test_files_items_and_functions_are_shards(client, tmp_path):
    write(some_items(), tmp_path / "items.jsonl")
    shards = [str(tmp_path / "items.jsonl"), some_items(), some_items]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = learn(tagger(), shards, client, epochs=2, held_out=some_items())
    assert found.epochs[1].items == 9
    assert found.epochs[1].held_out == 1
    assert found.model.suggest("invoice", k=1)[0].label == "money"
    assert found.model.history.items == 9 + 3
    again = learn(tagger(), [some_items()] * 3, client, epochs=2, held_out=some_items())
    assert again.model.model_hash() == found.model.model_hash()


def test_killed_processes_change_nothing(tmp_path):
    shards = [KillsOnce(tmp_path / f"{number}") for number in range(3)]
    with local_workers(2) as workers:
        found = learn(tagger(), shards, workers, epochs=2)
    with ThreadPoolExecutor(1) as client:
        calm = learn(tagger(), [some_items] * 3, client, epochs=2)
    assert found.model.model_hash() == calm.model.model_hash()
    assert len(list(tmp_path.iterdir())) == 3


def test_dask_collections_are_shards(dask_client):
    bag = pytest.importorskip("dask.bag").from_sequence(some_items() * 4, npartitions=4)
    found = learn(tagger(), bag, dask_client)
    assert found.epochs[0].items == 12
    array = pytest.importorskip("dask.array")
    arrays = array.from_array(X[:240], (80, 2)), array.from_array(Y[:240], (60, 3))
    of_arrays = learn(LabelRanker(race=None), arrays, dask_client).model
    pairs = [(X[n : n + 80], Y[n : n + 80]) for n in (0, 80, 160)]
    with ThreadPoolExecutor(1) as client:
        of_pairs = learn(LabelRanker(race=None), pairs, client).model
    assert tagalong.model_hash(of_arrays) == tagalong.model_hash(of_pairs)


def test_what_cannot_be_learnt_is_refused(threads):
    ranker = LabelRanker(race=None)
    with pytest.raises(ValueError, match=r"files and items need a tagger: .* got str"):
        learn(ranker, ["items.jsonl"], threads)
    with pytest.raises(ValueError, match="element 0 is int"):
        learn(tagger(), [[1]], threads)
    with pytest.raises(ValueError, match="shard 1 has no items with labels"):
        learn(tagger(), [some_items(), []], threads)
    with pytest.raises(ValueError, match="at least one model"):
        learn(ranker, [], threads)
    with pytest.raises(ValueError, match="one factor per model, 3, got 2"):
        learn(ranker, SHARDS, threads, how=[0.5, 0.5])
    with pytest.raises(ValueError, match="epochs"):
        learn(ranker, SHARDS, threads, epochs=0)
    with pytest.raises(ValueError, match="geometry='entropic' cannot be mixed"):
        learn(LabelRanker(race=None, geometry="entropic"), SHARDS, threads)
    with pytest.raises(ValueError, match="by a LabelRanker, or a Tagger with one"):
        learn(Tagger(tagalong.PartialFeedbackRanker()), SHARDS, threads)
