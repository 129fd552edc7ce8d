"""Suggestions to act on: many at once, sure labels, spot checks, and what counts as evidence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import Item, LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker, Tagger
from tagalong.tagger.audit import Audit

TOPICS = {
    "money": "invoice payment due bank account tax refund",
    "travel": "flight hotel ticket lisbon train passport gate",
    "family": "mother birthday dinner sunday photo cousin cake",
}


def texts(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Texts of some words of a topic and of common words, with the topic."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        topic = str(rng.choice(list(TOPICS)))
        words = [
            *rng.choice(TOPICS[topic].split(), 4),
            *rng.choice(["the", "of", "and", "you", "me"], 3),
        ]
        found.append((" ".join(rng.permutation(words)), topic))
    return found


def taught(count: int = 400, **parameters: Any) -> Tagger:
    tagger = Tagger(**parameters)
    for text, topic in texts(count):
        tagger.learn(text, [topic])
    return tagger


@pytest.mark.parametrize(
    "learner",
    [LabelRanker(), SharedLabelRanker(), Predtron("multiclass"), PartialFeedbackRanker()],
    ids=lambda learner: type(learner).__name__,
)
def test_many_items_give_the_bits_of_single_items(learner: Any) -> None:
    if isinstance(learner, PartialFeedbackRanker):
        learner.covariance = "diagonal"
    tagger = taught(120, learner=learner)
    items: list[Any] = [text for text, _ in texts(40, seed=1)]
    items += ["", "unheard of", Item(text={"subject": "invoice"}), {"invoice": 2.0}]
    for k in (0, 2, None):
        together = tagger.suggest_many(items, k)
        alone = [tagger.suggest(item, k) for item in items]
        assert together == alone
        for one, other in zip(together, alone, strict=True):
            assert (one.whole, one.known, one.in_runs) == (other.whole, other.known, other.in_runs)
            assert one.audited == other.audited
    assert tagger.suggest_many([]) == []


def test_ties_of_many_items_go_to_frequent_then_to_recent_labels() -> None:
    tagger = Tagger().add_labels(["never", "once", "twice"])
    for label in ("once", "twice", "twice"):
        tagger.learn("", [label])
    for k in (1, 2, 3):
        found = tagger.suggest_many(["", "nothing"], k)
        assert [[one.label for one in each] for each in found] == [
            [one.label for one in tagger.suggest("", k)],
            [one.label for one in tagger.suggest("nothing", k)],
        ]


def test_the_default_marks_what_it_knows_well() -> None:
    tagger = taught(400)
    found = tagger.suggest_many([text for text, _ in texts(200, seed=2)])
    right = [each[0].label == topic for each, (_, topic) in zip(found, texts(200, 2), strict=True)]
    sure = [each[0].sure for each in found]
    assert np.mean(sure) > 0.8
    assert np.mean(np.array(right)[sure]) > 0.95
    assert found[0].whole == pytest.approx(found[0][0].probability)
    covered = {one.target: one for one in tagger.coverage()}
    assert covered[0.95].share > 0.5
    assert covered[0.95].precision > 0.94
    assert covered[0.99].share <= covered[0.95].share <= covered[0.9].share


def test_labels_have_targets_of_their_own(tmp_path: Path) -> None:
    tagger = taught(400, min_precision={"money": "never"})
    tagger.set_min_precision("travel", 0.5)
    probes = [text for text, _ in texts(100, seed=3)]
    for each in tagger.suggest_many(probes, k=1, min_precision=1.0):
        if each[0].label == "money":
            assert not each[0].sure
    assert any(
        each[0].sure and each[0].label == "travel"
        for each in tagger.suggest_many(probes, k=1, min_precision=1.0)
    )
    tagger.save(tmp_path / "model.tagalong")
    loaded = tagalong.load(tmp_path / "model.tagalong")
    assert dict(loaded.min_precision) == {"money": "never", "travel": 0.5}
    loaded.rename_label("money", "bills")
    loaded.merge_labels(["travel"], "bills")
    assert dict(loaded.min_precision) == {"bills": "never"}
    loaded.forget_label("bills")
    assert dict(loaded.min_precision) == {}
    with pytest.raises(ValueError, match="there is no label 'unheard of'"):
        loaded.set_min_precision("unheard of", 0.9)
    wrong: Any
    for wrong in (0, 1.5, "always", np.nan):
        with pytest.raises(ValueError, match="min_precision"):
            tagger.set_min_precision("travel", wrong)
    assert tagger.min_precision["travel"] == 0.5


def test_spot_checks_are_a_random_share_that_stays_the_same() -> None:
    audit = Audit(0.1, answers=1000)
    asked = [audit.asks(Item(id=f"mail-{number}")) for number in range(20_000)]
    assert np.mean(asked) == pytest.approx(0.1, abs=0.01)
    assert asked == [Audit(0.1, answers=1000).asks(Item(id=f"mail-{n}")) for n in range(20_000)]
    other = [Audit(0.1, seed=1, answers=1000).asks(Item(id=f"mail-{n}")) for n in range(20_000)]
    assert np.mean(np.logical_and(asked, other)) == pytest.approx(0.01, abs=0.005)
    # Growing shares ask about the same items, and more.
    more = [Audit(0.2, answers=1000).asks(Item(id=f"mail-{number}")) for number in range(20_000)]
    assert all(later for early, later in zip(asked, more, strict=True) if early)
    assert not any(Audit(0).asks(Item(id=f"mail-{number}")) for number in range(100))


def test_more_items_are_checked_until_there_are_200_answers() -> None:
    audit = Audit(0.02)
    assert audit.current_share == 0.1
    for _ in range(200):
        assert audit.items_per_answer == 10.0
        audit.count_answer()
    assert audit.current_share == 0.02
    assert audit.items_per_answer == 10.0  # not 50: a few answers would decide by chance
    assert Audit(0.25, answers=1000).items_per_answer == 4.0


def test_only_sure_items_are_audited_and_suggesting_is_pure() -> None:
    tagger = taught(400, audit=1.0)
    sure, unsure = tagger.suggest(texts(1)[0][0]), tagger.suggest("nothing known here")
    assert sure[0].sure
    assert sure.audited
    assert not unsure[0].sure
    assert not unsure.audited
    assert tagger.suggest(texts(1)[0][0]).audited


def test_whether_an_item_is_audited_depends_on_its_text_however_it_is_given() -> None:
    audit = Audit(0.5, answers=1000)
    given = [f'{number} "é\\ \ud800 \n' for number in range(100)]
    asked = [audit.asks(Item(text=text)) for text in given]
    assert asked == [audit.asks({"text": text, "features": {}}) for text in given]
    assert 0 < sum(asked) < 100


def test_wrong_targets_are_refused() -> None:
    wrong: Any
    for wrong in ([1], "money", 0.9):
        with pytest.raises(ValueError, match="min_precision must map labels"):
            Tagger(min_precision=wrong)
    for wrong in (("x",), (3,), (np.nan,), (0,)):
        with pytest.raises(ValueError, match="targets must be"):
            Tagger().add_labels(["a"]).coverage(wrong)


@pytest.mark.parametrize("audit", [-0.1, 1.5, 0.0001, "often", None])
def test_wrong_shares_are_refused(audit: Any) -> None:
    with pytest.raises(ValueError, match="audit"):
        Tagger(audit=audit)


def confidence(tagger: Tagger) -> bytes:
    return tagger.to_parts()[1]["learner/confidence"].tobytes()


def test_what_was_filed_without_asking_is_no_evidence() -> None:
    tagger = taught(300)
    text, topic = texts(1, seed=5)[0]
    before = confidence(tagger)
    scores = [one.score for one in tagger.suggest(text, k=None)]
    tagger.learn(text, [topic], filed=True)  # it was right
    assert confidence(tagger) == before
    assert [one.score for one in tagger.suggest(text, k=None)] != scores
    assert tagger.label_precision()[topic] == taught(300).label_precision()[topic]
    other = next(each for each in TOPICS if each != topic)
    sure, right = tagger.label_precision()[topic]
    tagger.learn(text, [other], filed=True)  # it was wrong
    # Of the rightly filed items only a tenth is audited: a mistake counts as a tenth, too.
    assert tagger.label_precision()[topic] == pytest.approx((0.999 * sure + 0.1, 0.999 * right))


def test_mistakes_of_filed_items_take_the_mark_from_their_label() -> None:
    tagger = taught(400, audit=0)
    money = [text for text, topic in texts(60, seed=6) if topic == "money"]
    assert any(each[0].sure for each in tagger.suggest_many(money))
    for text in money[:20]:
        tagger.feedback(text, shown=["money"], accepted=[], filed=True)
        tagger.learn(text, ["money"], judged=False)  # keep the ranking as it was
    assert not any(
        one.sure for each in tagger.suggest_many(money) for one in each if one.label == "money"
    )


def test_audited_answers_stand_for_the_items_that_were_not_asked() -> None:
    plain, audited = taught(300), taught(300)
    for text, topic in texts(20, seed=7):
        plain.learn(text, [topic])
        audited.learn(text, [topic], audited=True)
    assert confidence(plain) != confidence(audited)
    assert plain.labels == audited.labels
    first, second = (tagger.to_parts()[1] for tagger in (plain, audited))
    weights = [name for name in first if name.endswith("/theta")]
    assert weights
    assert all(first[name].tobytes() == second[name].tobytes() for name in weights)
    assert audited.to_parts()[0]["audit"]["answers"] == 20


@pytest.mark.parametrize("race", ["auto", None])
def test_none_of_these_changes_no_order_and_counts_as_wrong(race: Any) -> None:
    """One learner does not change its scores; those of a race follow the counts of the words."""
    tagger = taught(300, learner=LabelRanker(race=race))
    text, _ = texts(1, seed=8)[0]
    before = tagger.suggest(text, k=None)
    chance = tagger.suggest(text)[0].probability
    for _ in range(30):
        tagger.learn(text, [])
    after = tagger.suggest(text, k=None)
    assert [one.label for one in after] == [one.label for one in before]
    if race is None:
        assert [one.score for one in after] == [one.score for one in before]
    assert after[0].probability < chance


def test_corrections_change_weights_and_counts_only() -> None:
    tagger = taught(300)
    before, counts = confidence(tagger), tagger.history.count.copy()
    text, topic = texts(1, seed=9)[0]
    other = next(each for each in TOPICS if each != topic)
    tagger.learn(text, [other], judged=False)
    assert tagger.history.count.tolist() == counts.tolist()
    tagger.correct(text, [topic], was=[other])
    assert confidence(tagger) == before
    number = tagger.learner.labels.number
    assert tagger.history.count[number[topic]] == counts[number[topic]] + 1
    assert tagger.history.count[number[other]] == counts[number[other]] - 1


def test_items_together_are_judged_like_items_one_by_one() -> None:
    items = [Item(text=text, labels=(topic,)) for text, topic in texts(300)]
    one_by_one, together = Tagger(), Tagger()
    rounds = [one_by_one.watch(item) for item in items]
    batches = [together.watch_together(items[start : start + 70]) for start in range(0, 300, 70)]
    joined = np.concatenate([b.places.assured for b in batches if b is not None and b.places])
    alone = np.concatenate([one.places.assured for one in rounds if one.places])
    assert joined.tobytes() == alone.tobytes()
    assert confidence(together) == confidence(one_by_one)
    again = together.watch_together(items, judged=False)
    assert again is not None
    assert again.places is None
    assert confidence(together) == confidence(one_by_one)
    assert together.history.count.tolist() == one_by_one.history.count.tolist()
