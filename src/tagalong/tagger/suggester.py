"""The answers of a tagger: suggestions, explanations, and how far they can be trusted."""

import math
import threading
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.drift import Drift
from tagalong.learning.places import Covered
from tagalong.learning.protocols import (
    Learner,
    ListLearner,
    OnlineLearner,
    is_online,
    ranks_documents,
    shows_lists,
)
from tagalong.online.compact import CompactRanker
from tagalong.online.compact.learner import PREDICTION_ONLY
from tagalong.tagger.audit import Audit
from tagalong.tagger.history import LabelHistory
from tagalong.tagger.parallel import checked_threads, in_parts
from tagalong.tagger.suggestions import Explanation, SizeReport, Suggestion, Suggestions
from tagalong.tagger.targets import LabelTargets
from tagalong.text import TextFeatures
from tagalong.text.rows import AnyItem

__all__ = ["SURE", "Suggester"]

SURE = 0.95
"""The share of sure suggestions that has to be right, unless another is asked for."""


_MAKER = core.SuggestionMaker(Suggestion, Suggestions)


class Suggester:
    """Base class of `Tagger`: everything that leaves the model as it is."""

    features: TextFeatures
    learner: Learner
    history: LabelHistory
    _audit: Audit
    _targets: LabelTargets
    _lock: threading.RLock

    def _online(self) -> OnlineLearner:
        if self.is_compact:
            raise ValueError(PREDICTION_ONLY)
        if not is_online(self.learner):
            raise ValueError(
                f"{type(self.learner).__name__} is a batch learner, which learns all items at "
                "once: use 'tagalong fit'"
            )
        return self.learner

    def _confident(self) -> OnlineLearner | CompactRanker:
        """Return the learner if it has learnt how far to trust it."""
        return self.learner if isinstance(self.learner, CompactRanker) else self._online()

    @property
    def labels(self) -> list[Any]:
        """The labels so far, in order of appearance."""
        return list(self.learner.labels.names)

    @property
    def certificate_(self) -> AnyCertificate:
        """The certificate of the learner for the rounds so far."""
        if self.is_compact:
            raise AttributeError(
                "a compact model has no certificate: the full model, from which it was exported, "
                "has one"
            )
        if not is_online(self.learner):
            raise AttributeError(
                f"a {type(self.learner).__name__} is a batch learner and has no certificate"
            )
        return self.learner.certificate_

    @property
    def is_compact(self) -> bool:
        """Whether the tagger is a compact copy of another one, for predictions only."""
        return isinstance(self.learner, CompactRanker)

    @property
    def learns_online(self) -> bool:
        """Whether the learner is an online learner; otherwise it is a batch learner."""
        return self.learner.learns_online

    @property
    def ranks_documents(self) -> bool:
        """Whether the learner ranks the documents of queries, instead of labels."""
        return ranks_documents(self.learner)

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: told by the user, or noticed."""
        return self.learner.has_one_label

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: that of ``labels``."""
        return self.learner.has_grades

    @property
    def labels_come_in_runs(self) -> bool:
        """Whether the labels of the last items came in runs, as in sorted data.

        Nothing is sure then, and progressive figures are not to be trusted.
        """
        if isinstance(self.learner, CompactRanker):
            return self.learner.labels_come_in_runs
        return is_online(self.learner) and self.learner.labels_come_in_runs

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers that the learner noticed; None if there was none."""
        with self._lock:
            return self.learner.drift if is_online(self.learner) else None

    def coverage(self, targets: Sequence[float] = (0.9, 0.95, 0.99)) -> list[Covered]:
        """Return how many recent items could have been filed without asking.

        Parameters
        ----------
        targets : sequence of float
            The precisions to ask for.
        """
        with self._lock:
            return self._confident().coverage(targets)

    def label_precision(self) -> dict[Hashable, tuple[float, float]]:
        """Return for each label its recent suggestions that were sure at 95 %, and right ones.

        Old suggestions count less.
        """
        with self._lock:
            counts = self._confident().label_precision()[:, 1].tolist()
            names = self.learner.labels.names
        return {name: (sure, right) for name, (sure, right) in zip(names, counts, strict=True)}

    def suggest(
        self, item: AnyItem, k: int | None = 5, min_precision: float | None = None
    ) -> Suggestions:
        """Return labels for an item, best first.

        Labels with equal scores, for example before the first item is learnt, are ordered by
        frequency, then by last occurrence. A learner from partial feedback chooses the list
        itself: it may be shorter, and some labels may be shown for exploration.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        k : int or None, default 5
            Maximum number of labels; None means all.
        min_precision : float, optional
            The share of the suggestions marked ``sure`` that has to be right; 0.95 by default.
            Labels with a precision of their own keep it.
        """
        required, count = _checked_precision(min_precision), _checked_count(k)
        with self._lock:
            return self._answers([item], count, required)[0]

    def suggest_at_once(
        self, item: AnyItem, k: int | None = 5, min_precision: float | None = None
    ) -> Suggestions | None:
        """Return the same as ``suggest``, or None if that would have to wait for another thread.

        For threads that may not wait, such as that of an event loop.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        k : int or None, default 5
            Maximum number of labels; None means all.
        min_precision : float, optional
            As for ``suggest``.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self.suggest(item, k, min_precision)
        finally:
            self._lock.release()

    def suggest_many(
        self,
        items: Sequence[AnyItem],
        k: int | None = 5,
        min_precision: float | None = None,
        threads: int | None = None,
    ) -> list[Suggestions]:
        """Return labels for many items, the same as ``suggest`` for each, in less time.

        Parameters
        ----------
        items : sequence of Item, FeatureItem, str or mapping
            The items.
        k : int or None, default 5
            Maximum number of labels per item; None means all.
        min_precision : float, optional
            As for ``suggest``.
        threads : int, optional
            Maximum number of threads; by default one per core that the process may use. The
            answers do not depend on it. A learner that runs Python code for each item (custom
            features or problems, M3L) uses one thread.
        """
        required, count = _checked_precision(min_precision), _checked_count(k)
        threads = checked_threads(threads)
        items = _item_list(items)
        with self._lock:
            return in_parts(
                lambda part: self._answers(part, count, required), items, self._usable(threads)
            )

    def _usable(self, threads: int) -> int:
        """Return how many of the threads may be used; one if they would run code of the user."""
        return threads if self.learner.scores_natively and not shows_lists(self.learner) else 1

    def _answers(
        self, items: Sequence[AnyItem], count: int | None, required: float
    ) -> list[Suggestions]:
        """Return the suggestions for each item. Several threads may call it, one has the lock."""
        learner = self.learner
        if shows_lists(learner):
            return [self._suggest_list(learner, item, count, required) for item in items]
        rows = self.features.read_rows(items, match=True)
        places = learner.judge_rows(rows, count, (self.history.count, self.history.last))
        names, own = learner.labels.names, self._targets.numbers()
        found, sure = _MAKER.make(places, names, required, own)
        for item, suggestions, any_sure in zip(items, found, sure, strict=True):
            if any_sure and self._audit.asks(item):
                suggestions.audited = True
        return found

    def _suggest_list(
        self, learner: ListLearner, item: AnyItem, count: int | None, min_precision: float
    ) -> Suggestions:
        """Return the list of a learner from partial feedback, with at most `count` labels."""
        if count == 0 or not self.labels:
            return Suggestions()
        limits = [limit for limit in (count, learner.max_labels) if limit is not None]
        pairs = self.features.read(item, match=True)
        found = learner.suggest_one(pairs, min(limits) if limits else None)
        scores, _ = learner.score_one(pairs)
        number = learner.labels.number
        return Suggestions(
            Suggestion(
                label=label,
                score=float(scores[number[label]]),
                probability=float(probability),
                chosen=not explores,
                sure=bool(probability >= self._targets.required(label, min_precision)),
                explores=bool(explores),
            )
            for label, probability, explores in zip(
                found.labels, found.probabilities, found.explores, strict=True
            )
        )

    def explain(self, item: AnyItem, label: Hashable = None) -> Explanation:
        """Return how much each word of an item adds to the score of a label.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        label : label, optional
            The label; by default the one with the highest score.
        """
        with self._lock:
            return self._explanation(item, label)

    def explain_many(
        self,
        items: Sequence[AnyItem],
        labels: Sequence[Hashable] | None = None,
        threads: int | None = None,
    ) -> list[Explanation]:
        """Return explanations of many items, the same as ``explain`` for each.

        Parameters
        ----------
        items : sequence of Item, FeatureItem, str or mapping
            The items.
        labels : sequence of labels, optional
            The label of each item; None stands for the one with the highest score, which is the
            default for all items.
        threads : int, optional
            As for ``suggest_many``.
        """
        threads = checked_threads(threads)
        items = _item_list(items)
        if isinstance(labels, (str, bytes)):
            raise ValueError(f"labels must have one label per item, got {labels!r}")
        chosen = [None] * len(items) if labels is None else list(labels)
        if len(chosen) != len(items):
            raise ValueError(f"there are {len(items)} items but {len(chosen)} labels")
        with self._lock:
            return in_parts(
                lambda part: [self._explanation(item, label) for item, label in part],
                list(zip(items, chosen, strict=True)),
                self._usable(threads),
            )

    def _explanation(self, item: AnyItem, label: Hashable) -> Explanation:
        """Return the explanation of an item. Several threads may call it, one has the lock."""
        if label is None:
            best = self._answers([item], 1, SURE)[0]
            if not best:
                raise ValueError("the tagger has no labels yet; learn an item first")
            label = best[0].label
        pairs = self.features.read(item, match=True)
        described = self.features.describe(item, match=True)
        names = dict(zip(pairs[0].tolist(), described, strict=True))
        features, parts, score = self.learner.explain_one(pairs, label)
        own = self.learner.own_feature_names(features)
        named = [
            (names[feature] if own is None else own[i], part)
            for i, (feature, part) in enumerate(zip(features.tolist(), parts.tolist(), strict=True))
            if feature >= 0
        ]
        named.sort(key=lambda part: (-abs(part[1]), part[0]))
        base = math.fsum([score, *(-part for _, part in named)])
        return Explanation(label, score, base, tuple(named))

    def size(self) -> SizeReport:
        """Return the numbers of labels and features, and their memory."""
        with self._lock:
            if not self.labels:
                return SizeReport(0, 0, 0, self.features.size_in_bytes)
            rows = len(self.learner.weights_by_feature()["features"])
            weights = self.learner.bytes_of_weights
            return SizeReport(len(self.labels), rows, weights, self.features.size_in_bytes)


def _checked_precision(min_precision: float | None) -> float:
    if min_precision is None:
        return SURE
    if not 0 < parameters.real(min_precision, "min_precision") <= 1:
        raise ValueError(f"min_precision must be above 0 and at most 1, got {min_precision!r}")
    return float(min_precision)


def _checked_count(k: int | None) -> int | None:
    if k is None or (type(k) is int and k >= 0):
        return k
    return parameters.integer(k, "k", 0)


def _item_list(items: Iterable[AnyItem]) -> list[AnyItem]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ValueError(f"items must be a collection of items, got {items!r}")
    return list(items)
