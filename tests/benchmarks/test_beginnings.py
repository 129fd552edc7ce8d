"""Small beginnings of the default learner and of LinearSVC."""

from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.svm import LinearSVC

from benchmarks import beginnings
from benchmarks.beginnings import Line, fitted, learnt_online, shortened, texts, uneven, verdict
from tagalong.readers import Item

WORDS = np.array(["flight", "invoice", "match", "tea", "rain", "sun"])


def made_up(count: int, several: bool = False) -> list[Item]:
    """Items about one of three topics, which the text mentions three times out of four."""
    rng, found = np.random.default_rng(0), []
    for number in range(count):
        topic = int(rng.integers(3))
        named = WORDS[topic] if rng.random() < 0.75 else WORDS[rng.integers(3)]
        labels = (f"topic{topic}", *(["second"] if several and topic == 1 else []))
        found.append(Item(str(number), f"{named} {' '.join(rng.choice(WORDS[3:], 2))}", {}, labels))
    return found


def test_the_peer_is_a_linear_svc_on_the_tf_idf_of_the_items_learnt() -> None:
    items = [*made_up(60), Item("new", "unseen rain", {}, ("topic0",))]
    counts = CountVectorizer().fit_transform(str(item.text) for item in items)
    words = TfidfVectorizer(sublinear_tf=True)
    train = words.fit_transform(str(item.text) for item in items[:30])
    labels = [(item.labels or ("",))[0] for item in items]
    model = LinearSVC(random_state=0).fit(train, labels[:30])
    expected = model.score(words.transform(str(item.text) for item in items[30:]), labels[30:])
    assert fitted(counts, items, 30, sublinear=True) == pytest.approx(expected)


@pytest.mark.parametrize("several", [False, True])
def test_all_methods_learn_more_than_the_most_frequent_label(several: bool) -> None:
    stream = texts(made_up(400, several))
    lines = list(beginnings.compare("made-up", stream, [50, 200, 1000], orders=2))
    assert [line.size for line in lines] == [50, 200]
    assert all(np.min(shares) > 0.55 for line in lines for shares in line.shares.values())


def test_judged_items_are_not_learnt() -> None:
    items = made_up(300)
    alone = list(learnt_online("today", items, [200]))
    assert alone == list(learnt_online("today", items, [50, 200]))[1:]


def test_uneven_shares() -> None:
    items = [Item(f"{i}", "words", {}, (f"{i % 4}",)) for i in range(400)]
    order = uneven(items).order(3)
    counts = Counter(items[i].labels for i in order)
    assert sorted(counts.values()) == [25, 33, 50, 100]
    assert len(set(order.tolist())) == len(order)


def test_first_words() -> None:
    text = " ".join(map(str, range(30)))
    assert shortened([Item("a", text, {}, ("b",))])[0].text == "0 1 2 3 4 5 6 7 8 9 10 11"


def test_verdict_allows_less_where_many_labels_meet_few_items() -> None:
    def line(stream: str, size: int) -> Line:
        shares = {"today": [0.1], "race": [0.5], "LinearSVC": [0.4], "LinearSVC, sublinear": [0.52]}
        return Line(stream, size, shares)

    assert verdict([line("pydocs", 50)]).reached
    missed = verdict([line("pydocs", 50), line("pydocs", 200), line("newsgroups", 50)])
    assert not missed.reached
    assert "1 of 3 cells (behind on pydocs at 200 by 0.020, newsgroups at 50" in missed.measured
