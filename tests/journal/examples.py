"""Items and taggers for the tests of the journal."""

import copy
from functools import cache
from typing import Any

import numpy as np

from tagalong import LabelRanker, Tagger
from tagalong.journal import Settings, Workspace
from tagalong.journal.storage import Place
from tests.journal.naive import NaiveWorkspace

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


def small_tagger() -> Tagger:
    """A tagger with one learner, which is fast."""
    return Tagger(LabelRanker(race=None))


@cache
def _taught() -> Tagger:
    tagger = small_tagger()
    for text, topic in texts(300):
        tagger.learn(text, [topic])
    return tagger


def taught_tagger() -> Tagger:
    """A tagger that is sure about many items."""
    return copy.deepcopy(_taught())


START = {"small": small_tagger, "race": Tagger, "taught": taught_tagger}


def naive_workspace(start: str, settings: dict[str, Any] | None = None) -> NaiveWorkspace:
    """A naive workspace that begins with a tagger of `START`."""
    resolved = Settings().changed(settings or {})

    def make_tagger() -> Tagger:
        tagger = START[start]()
        tagger.audit = resolved.audit
        return tagger.set_one_label(resolved.one_label)

    return NaiveWorkspace(make_tagger, resolved)


def new_workspace(
    place: Place, start: str = "small", settings: dict[str, Any] | None = None
) -> Workspace:
    """A new workspace that begins with a tagger of `START`."""
    return Workspace(place, tagger=START[start](), settings=settings)
