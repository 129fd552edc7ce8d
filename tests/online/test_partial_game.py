"""The choice of the list to show: optimality by brute force, slots, ties, exploration limit."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import PartialFeedbackRanker
from tagalong.evaluate import best_list, expected_loss, list_losses
from tests.online.partial_streams import true_stream

likely = st.lists(st.integers(0, 16).map(lambda n: n / 16), min_size=1, max_size=6)
weights = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
costs = st.sampled_from(["decreasing", "constant"])


def all_lists(labels: int, most: int) -> list[tuple[int, ...]]:
    return [order for size in range(most + 1) for order in permutations(range(labels), size)]


def loss_of(order: tuple[int, ...], y: tuple[int, ...], a: float, cost: str) -> float:
    size = len(order)
    missed = sum(y) - sum(y[label] for label in order)
    wrong = sum(
        (size - place) / size if cost == "decreasing" else 1.0
        for place, label in enumerate(order)
        if not y[label]
    )
    return a * missed + (1 - a) * wrong


@given(likely, weights, costs, st.integers(1, 6))
@settings(max_examples=40)
def test_no_list_has_a_lower_expected_cost(p: list[float], a: float, cost: str, most: int) -> None:
    """Lemma 1, over all lists and outcomes; labels need not be independent."""
    outcomes = list(product((0, 1), repeat=len(p)))
    chances = [
        np.prod([q if yes else 1 - q for q, yes in zip(p, y, strict=True)]) for y in outcomes
    ]

    def expected(order: tuple[int, ...]) -> float:
        losses = [loss_of(order, y, a, cost) for y in outcomes]
        return float(np.dot(losses, chances))

    chosen = best_list(p, miss_weight=a, slot_cost=cost, max_labels=most)
    least = expected(tuple(chosen))
    assert least == pytest.approx(expected_loss(chosen, p, miss_weight=a, slot_cost=cost))
    found = all_lists(len(p), min(most, len(p)))
    # All lists are compared by the closed form; a sample of them by all outcomes.
    for order in found[:: max(1, len(found) // 200)]:
        value = expected_loss(list(order), p, miss_weight=a, slot_cost=cost)
        assert expected(order) == pytest.approx(value)
    for order in found:
        assert least <= expected_loss(list(order), p, miss_weight=a, slot_cost=cost) + 1e-12


@given(
    st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=2, max_size=5), st.integers(1, 4)
)
@settings(max_examples=25)
def test_in_ranking_mode_no_list_has_a_smaller_partial_rank_loss(p: list[float], most: int) -> None:
    """Lemma 4, for independent labels: exactly S labels, likeliest first."""
    labels = len(p)
    slots = min(most, labels)
    outcomes = list(product((0, 1), repeat=labels))
    chances = [
        np.prod([q if yes else 1 - q for q, yes in zip(p, y, strict=True)]) for y in outcomes
    ]

    def expected(order: tuple[int, ...]) -> float:
        # Labels that are not in the list share the last rank.
        total = 0.0
        for y, chance in zip(outcomes, chances, strict=True):
            pairs = sum(
                not y[first] and y[second]
                for i, first in enumerate(order)
                for second in order[i + 1 :]
            )
            total += float(chance) * (pairs + slots * (sum(y) - sum(y[label] for label in order)))
        return float(total)

    chosen = best_list(p, miss_weight=1.0, slot_cost="decreasing", max_labels=most)
    assert len(chosen) == slots
    least = expected(tuple(chosen))
    for order in all_lists(labels, slots):
        assert least <= expected(order) + 1e-12


@given(st.data())
@settings(max_examples=60)
def test_losses_match_their_definitions(data: st.DataObject) -> None:
    labels = data.draw(st.integers(1, 6))
    y = data.draw(st.tuples(*[st.sampled_from([0, 1])] * labels))
    order = data.draw(st.permutations(range(labels)))[: data.draw(st.integers(0, labels))]
    a, cost = data.draw(weights), data.draw(costs)
    relevant = [label for label in range(labels) if y[label]]
    slots, partial = list_losses([order], [relevant], miss_weight=a, slot_cost=cost, slots=labels)
    assert slots[0] == pytest.approx(loss_of(tuple(order), y, a, cost))
    pairs = sum(
        not y[first] and y[second] for i, first in enumerate(order) for second in order[i + 1 :]
    )
    assert partial[0] == pairs + labels * len(set(relevant).difference(order))


def test_labels_of_unknown_relevance_cost_nothing() -> None:
    slots, partial = list_losses(
        [[0, 1, 2]], [[2]], unknown=[[1]], miss_weight=0.5, slot_cost="constant", slots=3
    )
    assert (slots[0], partial[0]) == (0.5, 1.0)


def test_the_smallest_of_equally_good_lists_is_shown() -> None:
    assert best_list([0.5, 0.5], miss_weight=0.5, slot_cost="constant") == []
    assert best_list([0.5, 0.25], miss_weight=0.5, slot_cost="constant") == []


def test_ranking_mode_fills_every_slot() -> None:
    assert best_list([0.0, 0.0, 0.0], miss_weight=1.0, max_labels=2) == [0, 1]
    assert best_list([0.0, 0.5], miss_weight=1.0, slot_cost="constant") == [1]


@pytest.mark.parametrize("name", ["table", "square table", "function"])
def test_custom_costs(name: str) -> None:
    """Named costs, as functions or tables, give the same bits."""
    rows = [[(size - i) / size for i in range(size)] for size in range(1, 5)]
    given_costs: dict[str, Any] = {
        "table": rows,
        "square table": np.array([row + [9.0] * (4 - len(row)) for row in rows]),
        "function": lambda place, size: (size - place + 1) / size,
    }
    stream = true_stream(4, 80, 4, 7)
    named = PartialFeedbackRanker(max_labels=4, exploration=0.1)
    ours = PartialFeedbackRanker(slot_cost=given_costs[name], max_labels=4, exploration=0.1)
    expected, found = named.play(stream.X, stream.Y), ours.play(stream.X, stream.Y)
    assert found.shown == expected.shown
    assert found.losses.tobytes() == expected.losses.tobytes()


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[1.0], [0.5, 0.6]], "slot 2 of 2 costs 0.6, and the slot before it 0.5"),
        ([[1.5]], "slot 1 of 1 costs 1.5; costs must be from 0 to 1"),
        ([[1.0], [-0.5, -0.6]], "slot 1 of 2 costs -0.5"),
        ([[1.0], [0.5]], "a row of s costs for each size"),
        ([], "a row of s costs for each size"),
        (3.0, "a row of s costs for each size"),
        ("rising", "slot_cost must be one of 'decreasing', 'constant'"),
        ([[float("nan")]], "must be a finite number"),
        (lambda slot, size: slot / size, "slot 2 of 2 costs 1, and the slot before it 0.5"),
    ],
)
def test_invalid_costs_raise(costs: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PartialFeedbackRanker(slot_cost=costs, max_labels=2).add_labels(["a", "b"])


def test_a_cost_function_needs_max_labels() -> None:
    with pytest.raises(ValueError, match="slot_cost is a function, which needs max_labels"):
        PartialFeedbackRanker(slot_cost=lambda slot, size: 1.0).add_labels(["a", "b"])
    with pytest.raises(ValueError, match="lists of up to 1 labels, but max_labels is 2"):
        PartialFeedbackRanker(slot_cost=[[1.0]], max_labels=2).add_labels(["a", "b"])
    ranker = PartialFeedbackRanker(slot_cost=[[1.0]]).add_labels(["a", "b"])
    with pytest.raises(ValueError, match="lists of up to 1 labels, but max_labels is 2"):
        ranker.suggest([[1.0]], max_labels=2)
    assert len(ranker.suggest([[1.0]])[0]) == 1


@pytest.mark.parametrize("norm_bound", [None, 1.0])
def test_ties_by_width_show_every_label_early(norm_bound: float | None) -> None:
    stream = true_stream(7, 400, 5, 30)
    by_width = PartialFeedbackRanker(max_labels=3, norm_bound=norm_bound)
    seen = {label for row in by_width.play(stream.X[:40], stream.Y[:40]).shown for label in row}
    assert seen == set(range(30))
    by_index = PartialFeedbackRanker(max_labels=3, norm_bound=norm_bound, ties="index")
    seen = {label for row in by_index.play(stream.X, stream.Y).shown for label in row}
    assert len(seen) < 10


def test_ties_by_index_show_labels_in_the_order_of_their_numbers() -> None:
    for ties in ("width", "index"):
        ranker = PartialFeedbackRanker(ties=ties, max_labels=3).add_labels(list("edcba"))
        assert ranker.suggest([[1.0, 2.0]])[0].labels == ["e", "d", "c"]


@pytest.mark.parametrize("budget", [0, 1, 2])
@pytest.mark.parametrize("a", [0.3, 1.0])
def test_max_explore_limits_exploration(budget: int, a: float) -> None:
    stream = true_stream(9, 150, 6, 12)
    ranker = PartialFeedbackRanker(miss_weight=a, max_labels=4, max_explore=budget)
    ranker.fit(stream.X[:100], stream.Y[:100])
    free = PartialFeedbackRanker(miss_weight=a, max_labels=4).fit(stream.X[:100], stream.Y[:100])
    most = 0
    for row in stream.X[100:]:
        (offer,), (unlimited,) = ranker.suggest(row[None]), free.suggest(row[None])
        plain = ranker.predict(row[None])[0]
        assert offer.explores.tolist() == [not plain[label] for label in offer.labels]
        assert offer.explores.sum() <= budget
        if a == 1.0:
            assert len(offer) == 4
        most = max(most, int(unlimited.explores.sum()))
    assert most > budget  # without the limit, more labels are shown to explore


def test_greedy_lists_do_not_explore() -> None:
    stream = true_stream(10, 120, 6, 8)
    ranker = PartialFeedbackRanker(exploration=0.0, max_labels=3).fit(stream.X, stream.Y)
    offers = ranker.suggest(stream.X)
    assert not any(offer.explores.any() for offer in offers)
    predicted = ranker.predict(stream.X)
    assert [sorted(offer.labels) for offer in offers] == [
        np.flatnonzero(row).tolist() for row in predicted
    ]


def test_max_labels_of_a_call() -> None:
    stream = true_stream(6, 20, 4, 8)
    ranker = PartialFeedbackRanker(miss_weight=1.0, max_labels=3)
    assert {len(row) for row in ranker.play(stream.X, stream.Y).shown} == {3}
    assert {len(row) for row in ranker.play(stream.X, stream.Y, max_labels=5).shown} == {5}
    assert {len(row) for row in ranker.suggest(stream.X, max_labels=1)} == {1}
    assert {len(row) for row in ranker.suggest(stream.X)} == {3}
    everything = PartialFeedbackRanker(miss_weight=1.0).fit(stream.X, stream.Y)
    assert {len(row) for row in everything.suggest(stream.X)} == {8}


def test_every_round_may_have_its_own_number_of_slots() -> None:
    """`play` with one number per row equals one call per row."""
    stream = true_stream(7, 60, 4, 8)
    slots = np.random.default_rng(0).integers(1, 11, 60)
    whole = PartialFeedbackRanker(miss_weight=1.0).add_labels(range(8))
    single = PartialFeedbackRanker(miss_weight=1.0).add_labels(range(8))
    played = whole.play(stream.X, stream.Y, max_labels=slots)
    rounds = [
        single.play(stream.X[t : t + 1], stream.Y[t : t + 1], max_labels=int(slots[t]))
        for t in range(60)
    ]
    assert [len(row) for row in played.shown] == np.minimum(slots, 8).tolist()
    assert played.shown == [one.shown[0] for one in rounds]
    for name in ("losses", "partial_rank_losses"):
        np.testing.assert_array_equal(
            getattr(played, name), [getattr(one, name)[0] for one in rounds]
        )
    assert whole.certificate_ == single.certificate_
    lists = whole.suggest(stream.X, max_labels=slots.tolist())
    assert [len(row) for row in lists] == np.minimum(slots, 8).tolist()
    expected = [whole.suggest(stream.X[t : t + 1], int(slots[t]))[0].labels for t in range(60)]
    assert [row.labels for row in lists] == expected
    assert len(whole.suggest_one(([0], [1.0]), max_labels=2)) == 2


@pytest.mark.parametrize(
    ("max_labels", "message"),
    [
        ([1, 2], "X has 3 rows but max_labels has 2"),
        ([1, 0, 2], "max_labels: row 1 is 0; it must be at least 1"),
        ([1.0, 2.0, 3.0], "max_labels must be an integer, or one integer per row"),
        ([[1, 2, 3]], "max_labels must be an integer, or one integer per row"),
        (0, "max_labels must be at least 1, got 0"),
        (["a", "b", "c"], "max_labels must be an integer, or one integer per row"),
        ([1, 2, 4], "costs for lists of up to 3 labels, but max_labels is 4"),
    ],
)
def test_invalid_numbers_of_slots_raise(max_labels: Any, message: str) -> None:
    stream = true_stream(8, 3, 4, 8)
    costs = [[1.0], [1.0, 0.5], [1.0, 0.5, 0.2]]
    ranker = PartialFeedbackRanker(slot_cost=costs)
    with pytest.raises(ValueError, match=message):
        ranker.play(stream.X, stream.Y, max_labels=max_labels)
    assert not ranker.is_started
    ranker.fit(stream.X, stream.Y)
    with pytest.raises(ValueError, match=message):
        ranker.suggest(stream.X, max_labels=max_labels)
    assert ranker.certificate_.rounds == 3
