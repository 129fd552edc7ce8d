"""The quick form of the online benchmark, on a generated stream."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import ours, peers, run, streams

pytest.importorskip("tagalong")


@pytest.fixture
def stream() -> streams.Stream:
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(400, 60, density=0.1, random_state=1, dtype=np.float32))
    X.data[:] = 1.0
    scores = X @ rng.normal(size=(60, 12)) + 0.1 * rng.normal(size=(400, 12))
    Y = sp.csr_matrix((scores > 1.0).astype(np.int8))
    return streams.Stream("synthetic", X, Y, [f"label {place}" for place in range(12)])


def test_quick_form(stream, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(streams, "load", lambda name: stream)
    out = tmp_path / "found" / "results.md"
    assert run.main(["--quick", "--peers", "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert page.strip() == capsys.readouterr().out.strip()
    found = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in found["entries"]] == list(ours.SETTINGS)
    assert [entry["failure"] for entry in found["entries"]] == [""] * len(ours.SETTINGS)
    assert set(found["rank_one"]) == set(ours.RANK_ONE)
    assert all(entry["measures"]["average_precision"] > 0.3 for entry in found["entries"])


def test_a_peer_that_is_not_installed_is_reported(stream, monkeypatch):
    def absent(stream):
        raise ImportError("No module named 'vowpalwabbit'")

    monkeypatch.setattr(peers, "vowpal_wabbit", absent)
    found, entries = peers.contestants(stream, ["vw"], quick=True)
    assert found == []
    assert entries[0].failure == "not installed: No module named 'vowpalwabbit'"


def test_scikit_learn_as_a_peer(stream):
    found, absent = peers.contestants(stream, ["sklearn"], quick=True)
    assert not absent
    assert found[1].time() > 0
    assert found[1].measure().average_precision > 0.3
