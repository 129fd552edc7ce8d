"""`Tagger`: suggests labels for items and learns from their true labels."""

import os
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from tagalong import parameters
from tagalong.fork_locks import fork_safe_lock
from tagalong.learning import model_files
from tagalong.learning.examples import SparseRows
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.learning.model_hash import model_hash
from tagalong.learning.protocols import (
    Learner,
    OnlineLearner,
    QueryLearner,
    is_online,
    ranks_documents,
    shows_lists,
)
from tagalong.learning.rounds import QueryRound, Round, Rounds
from tagalong.online.compact import DROPPED_SHARE, compact_ranker
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.readers.queries import Query, grades_of
from tagalong.tagger.audit import Audit
from tagalong.tagger.history import LabelHistory
from tagalong.tagger.suggester import Suggester
from tagalong.tagger.suggestions import SizeReport, Suggestions
from tagalong.tagger.targets import LabelTargets, Target
from tagalong.text import TextFeatures
from tagalong.text.rows import AnyItem
from tagalong.text.rows_ahead import RowsAheadPart

__all__ = ["Tagger"]


class Tagger(Suggester):
    """Suggests labels for items, and learns online from their true labels.

    An item is a text, a mapping of feature names to numbers and strings, or a
    `tagalong.readers.Item` with both. In its place, all methods accept a
    `tagalong.features.FeatureItem`, its numbered features. Labels may appear at any time.

    Parameters
    ----------
    learner : learner, optional
        The learner that ranks the labels; by default a `LabelRanker` with its default parameters.
        An unfitted learner is copied.
    features : TextFeatures, optional
        The conversion of items into features; by default with its default parameters.
    names : bool, default True
        Whether to store the words of learnt items, to show what the model has learnt. If False, no
        words are stored, neither in memory nor in the model file. Learning and suggestions are the
        same to the bit, and explanations still show the words of the explained item.
    audit : float, default 0.02
        The share of the sure items that a person should be asked about nevertheless
        (``Suggestions.audited``): what is filed without asking is no evidence that it was right.
        At least a tenth until there are 200 such answers; 0 for none.
    min_precision : mapping of label to float or "never", optional
        Labels that need another precision than the others before they are sure.

    Attributes
    ----------
    labels : list
        The labels so far, in order of appearance.
    certificate_ : Certificate
        The certificate of the learner for the rounds so far.
    notes : dict
        JSON values to save with the model.

    Notes
    -----
    A tagger gives the same bits as its learner with the features of ``features.read``. One thread
    may learn while others request suggestions. If an item has text in a field that was never
    learnt, such as plain text for a model of mails, suggestions and explanations read it as a
    learnt field; ``features.matches`` says which, and ``features.fields`` lists the learnt fields.

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
        audit: float = 0.02,
        min_precision: Mapping[Hashable, Target] | None = None,
    ):
        self._audit = Audit(audit)
        self._targets = LabelTargets(min_precision)
        self.features = TextFeatures() if features is None else features
        if not parameters.flag(names, "names"):
            self.features = clone(self.features).set_params(names=False)
        self.learner: Learner = self._prepared(LabelRanker() if learner is None else learner)
        self.notes: dict[str, Any] = {}
        self.history = LabelHistory()
        self.history.extend_to(len(self.labels))
        self._lock = fork_safe_lock()

    def _prepared(self, learner: Learner) -> Learner:
        """Return a fitted learner itself, or a started copy of an unfitted one."""
        if learner.is_started:
            return learner
        copy: Learner = clone(learner)
        buckets = self.features.buckets
        if copy.feature_count_matters and is_online(copy) and copy.n_features is None and buckets:
            copy.n_features = buckets
        copy.start()
        return copy

    @property
    def audit(self) -> float:
        """The share of the sure items that a person should be asked about nevertheless."""
        return self._audit.share

    @audit.setter
    def audit(self, share: float) -> None:
        self._audit = Audit(share, self._audit.seed, self._audit.answers)

    @property
    def min_precision(self) -> Mapping[Hashable, Target]:
        """The labels with a required precision of their own; read-only."""
        return self._targets

    def set_min_precision(self, label: Hashable, min_precision: Target | None) -> Self:
        """Give a label its own required precision.

        Parameters
        ----------
        label : label
            The label.
        min_precision : float, "never" or None
            The precision; "never" if the label is never sure; None for that of all labels.
        """
        with self._lock:
            if label not in self.learner.labels.number:
                raise ValueError(f"there is no label {label!r}")
            self._targets.set(label, min_precision)
        return self

    def set_one_label(self, one_label: bool | Literal["auto"]) -> Self:
        """Change whether every item has exactly one label. What was learnt stays.

        Parameters
        ----------
        one_label : "auto", True or False
            True: answers have one label, probabilities sum to 1, and items with several labels are
            refused. "auto": the learner notices it from the labels of the items. Only a
            `LabelRanker` accepts True and False.
        """
        with self._lock:
            self._online().set_one_label(one_label)
        return self

    def count_mistake(self, label: Hashable) -> Self:
        """Count an item that was filed under a label without asking, and wrongly.

        Parameters
        ----------
        label : label
            The label. If it falls clearly below the required precision, it is no longer sure.
        """
        with self._lock:
            self._online().count_mistake(label, self._audit.weight_of_mistakes)
        return self

    def learn(
        self,
        item: AnyItem,
        labels: object = None,
        unknown: Collection[Hashable] = (),
        weight: float | None = None,
        judged: bool = True,
        filed: bool = False,
        audited: bool = False,
    ) -> Self:
        """Learn the labels of an item.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        labels : label or collection of labels, optional
            The labels; by default ``item.labels``.
        unknown : collection of labels
            Labels of unknown relevance.
        weight : float, optional
            Weight of the item; by default ``item.weight``.
        judged : bool, default True
            False for an item that was learnt before: only weights change, and neither cut-off nor
            confidence nor counts of labels learn from it.
        filed : bool, default False
            Whether the tagger had filed the item by itself and a person now says where it belongs.
            It is learnt, but is no evidence for the confidence of other items; if the present
            first suggestion is wrong, that counts against its label.
        audited : bool, default False
            Whether the item was sure but a person was asked (``Suggestions.audited``). The answer
            then stands for the items that were filed without asking.
        """
        self.watch(item, labels, unknown, weight, judged, filed, audited)
        return self

    def watch(
        self,
        item: AnyItem,
        labels: object = None,
        unknown: Collection[Hashable] = (),
        weight: float | None = None,
        judged: bool = True,
        filed: bool = False,
        audited: bool = False,
    ) -> Round:
        """Learn the labels of an item, and return the prediction that was made before.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        labels : label or collection of labels, optional
            The labels; by default ``item.labels``.
        unknown : collection of labels
            Labels of unknown relevance.
        weight : float, optional
            Weight of the item; by default ``item.weight``.
        judged, filed, audited : bool
            As for ``learn``.
        """
        if labels is None:
            labels = item.labels if isinstance(item, (Item, FeatureItem)) else None
            if labels is None:
                raise ValueError("labels must be given, as the item has none")
        if weight is None:
            weight = item.weight if isinstance(item, (Item, FeatureItem)) else 1.0
        judged = parameters.flag(judged, "judged")
        filed = parameters.flag(filed, "filed")
        evidence = judged and not filed
        audited = parameters.flag(audited, "audited") and evidence
        with self._lock:
            learner = self._online()
            suggested = self.suggest(item, k=1) if filed else Suggestions()
            reading = self.features.look(item)
            stands_for = self._audit.items_per_answer if audited else 1.0
            found = learner.watch_one(
                reading.pairs(), labels, unknown, weight, stands_for if evidence else False
            )
            if audited:
                self._audit.count_answer()
            self.features.learn(reading)
            if judged:
                self.history.note(len(self.learner.labels), found.relevant)
            else:
                self.history.extend_to(len(self.learner.labels))
            number = self.learner.labels.number
            for wrong in suggested:
                if number[wrong.label] not in found.relevant:
                    learner.count_mistake(wrong.label, self._audit.weight_of_mistakes)
        return found

    @property
    def learns_together(self) -> bool:
        """Whether ``watch_together`` can learn many items in one native call."""
        return is_online(self.learner) and self.learner.learns_rows

    def watch_together(
        self,
        items: Sequence[Item | FeatureItem],
        judged: bool = True,
        ahead: Sequence[RowsAheadPart] | None = None,
    ) -> Rounds | None:
        """Learn items in one native call, with the same bits as ``watch`` item by item.

        Parameters
        ----------
        items : sequence of Item or FeatureItem
            The items, each with its labels. Items of both kinds are not learnt in one call.
        judged : bool, default True
            As for ``learn``.
        ahead : sequence of RowsAheadPart, optional
            The features of the items, if ``features.read_ahead`` has read them already.

        Returns
        -------
        Rounds or None
            The predictions that were made before each item was learnt. None, with nothing learnt,
            if the items cannot be learnt in one call. ``watch`` raises an error if an item is
            invalid.
        """
        judged = parameters.flag(judged, "judged")
        with self._lock:
            learner = self.learner
            if not is_online(learner) or not learner.learns_rows:
                return None
            weights = np.array([item.weight for item in items])
            unweighted = bool((weights == 1).all())
            try:  # validate the labels before any word is learnt
                targets = learner.encode_rows(
                    [item.labels or () for item in items], None if unweighted else weights
                )
            except ValueError:
                return None
            rows: SparseRows | None
            if ahead is not None and self.features.stays_below(learner.n_features):
                rows = self.features.learn_ahead(ahead)
            elif FeatureItem in map(type, items):
                rows = self._feature_rows(learner, items)
            else:
                rows = self.features.read_texts(items, learner.n_features)
            if rows is None:
                return None
            rounds = learner.watch_rows(rows, targets, judged)
            if judged:
                self.history.note_rows(len(learner.labels), rounds.relevant)
            else:
                self.history.extend_to(len(learner.labels))
        return rounds

    def _feature_rows(
        self, learner: OnlineLearner, items: Sequence[Item | FeatureItem]
    ) -> SparseRows | None:
        """Return rows of numbered features; None if the learner may refuse one of the items."""
        numbered = [item for item in items if isinstance(item, FeatureItem)]
        if len(numbered) < len(items) or not self.features.stays_below(learner.n_features):
            return None
        try:
            rows = self.features.feature_rows(numbered)
            # One example with all values is longer than that of each item.
            learner.check_example((rows.indices, rows.values), ())
        except ValueError:
            return None
        return rows

    def score_query(self, query: Query) -> npt.NDArray[Any]:
        """Return the scores of the documents of a query, without learning.

        Parameters
        ----------
        query : Query
            Documents; their labels are not used.
        """
        learner = self._document_learner()
        return learner.score_query([self.features.look(each).pairs() for each in query.documents])

    def _document_learner(self) -> QueryLearner:
        if not ranks_documents(self.learner):
            raise ValueError(
                f"the learner of this tagger, {type(self.learner).__name__}, ranks labels; it does "
                "not rank documents"
            )
        return self.learner

    def watch_query(self, query: Query, weight: float = 1.0) -> QueryRound:
        """Learn the grades of the documents of a query, and return their scores before learning.

        Parameters
        ----------
        query : Query
            Documents with their grades (numbers, at least 0) as labels.
        weight : float
            Weight of the query.
        """
        learner = self._document_learner()
        grades = np.array(grades_of(query))
        with self._lock:
            pairs = []
            for document in query.documents:
                reading = self.features.look(document)
                pairs.append(reading.pairs())
                # Learn the words now, as the next document may share them.
                self.features.learn(reading)
            return QueryRound(learner.watch_query(pairs, grades, weight), grades)

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels before their first item.

        Parameters
        ----------
        labels : collection of labels
            The new labels.
        """
        with self._lock:
            self._online().add_labels(labels)
            self.history.extend_to(len(self.learner.labels))
        return self

    def feedback(
        self,
        item: AnyItem,
        shown: Iterable[Hashable],
        accepted: Iterable[Hashable],
        filed: bool = False,
    ) -> Self:
        """Learn from the accepted labels of a shown list.

        Labels that were not shown have unknown relevance.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        shown : collection of labels
            The labels that were shown to the user.
        accepted : collection of labels
            The shown labels that the user accepted.
        filed : bool, default False
            Whether the tagger had filed the item by itself under the shown labels. The answer is
            then no evidence for the confidence of other items; the labels that were not accepted
            count as mistakes.
        """
        shown, accepted = list(shown), list(accepted)
        for label in accepted:
            if label not in shown:
                raise ValueError(
                    f"accepted: label {label!r} is not in shown; use learn for labels that the "
                    "user added"
                )
        with self._lock:
            for label in shown:
                if label not in self.learner.labels.number:
                    raise ValueError(f"shown: {label!r} is not a label of this tagger")
            if shows_lists(self.learner):
                reading = self.features.look(item)
                self.learner.feedback_one(reading.pairs(), shown, accepted)
                self.features.learn(reading)
                right = [self.learner.labels.number[label] for label in accepted]
                self.history.note(len(self.learner.labels), right)
                return self
            unknown = [label for label in self.labels if label not in shown]
            self.watch(item, accepted, unknown, judged=not filed)
            if filed:
                for label in shown:
                    if label not in accepted:
                        self.count_mistake(label)
            return self

    def correct(
        self,
        item: AnyItem,
        labels: object,
        was: object,
        unknown: Collection[Hashable] = (),
    ) -> Self:
        """Learn the right labels of an item that was learnt with wrong labels.

        The learner learns the item again, with the right labels. The label counts are then as if
        the item had been learnt with the right labels only.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        labels : label or collection of labels
            The right labels.
        was : label or collection of labels
            The wrong labels.
        unknown : collection of labels
            Labels of unknown relevance.
        """
        with self._lock:
            before = self.learner.labels.encode_one(was)
            if before[2]:
                raise ValueError(f"was: {before[2][0]!r} is not a label of this tagger")
            found = self.watch(item, labels, unknown, judged=False)
            self.history.recount(len(self.learner.labels), before[0], found.relevant)
        return self

    def rename_label(self, old: Hashable, new: Hashable) -> Self:
        """Change the name of a label. The weights do not change.

        Parameters
        ----------
        old, new : label
            The present name and the new name.
        """
        with self._lock:
            self._online().rename_label(old, new)
            self._targets.rename(old, new)
        return self

    def forget_label(self, label: Hashable) -> Self:
        """Remove a label and its weights. The certificate restarts.

        Parameters
        ----------
        label : label
            The label. If a later item has it, it is a new label.
        """
        with self._lock:
            number = self.learner.labels.number.get(label, -1)
            self._online().forget_labels([label])
            self.history.drop(number)
            self._targets.set(label, None)
        return self

    def merge_labels(self, labels: Iterable[Hashable], into: Hashable) -> Self:
        """Merge labels into one. The certificate restarts.

        Parameters
        ----------
        labels : collection of labels
            The labels to merge.
        into : label
            Name of the merged label. It may be one of them, or another existing label.
        """
        with self._lock:
            merged = [*labels, into]
            parts = self._online().merge_labels(merged[:-1], into)
            self.history.merge(parts)
            self._targets.merge(merged, into)
        return self

    def prune(self, features: int) -> SizeReport:
        """Remove the features with the shortest weight vectors. The certificate restarts.

        Parameters
        ----------
        features : int
            Number of features to keep.

        Returns
        -------
        SizeReport
            The size after pruning.
        """
        keep = parameters.integer(features, "features", 0)
        with self._lock:
            learner = self._online()
            found, lengths = learner.feature_lengths()
            lengths[found < 0] = np.inf  # always keep the constant feature
            if keep < len(found) - int((found < 0).sum()):
                kept = np.zeros(len(found), dtype=bool)
                kept[np.argsort(-lengths, kind="stable")[: keep + int((found < 0).sum())]] = True
                learner.keep_features(kept)
                if learner.own_feature_names(found) is None:
                    self.features.forget_names(found[~kept])
            return self.size()

    def compact(self, dropped_share: float = DROPPED_SHARE) -> "Tagger":
        """Return a compact copy for predictions only: it suggests and explains, but does not learn.

        It has the labels, the words and the confidence of this tagger, but no notes. Its scores
        differ a little from those of this tagger.

        Parameters
        ----------
        dropped_share : float
            How much of the weights may be dropped: see `tagalong.online.compact.DROPPED_SHARE`.
        """
        with self._lock:
            learner = compact_ranker(self.learner, dropped_share)
            header, arrays = self._parts_without_learner()
            packed, weights = model_files.pack(learner)
            arrays |= {f"learner/{name}": array for name, array in weights.items()}
            copy: Tagger = Tagger.from_parts({**header, "notes": {}, "learner": packed}, arrays)
            return copy

    def save(self, path: str | os.PathLike[str], *, private: bool = False) -> None:
        """Save the tagger to a file; `tagalong.load` loads it.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced after the new one is complete, and keeps its
            mode; a symbolic link stays a link.
        private : bool, default False
            Whether a new file is readable by its owner only. Otherwise the umask decides.
        """
        model_files.save(self, path, private=private)  # only its copy of the parts needs the lock

    def model_hash(self) -> str:
        """Return the SHA-256 of everything that decides suggestions and learning.

        See `tagalong.model_hash`. Notes and the stored names of words have no part in it.
        """
        return model_hash(self)  # only its copy of the parts needs the lock

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a model file."""
        with self._lock:
            learner, weights = model_files.pack(self.learner)
            header, arrays = self._parts_without_learner()
        arrays |= {f"learner/{name}": array for name, array in weights.items()}
        return {"learner": learner, **header}, arrays

    def _parts_without_learner(self) -> tuple[dict[str, Any], model_files.Arrays]:
        features, feature_arrays = model_files.pack(self.features)
        header = {
            "features": features,
            "notes": self.notes,
            "history": self.history.to_json(),
            "audit": self._audit.to_json(),
            "min_precision": self._targets.to_json(),
        }
        return header, {f"features/{name}": array for name, array in feature_arrays.items()}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the tagger that ``to_parts`` describes.

        Parameters
        ----------
        header : dict
            Values for JSON.
        arrays : dict
            Arrays by name.
        """

        def part(name: str) -> Any:
            part_arrays = {
                key.removeprefix(f"{name}/"): array
                for key, array in arrays.items()
                if key.startswith(f"{name}/")
            }
            return model_files.unpack(header[name], part_arrays)

        self = cls(learner=part("learner"), features=part("features"))
        if self.learner.task != "documents" and is_online(self.learner):
            declared, buckets = self.learner.n_features, self.features.buckets
            if declared is not None and buckets is not None and buckets > declared:
                raise ValueError(f"its text has {buckets} features, its learner {declared}")
            # ValueError if it knows features by name instead of by number.
            self.learner.check_example((np.zeros(1, np.int32), np.ones(1)), ())
        if not isinstance(header["notes"], dict):
            raise ValueError(f"notes must be an object, got {header['notes']!r}")
        self.notes = header["notes"]
        self.history = LabelHistory(**header["history"])
        self._audit = Audit(**header["audit"])
        self._targets = LabelTargets.from_json(header["min_precision"])
        if len(self.history) != len(self.labels):
            raise ValueError(
                f"the tagger has {len(self.labels)} labels, but its history has {len(self.history)}"
            )
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = fork_safe_lock()

    def __repr__(self) -> str:
        return f"Tagger(learner={self.learner!r}, features={self.features!r})"
