"""Items in, ranked labels out: features, learner and labels in one object."""

import math
import os
import threading
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.items import Item
from tagalong.learning.protocols import (
    Learner,
    ListLearner,
    OnlineLearner,
    is_online,
    ranks_documents,
    shows_lists,
)
from tagalong.learning.rounds import QueryRound, Round, Rounds
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.readers.queries import Query, grades_of
from tagalong.tagger.history import LabelHistory
from tagalong.tagger.suggestions import Explanation, SizeReport, Suggestion
from tagalong.text import TextFeatures

__all__ = ["Tagger"]

SURE = 0.95


class Tagger:
    """Suggests labels for items, and learns from every answer before the next one.

    An item is a text, a mapping of feature names to numbers and strings, or an
    `tagalong.readers.Item` with both. Labels may appear at any time.

    Parameters
    ----------
    learner : learner, optional
        What ranks the labels; a `LabelRanker` with its defaults if not given. One that has learnt
        nothing yet is copied.
    features : TextFeatures, optional
        What makes numbers of items; its defaults if not given.
    names : bool, default True
        Keep the words of learnt items, to show what the model knows. False keeps none of them, in
        memory or in the file; what is learnt and suggested is the same to the bit, and
        explanations still show the words of the item they explain.

    Attributes
    ----------
    labels : list
        The labels so far, in order of appearance.
    certificate_ : Certificate
        What the learner can prove about the rounds so far.
    notes : dict
        Whatever should be saved along, in terms of JSON.

    Notes
    -----
    The tagger adds nothing to what the learner computes: the same stream gives the same bits as
    the learner gets by itself from ``features.read``. One thread may learn while others ask.

    Examples
    --------
    >>> from tagalong import Tagger
    >>> tagger = Tagger().add_labels(["money", "travel", "family"])
    >>> for text, labels in [
    ...     ("Your invoice is due on Friday", ["money"]),
    ...     ("Your flight to Lisbon, and the invoice", ["travel", "money"]),
    ...     ("Mother's birthday is on Friday", ["family"]),
    ... ]:
    ...     _ = tagger.learn(text, labels)
    >>> [suggestion.label for suggestion in tagger.suggest("The invoice for your flight", k=2)]
    ['money', 'travel']
    >>> tagger.explain("The invoice for your flight", "money").speaks_for[0][0]
    'invoice'
    """

    def __init__(
        self,
        learner: Learner | None = None,
        features: TextFeatures | None = None,
        names: bool = True,
    ):
        self.features = TextFeatures() if features is None else features
        if not parameters.flag(names, "names"):
            self.features = clone(self.features).set_params(names=False)
        self.learner: Learner = self._prepared(LabelRanker() if learner is None else learner)
        self.notes: dict[str, Any] = {}
        self.history = LabelHistory()
        self.history.reach(len(self.labels))
        self._lock = threading.RLock()

    def _prepared(self, learner: Learner) -> Learner:
        if learner.is_started:
            return learner
        own: Learner = clone(learner)
        buckets = self.features.buckets
        if own.feature_count_matters and is_online(own) and own.n_features is None and buckets:
            own.n_features = buckets
        own.start()
        return own

    def _online(self) -> OnlineLearner:
        if not is_online(self.learner):
            raise ValueError(
                f"{type(self.learner).__name__} learns all items at once: use 'tagalong fit'"
            )
        return self.learner

    @property
    def labels(self) -> list[Any]:
        """The labels so far, in order of appearance."""
        return list(self.learner.labels.names)

    @property
    def certificate_(self) -> AnyCertificate:
        """What the learner can prove about the rounds so far."""
        if not is_online(self.learner):
            raise AttributeError(f"a {type(self.learner).__name__} learns in no rounds")
        return self.learner.certificate_

    def suggest(
        self, item: Any, k: int | None = 5, min_precision: float = SURE
    ) -> list[Suggestion]:
        """Return labels for an item, best first.

        Equal scores, as before anything is learnt, are ordered by how often a label occurred, then
        by how recently. A learner from partial feedback chooses its own list, which may have
        fewer labels, and some that are there to explore.

        Parameters
        ----------
        item : Item, str or mapping
            What to file.
        k : int or None, default 5
            How many labels at most; None means all.
        min_precision : float
            The share of suggestions marked ``sure`` that should be right.
        """
        if not 0 < parameters.real(min_precision, "min_precision") <= 1:
            raise ValueError(f"min_precision must be above 0 and at most 1, got {min_precision!r}")
        count = None if k is None else parameters.integer(k, "k", 0)
        with self._lock:
            if shows_lists(self.learner):
                return self._shown(self.learner, item, count, min_precision)
            scores, cutoff = self.learner.score_one(self.features.look(item).pairs())
            probabilities = self.learner.probabilities(scores)
            best = self.history.best(scores, count)
            names = self.learner.labels.names
        return [
            Suggestion(
                label=names[i],
                score=float(scores[i]),
                probability=float(probabilities[i]),
                chosen=bool(scores[i] >= cutoff),
                sure=bool(probabilities[i] >= min_precision),
            )
            for i in best
        ]

    def _shown(
        self, learner: ListLearner, item: Any, count: int | None, min_precision: float
    ) -> list[Suggestion]:
        """Return the list of a learner from partial feedback, of at most so many labels."""
        if count == 0 or not self.labels:
            return []
        limits = [limit for limit in (count, learner.max_labels) if limit is not None]
        found = learner.suggest_one(
            self.features.look(item).pairs(), min(limits) if limits else None
        )
        scores, _ = learner.score_one(self.features.look(item).pairs())
        number = learner.labels.number
        return [
            Suggestion(
                label=label,
                score=float(scores[number[label]]),
                probability=float(probability),
                chosen=not explores,
                sure=bool(probability >= min_precision),
                explores=bool(explores),
            )
            for label, probability, explores in zip(
                found.labels, found.probabilities, found.explores, strict=True
            )
        ]

    def learn(
        self,
        item: Any,
        labels: Any = None,
        unknown: Collection[Hashable] = (),
        weight: float | None = None,
    ) -> Self:
        """Learn what an item is filed under.

        Parameters
        ----------
        item : Item, str or mapping
            What was filed.
        labels : label or collection of labels, optional
            What it was filed under; the item's own labels by default.
        unknown : collection of labels
            Labels of which nobody said whether they are right.
        weight : float, optional
            How much it counts; the item's own weight by default.
        """
        self.watch(item, labels, unknown, weight)
        return self

    def watch(
        self,
        item: Any,
        labels: Any = None,
        unknown: Collection[Hashable] = (),
        weight: float | None = None,
    ) -> Round:
        """Learn like ``learn``, and return what was predicted before.

        Parameters
        ----------
        item : Item, str or mapping
            What was filed.
        labels : label or collection of labels, optional
            What it was filed under; the item's own labels by default.
        unknown : collection of labels
            Labels of which nobody said whether they are right.
        weight : float, optional
            How much it counts; the item's own weight by default.
        """
        if labels is None:
            labels = item.labels if isinstance(item, Item) else None
            if labels is None:
                raise ValueError(
                    "labels must be given: the item does not say what it is filed under"
                )
        if weight is None:
            weight = item.weight if isinstance(item, Item) else 1.0
        with self._lock:
            reading = self.features.look(item)
            found = self._online().watch_one(reading.pairs(), labels, unknown, weight)
            self.features.learn(reading)
            self.history.note(len(self.learner.labels), found.relevant)
        return found

    @property
    def learns_online(self) -> bool:
        """Whether the learner learns one item after the other; otherwise it was fitted to all."""
        return self.learner.learns_online

    @property
    def learns_together(self) -> bool:
        """Whether ``watch_together`` can learn many items in one native call."""
        return is_online(self.learner) and self.learner.learns_rows

    def watch_together(self, items: Sequence[Item]) -> Rounds | None:
        """Learn items in one native call, to the bit as ``watch`` would one after the other.

        Parameters
        ----------
        items : sequence of Item
            What was filed, each with its labels.

        Returns
        -------
        Rounds or None
            What was predicted before each of them. None if that cannot be done in one call: nothing
            has been learnt then, and ``watch`` can tell what is wrong, if anything is.
        """
        with self._lock:
            learner = self.learner
            if not is_online(learner) or not learner.learns_rows:
                return None
            weights = np.array([item.weight for item in items])
            ones = bool((weights == 1).all())
            try:  # before any word is noted
                targets = learner.encode_rows(
                    [item.labels or () for item in items], None if ones else weights
                )
            except ValueError:
                return None
            rows = self.features.read_texts(items, learner.n_features)
            if rows is None:
                return None
            rounds = learner.watch_rows(rows, targets)
            self.history.note_rows(len(learner.labels), rounds.relevant)
        return rounds

    @property
    def ranks_documents(self) -> bool:
        """Whether the learner ranks the documents of queries, instead of labels."""
        return ranks_documents(self.learner)

    def watch_query(self, query: Query, weight: float = 1.0) -> QueryRound:
        """Learn how the documents of a query are graded, and return what they scored before.

        Parameters
        ----------
        query : Query
            Documents whose labels are their grades, numbers from 0 on.
        weight : float
            How much it counts.
        """
        learner = self.learner
        if not ranks_documents(learner):
            raise ValueError("this tagger files items under labels; it does not rank documents")
        grades = np.array(grades_of(query))
        with self._lock:
            pairs = []
            for document in query.documents:
                reading = self.features.look(document)
                pairs.append(reading.pairs())
                self.features.learn(reading)  # before the next one: new words get numbers in turn
            return QueryRound(learner.watch_query(pairs, grades, weight), grades)

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Declare labels before anything is filed under them.

        Parameters
        ----------
        labels : collection of labels
            New ones.
        """
        with self._lock:
            self._online().add_labels(labels)
            self.history.reach(len(self.learner.labels))
        return self

    def feedback(self, item: Any, shown: Iterable[Hashable], accepted: Iterable[Hashable]) -> Self:
        """Learn from which of the shown labels were accepted.

        About labels that were not shown nothing is concluded.

        Parameters
        ----------
        item : Item, str or mapping
            What the labels were shown for.
        shown : collection of labels
            What was shown.
        accepted : collection of labels
            Those of them that were right.
        """
        shown, accepted = list(shown), list(accepted)
        for label in accepted:
            if label not in shown:
                raise ValueError(
                    f"accepted label {label!r} is not among the shown ones; use learn for labels "
                    "that the user added"
                )
        with self._lock:
            for label in shown:
                if label not in self.learner.labels.number:
                    raise ValueError(f"shown label {label!r} is not a label of this tagger")
            if shows_lists(self.learner):
                reading = self.features.look(item)
                self.learner.feedback_one(reading.pairs(), shown, accepted)
                self.features.learn(reading)
                right = [self.learner.labels.number[label] for label in accepted]
                self.history.note(len(self.learner.labels), right)
                return self
            return self.learn(item, accepted, unknown=[x for x in self.labels if x not in shown])

    def correct(self, item: Any, labels: Any, was: Any) -> Self:
        """Learn that an item that was filed wrongly belongs elsewhere.

        The learner gets the item once more, with the right labels. How often each label occurs is
        counted as if the item had been filed rightly at once.

        Parameters
        ----------
        item : Item, str or mapping
            What was filed wrongly.
        labels : label or collection of labels
            Where it belongs.
        was : label or collection of labels
            Where it was filed.
        """
        with self._lock:
            before = self.learner.labels.encode_one(was)
            if before[2]:
                raise ValueError(f"was: {before[2][0]!r} is not a label of this tagger")
            self.learn(item, labels)
            self.history.uncount(before[0])
        return self

    def explain(self, item: Any, label: Hashable = None) -> Explanation:
        """Return the words of an item that speak for and against a label.

        Parameters
        ----------
        item : Item, str or mapping
            What to file.
        label : label, optional
            For which label; the best one by default.
        """
        with self._lock:
            if label is None:
                best = self.suggest(item, k=1)
                if not best:
                    raise ValueError("there are no labels yet: learn something first")
                label = best[0].label
            pairs = self.features.read(item)
            names = dict(zip(pairs[0].tolist(), self.features.describe(item), strict=True))
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

    def rename_label(self, old: Hashable, new: Hashable) -> Self:
        """Give a label another name. Nothing that was learnt changes.

        Parameters
        ----------
        old, new : label
            Its name so far, and from now on.
        """
        with self._lock:
            self._online().rename_label(old, new)
        return self

    def forget_label(self, label: Hashable) -> Self:
        """Take a label away, with all that was learnt for it. The certificate restarts.

        Parameters
        ----------
        label : label
            Which one. Items may bring it back later, as a new one.
        """
        with self._lock:
            at = self.learner.labels.number.get(label, -1)
            self._online().forget_labels([label])
            self.history.drop(at)
        return self

    def merge_labels(self, labels: Iterable[Hashable], into: Hashable) -> Self:
        """Make one label of several. The certificate restarts.

        Parameters
        ----------
        labels : collection of labels
            Which ones.
        into : label
            The name of the new one; may be one of them, or another that is there.
        """
        with self._lock:
            parts = self._online().merge_labels(list(labels), into)
            self.history.merge(parts)
        return self

    def prune(self, features: int) -> SizeReport:
        """Keep the weights of the features that matter most. The certificate restarts.

        Parameters
        ----------
        features : int
            How many to keep: those with the longest weights.

        Returns
        -------
        SizeReport
            What is left.
        """
        keep = parameters.integer(features, "features", 0)
        with self._lock:
            learner = self._online()
            found, lengths = learner.feature_lengths()
            lengths[found < 0] = np.inf  # the constant feature stays
            if keep < len(found) - int((found < 0).sum()):
                kept = np.zeros(len(found), dtype=bool)
                kept[np.argsort(-lengths, kind="stable")[: keep + int((found < 0).sum())]] = True
                learner.keep_features(kept)
                if learner.own_feature_names(found) is None:
                    self.features.forget_names(found[~kept])
            return self.size()

    def size(self) -> SizeReport:
        """Return how many labels and features there are, and what they take."""
        with self._lock:
            if not self.labels:
                return SizeReport(0, 0, 0, self.features.size_in_bytes)
            rows = len(self.learner.weights_by_feature()["features"])
            weights = self.learner.bytes_of_weights
            return SizeReport(len(self.labels), rows, weights, self.features.size_in_bytes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tagger to a file; `tagalong.load` reads it.

        Parameters
        ----------
        path : str or path
            Where to; a file that is there is replaced once the new one is whole.
        """
        with self._lock:
            model_files.save(self, path)

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        learner, learner_arrays = model_files.pack(self.learner)
        features, feature_arrays = model_files.pack(self.features)
        header = {
            "learner": learner,
            "features": features,
            "notes": self.notes,
            "history": self.history.to_json(),
        }
        arrays = {f"learner/{name}": array for name, array in learner_arrays.items()}
        arrays |= {f"features/{name}": array for name, array in feature_arrays.items()}
        return header, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the model that ``to_parts`` took apart.

        Parameters
        ----------
        header : dict
            What can be said in JSON.
        arrays : dict
            Arrays by name.
        """

        def part(name: str) -> Any:
            own = {
                key.removeprefix(f"{name}/"): array
                for key, array in arrays.items()
                if key.startswith(f"{name}/")
            }
            return model_files.unpack(header[name], own)

        self = cls(learner=part("learner"), features=part("features"))
        self.notes = header["notes"]
        self.history = LabelHistory(**header["history"])
        if len(self.history) != len(self.labels):
            raise ValueError(
                f"it has {len(self.labels)} labels, but a history of {len(self.history)}"
            )
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Tagger(learner={self.learner!r}, features={self.features!r})"
