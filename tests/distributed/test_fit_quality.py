"""Rounds that batch training by rows needs, on real data: `python -m benchmarks.m3l_rows`."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from sklearn.preprocessing import normalize

from benchmarks.streams import NoData, load
from tagalong import M3LClassifier
from tagalong.distributed import fit


def long(*arguments):
    return pytest.param(*arguments, marks=pytest.mark.long)


# A tenth more than the rounds that were measured, for other orders of adding up.
@pytest.mark.parametrize(
    ("name", "rows", "shards", "most_rounds"),
    [
        ("rcv1", 400, 2, 22),
        ("rcv1", 400, 8, 60),
        long("rcv1", 6000, 2, 59),
        long("rcv1", 6000, 4, 92),
        long("rcv1", 6000, 8, 134),
        long("debtags", 30_290, 2, 76),
        long("debtags", 30_290, 4, 176),
        long("debtags", 30_290, 8, 315),
    ],
)
def test_the_gap_is_a_hundredth_after_so_many_rounds(name, rows, shards, most_rounds):
    try:
        stream = load(name)
    except NoData as error:
        pytest.skip(str(error))
    X, Y = normalize(stream.X)[:rows], stream.Y[:rows]
    model = M3LClassifier(random_state=0, tol=1e-2)
    with ThreadPoolExecutor(2) as client:
        fit(model, X, Y, client, by="rows", shards=shards, max_rounds=most_rounds)
    rounds = model.fit_report_.rounds
    assert rounds[-1].relative_gap <= 1e-2
    assert all(before.dual <= after.dual for before, after in pairwise(rounds))
