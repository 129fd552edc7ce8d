"""Grades of items that arrive one at a time: P2's ordinal regression with growing features."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import labels_may_grow
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.input_types import Classes, MatrixLike, TargetsLike
from tagalong.learning.labels import Labels, Targets, label_list
from tagalong.online.blocks.projection import DEFAULT_BLOCK_MARGIN, checked_block_update
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.label_ranker.learner import LARGEST_BUDGET, LARGEST_CONSTANT
from tagalong.online.native import new_native

__all__ = ["GradeRanker"]

MOST_GRADES = 1000
_PYTHON_ONLY = ("grades", "geometry", "n_features")


class GradeRanker(CutoffRanker):
    r"""Ranks grades: ordered classes, such as one to five stars, of items one at a time.

    It is the algorithm of `OrdinalRanker` for streams, with the interface of the label rankers: in
    a `Tagger` and on the command line. The model has a weight vector :math:`w` and a threshold
    between each grade and the next. The score of a grade is the distance of
    :math:`\langle w, x\rangle` to the nearer threshold of the grade, negative outside of them.

    Parameters
    ----------
    grades : sequence of labels
        All grades, from the lowest to the highest. None means ``classes`` of the first call of
        ``partial_fit``, or the sorted grades of ``fit``; items one at a time need it.
    update : str, default "simproj"
        As for `BlockProjection`.
    C : float, default 0.1
        The budget of an item: an upper bound on its step.
    margin : float, optional
        The distance that scores should have from the thresholds. None means 1.
    scaled : bool, default True
        Whether features that at least a quarter of the items have are standardised: their mean so
        far is subtracted, the difference divided by their deviation and clipped to 4. Rarer
        features, such as words, are used as they are.
    passes : int, default 1
        The number of passes of ``fit`` over the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features of x, to fix it before the first example.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The grades, from the lowest to the highest.
    coef_ : array of shape (n,)
        The weight vector, for scaled features.
    thresholds_ : array of shape (k - 1,)
        The thresholds used for predictions, sorted.
    raw_thresholds_ : array of shape (k - 1,)
        The thresholds as learnt. They may be out of order if the data barely separate two grades.
    certificate_ : Certificate
        Rounds, mistakes (items with a score on the wrong side of a threshold, or on it), loss and
        dual value so far, and the mistake bound if one is proven. Each round counts with the
        features as they were scaled at the time.
    cutoff_ : float
        The learnt threshold on the scores of grades. ``predict`` does not use it.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    Every item has exactly one grade. Of grades with equal scores the lowest is predicted.

    References
    ----------
    .. [1] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
       Simultaneous Projections. JMLR 2008.

    Examples
    --------
    >>> from tagalong import GradeRanker, Tagger
    >>> tagger = Tagger(GradeRanker(grades=["poor", "fair", "good"]))
    >>> for text, grade in [("broken and late", "poor"), ("late", "fair"), ("lovely", "good")] * 9:
    ...     _ = tagger.learn(text, [grade])
    >>> [suggestion.label for suggestion in tagger.suggest("late, but lovely")]
    ['good', 'fair', 'poor']
    """

    _native: core.GradeRanker32 | core.GradeRanker64

    def __init__(
        self,
        grades: Sequence[Hashable] | None = None,
        update: str = "simproj",
        C: float = 0.1,
        margin: float | None = None,
        scaled: bool = True,
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
    ):
        self.grades = grades
        self.update = update
        self.C = C
        self.margin = margin
        self.scaled = scaled
        self.passes = passes
        self.n_features = n_features
        self.dtype = dtype

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: True."""
        return True

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: True."""
        return True

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the rounds so far: counts, losses and the proven bound."""
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings, self._restart_reason)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights of the scaled features, (n,)."""
        self._require_start("coef_")
        found = self._native.weights()
        columns = max(self._settings["n_features"], getattr(self, "n_features_in_", 0))
        out = np.zeros(max(columns, int(found.features.max(initial=-1)) + 1), found.weights.dtype)
        out[found.features] = found.weights
        return out

    @property
    def raw_thresholds_(self) -> npt.NDArray[np.float64]:
        """The thresholds as learnt, (k - 1,)."""
        self._require_start("raw_thresholds_")
        return self._native.thresholds()

    @property
    def thresholds_(self) -> npt.NDArray[np.float64]:
        """The thresholds used for predictions, (k - 1,), sorted."""
        self._require_start("thresholds_")
        return np.sort(self._native.thresholds())

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the grade of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, _ = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def forget_labels(self, labels: Sequence[Hashable]) -> None:
        """Raise ValueError: grades are declared once.

        Parameters
        ----------
        labels : collection of labels
            The grades to remove.
        """
        for label in labels:
            self._number(label)
        raise ValueError("grades cannot be forgotten: make a new model with other grades")

    def merge_labels(self, labels: Sequence[Hashable], into: Hashable) -> list[int]:
        """Raise ValueError: grades are declared once.

        Parameters
        ----------
        labels : collection of labels
            The grades to merge.
        into : label
            The name of the merged grade.
        """
        for label in labels:
            self._number(label)
        raise ValueError("grades cannot be merged: make a new model with other grades")

    # Hooks of the label rankers.

    def _checked_settings(self) -> Settings:
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        margin = DEFAULT_BLOCK_MARGIN["euclidean"] if self.margin is None else self.margin
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31 - MOST_GRADES)
        parameters.integer(self.passes, "passes", 1)
        if self.grades is not None:
            self._declared_grades()
        return {
            "update": checked_block_update(self.update, "euclidean"),
            "geometry": "euclidean",
            "C": parameters.positive(self.C, "C", LARGEST_BUDGET[dtype]),
            "margin": parameters.positive(margin, "margin", LARGEST_CONSTANT),
            "scaled": parameters.flag(self.scaled, "scaled"),
            "dtype": dtype,
        }

    def _declared_grades(self) -> list[Hashable]:
        if self.grades is None:
            raise ValueError("grades must be all grades from the lowest to the highest, got None")
        found = label_list(self.grades, "grades")
        if not 2 <= len(found) <= MOST_GRADES:
            raise ValueError(
                f"grades must be from 2 to {MOST_GRADES} grades, got {len(found)}: {self.grades!r}"
            )
        if len(set(found)) < len(found):
            raise ValueError(f"grades must be distinct, got {self.grades!r}")
        return found

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / float(settings["C"])

    def _make_native(self, settings: Settings) -> core.GradeRanker32 | core.GradeRanker64:
        return new_native((core.GradeRanker32, core.GradeRanker64), settings, _PYTHON_ONLY)

    def _initial_labels(self, Y: TargetsLike, classes: Classes, fitting: bool) -> Labels:
        if self.grades is None and not labels_may_grow(classes):
            return super()._initial_labels(Y, classes, fitting)
        grades = self._declared_grades()
        if classes is not None and not labels_may_grow(classes):
            given = label_list(classes, "classes")
            if given != grades:
                raise ValueError(f"classes is {given!r}, but grades is {grades!r}")
        return Labels(grades)

    def _growing_labels(self) -> Labels:
        return Labels(self._declared_grades())

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        if targets.new:
            raise ValueError(f"Y: {targets.new[0]!r} is not one of the grades {labels.names!r}")
        counts = np.diff(targets.relevant.indptr)
        wrong = (counts != 1) | (np.diff(targets.unknown.indptr) > 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"Y: row {row} has {counts[row]} grades; a row has exactly one")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        # scikit-learn's checks use three clusters without an order. One weight vector cannot reach
        # the accuracy that they require.
        tags.classifier_tags.poor_score = True
        return tags

    # Files.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        header, arrays = super().to_parts()
        grades = None
        if self.grades is not None:
            grades = [model_files.encode_label(grade) for grade in self.grades]
        return {**header, "params": {**self.get_params(), "grades": grades}}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        grades = header["params"]["grades"]
        if grades is not None:
            grades = tuple(map(model_files.decode_label, grades))
        return super().from_parts(
            {**header, "params": {**header["params"], "grades": grades}}, arrays
        )
