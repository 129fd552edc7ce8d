"""Average precision of streams learnt in shards, on Debian tags."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.streams import NoData, load
from tagalong import LabelRanker
from tagalong.distributed import learn
from tagalong.evaluate import frozen

EPOCHS = 2


@pytest.mark.long
@pytest.mark.parametrize(("shards", "factor", "most_lost"), [(2, 1 / 2, 0.003), (8, 0.35, 0.01)])
def test_shards_rank_almost_as_one_learner(shards, factor, most_lost):
    try:
        stream = load("debtags")
    except NoData as error:
        pytest.skip(str(error))
    learnt = int(0.8 * stream.rows)
    X, Y = stream.X, stream.Y
    held_out = X[learnt:], Y[learnt:]
    one = LabelRanker(race=None)
    for _ in range(EPOCHS):
        one.partial_fit(X[:learnt], Y[:learnt])
    parts = [(X[k:learnt:shards], Y[k:learnt:shards]) for k in range(shards)]
    with ThreadPoolExecutor(1) as client:
        found = learn(LabelRanker(race=None), parts, client, EPOCHS, [factor] * shards, held_out)
    reached = found.epochs[-1].held_out
    assert reached is not None
    assert reached >= frozen(one, *held_out).overall.average_precision - most_lost
