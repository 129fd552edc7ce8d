import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import tagalong
from tagalong import LabelRanker, Tagger, mix
from tagalong.distributed import learn
from tagalong.distributed.workers import local_workers
from tagalong.readers import write
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
