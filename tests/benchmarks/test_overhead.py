"""The parts of a call from Python: they add up, and both learners stay equal."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import ours, overhead, single_peers, streams
from benchmarks.markdown import parse_tables


@pytest.fixture
def stream() -> streams.Stream:
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(240, 50, density=0.1, random_state=1, dtype=np.float32))
    Y = sp.csr_matrix((rng.random((240, 8)) < 0.3).astype(np.int8))
    return streams.Stream("synthetic", X, Y, [f"label {place}" for place in range(8)])


@pytest.mark.parametrize("named", [False, True])
def test_every_batch_is_split_into_parts(stream, named):
    found = overhead.measure(ours.DEFAULT, stream, named, size=50)
    assert {call: len(parts) for call, parts in found.items()} == {"learn_one": 3, "rank_one": 3}
    for parts in found["learn_one"] + found["rank_one"]:
        assert parts.whole > 0
        sum_of_parts = parts.binding + parts.conversion + parts.kernel + parts.rest
        assert sum_of_parts == pytest.approx(parts.whole)


def test_different_weights_are_reported(stream, monkeypatch):
    def learn_twin_only(ranker, twin, empty, batch):
        twin.learn_one(batch.examples[0], batch.labels[0])
        return overhead.Parts(1.0, 0.0, 0.0, 0.0)

    monkeypatch.setattr(overhead, "learning", learn_twin_only)
    with pytest.raises(AssertionError, match="gave different weights"):
        overhead.measure(ours.DEFAULT, stream, False, size=50)


def test_a_row_for_each_learner_call_and_form(stream, monkeypatch, capsys):
    monkeypatch.setattr(streams, "load", lambda name: stream)

    def absent(stream, count):
        raise ImportError("No module named 'river'")

    monkeypatch.setitem(single_peers.PEERS, "River", absent)
    assert overhead.main(["--batch", "60", "--peer-rows", "5", "--texts", "60"]) == 0
    out = capsys.readouterr().out
    rows, conversions, suggestions = parse_tables(out)
    assert [each["call"].split(",")[0] for each in rows[2 * 2 * 2 :]] == ["scikit-learn"] * 2
    assert "River is left out: No module named 'river'" in out
    assert [each["how"] for each in conversions] == ["each entry", "one native pass"]
    assert suggestions[0]["times as fast"] == "1.00"
    assert set(rows[0]) == {
        "call", "total, best", "median", "binding", "conversion", "kernel", "rest",
    }  # fmt: skip


def test_a_missing_stream_is_reported(monkeypatch, capsys):
    def missing(name):
        raise streams.NoData("there is no debtags.npz")

    monkeypatch.setattr(streams, "load", missing)
    assert overhead.main([]) == 2
    assert "there is no debtags.npz" in capsys.readouterr().err
