"""The learners as River classifiers.

River is an optional dependency: ``pip install 'tagalong[river]'``.
"""

import math
import numbers
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import clone as unfitted_clone

from tagalong import parameters
from tagalong.learning.estimators import restored_on_error
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.online.predtron.learner import Predtron
from tagalong.online.ranker import OnlineRanker

try:
    from river.base import Classifier, Estimator, MultiLabelClassifier
except ImportError as error:
    raise ImportError(
        "tagalong.compat.river needs River, which is not installed: pip install 'tagalong[river]'"
    ) from error

__all__ = ["MultiLabelRanker", "MulticlassRanker"]


class _Adapter(Estimator):
    """Base class of both classifiers. The given ``learner`` object is trained, not a copy.

    Therefore a fitted learner continues to learn, and ``model.learner.save(path)`` saves everything
    learnt through River. A clone is unfitted, as River expects.
    """

    def __init__(self, learner: OnlineRanker | Predtron | None = None):
        if learner is None:
            learner = LabelRanker()
        if not isinstance(learner, (OnlineRanker, Predtron)):
            raise ValueError(
                f"learner must be an online ranker such as LabelRanker, or None, got {learner!r}"
            )
        self.learner = learner

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return an unfitted model with the same parameters.

        Parameters
        ----------
        new_params : dict, optional
            New parameters; a new learner is used without a copy.
        include_attributes : bool
            Whether to copy the fitted state too.
        """
        params = dict(new_params or {})
        # River models that contain this one pass its current parameters as new ones.
        if params.get("learner", self.learner) is self.learner and not include_attributes:
            params["learner"] = unfitted_clone(self.learner)
        copy: Self = super().clone(params, include_attributes)
        return copy

    def rank_one(self, x: Mapping[Hashable, object], k: int | None = None) -> list[Any]:
        """Return the k labels with the highest scores for an example, best first.

        Parameters
        ----------
        x : dict
            Features.
        k : int, optional
            Number of labels; all by default.
        """
        return self.learner.rank_one(_features(x), k)

    @property
    def _raw_memory_usage(self) -> int:
        # River cannot measure the memory of the native learner.
        native_bytes = self.learner.bytes_of_weights if self.learner.is_started else 0
        return int(super()._raw_memory_usage) + native_bytes

    def _labels(self) -> list[Hashable]:
        return list(self.learner.labels.names)

    def _chances(self, x: Mapping[Hashable, object]) -> dict[Hashable, float]:
        """Return the probability that each label is right."""
        labels = self._labels()
        if not labels:
            return {}
        found = self.learner.places_one(_features(x)).probability_matrix(len(labels))
        return dict(zip(labels, found[0].tolist(), strict=True))

    def _learn(
        self,
        x: Mapping[Hashable, object],
        y: Mapping[Hashable, bool | None],
        rest_irrelevant: bool,
        w: float,
    ) -> None:
        """Learn an example whose labels are relevant (True), irrelevant (False) or unknown (None).

        Labels that are not in `y` are irrelevant if `rest_irrelevant`, otherwise unknown.
        """
        features = _features(x)
        learner = self.learner
        if w == 0:
            return
        w = parameters.positive(w, "w", learner.largest_weight)
        known = self._labels()
        relevant = [label for label, given in y.items() if given]
        unknown = [label for label, given in y.items() if given is None]
        if not rest_irrelevant:
            unknown += [label for label in known if label not in y]
        already = set(known)
        new = [label for label in y if label not in already]
        with restored_on_error(learner):
            if new:
                learner.start()
                # Check first, because added labels cannot be removed again.
                learner.check_example(features, new)
                # The learner treats unmentioned labels as irrelevant, so it must know all labels.
                learner.add_labels(new)
            if w == 1:
                learner.learn_one(features, relevant, unknown)
            else:
                learner.watch_one(features, relevant, unknown, w)


class MultiLabelRanker(_Adapter, MultiLabelClassifier):
    """A learner as a River multi-label classifier.

    Parameters
    ----------
    learner : LabelRanker, optional
        The learner; by default a `LabelRanker` with default parameters. A fitted learner
        continues to learn; it must have learnt features by name, not from a matrix.

    Notes
    -----
    Labels and features may appear at any time. A label that is absent from ``y``, or None, has
    *unknown* relevance and is ignored in this example. A label that is known to be irrelevant is
    False. Numbers and bools are feature values. A string is a category: the feature "colour=red"
    has the value 1. None means that a value is missing.

    The learner provides the certificate, the ranking and the model file:
    ``model.learner.certificate_``, ``model.rank_one(x)``, ``model.learner.save(path)``.

    Examples
    --------
    >>> from river import metrics
    >>> from tagalong.compat.river import MultiLabelRanker
    >>> model = MultiLabelRanker()
    >>> metric = metrics.multioutput.MicroAverage(metrics.F1())
    >>> stream = [
    ...     ({"from": "shop", "invoice": 1}, {"bills": True, "family": False}),
    ...     ({"from": "mother", "photo": 2}, {"bills": False, "family": True}),
    ... ]
    >>> for x, y in stream * 10:
    ...     metric.update(y, model.predict_one(x))
    ...     model.learn_one(x, y)
    >>> metric
    MicroAverage(F1): 78.79%
    >>> model.rank_one({"from": "shop"})
    ['bills', 'family']
    """

    def learn_one(
        self, x: Mapping[Hashable, object], y: Mapping[Hashable, bool | None], w: float = 1.0
    ) -> None:
        """Learn one example.

        Parameters
        ----------
        x : dict
            Features.
        y : dict
            Labels: True if relevant, False if irrelevant, None or absent if unknown.
        w : float
            Weight of the example; an example of weight 0 is ignored.
        """
        self._learn(x, _relevance(y), rest_irrelevant=False, w=w)

    def predict_one(self, x: Mapping[Hashable, object], **kwargs: object) -> dict[Any, bool]:
        """Return for each label whether it scores at least the learnt cut-off.

        Labels that the learner does not know are False.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            For River's interface.
        """
        scores, cutoff = self.learner.score_one(_features(x))
        chosen = (scores >= cutoff).tolist()
        # River's metrics look up the labels of y, which the learner may not know.
        return defaultdict(bool, zip(self._labels(), chosen, strict=False))

    def predict_proba_one(
        self, x: Mapping[Hashable, object], **kwargs: object
    ) -> dict[Any, dict[bool, float]]:
        """Return for each label the probability to be irrelevant (False) and relevant (True).

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            For River's interface.
        """
        return {label: {False: 1 - p, True: p} for label, p in self._chances(x).items()}


class MulticlassRanker(_Adapter, Classifier):
    """A learner as a River classifier, with one label per example out of two or more.

    Parameters
    ----------
    learner : LabelRanker, optional
        The learner; by default a `LabelRanker` with default parameters. A fitted learner
        continues to learn; it must have learnt features by name, not from a matrix.

    Notes
    -----
    Features are as in `MultiLabelRanker`. All labels other than ``y`` are irrelevant.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from tagalong.compat.river import MulticlassRanker
    >>> model = preprocessing.StandardScaler() | MulticlassRanker()
    >>> stream = datasets.ImageSegments().take(500)
    >>> accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    >>> round(accuracy.get(), 1)
    0.8
    """

    def learn_one(self, x: Mapping[Hashable, object], y: Hashable, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x : dict
            Features.
        y : label
            The label of the example.
        w : float
            Weight of the example; an example of weight 0 is ignored.
        """
        self._learn(x, {y: True}, rest_irrelevant=True, w=w)

    def predict_one(self, x: Mapping[Hashable, object], **kwargs: object) -> Any:
        """Return the label with the highest score; None if there are no labels yet.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            For River's interface.
        """
        best = self.rank_one(x, 1)
        return best[0] if best else None

    def predict_proba_one(self, x: Mapping[Hashable, object], **kwargs: object) -> dict[Any, float]:
        """Return the probability of each label, scaled so that they sum to 1.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            For River's interface.
        """
        chances = self._chances(x)
        total = sum(chances.values())
        if not total > 0:
            return dict.fromkeys(chances, 1 / max(1, len(chances)))
        return {label: chance / total for label, chance in chances.items()}

    @property
    def _multiclass(self) -> bool:
        return True


def _features(x: Mapping[Hashable, object]) -> dict[str, float]:
    """Return features sorted by name, so that the order of x does not matter."""
    if not isinstance(x, Mapping):
        raise ValueError(f"x must be a mapping of features to values, got {x!r}")
    out: dict[str, float] = {}
    for given, value in x.items():
        if value is None:
            continue
        name = given if isinstance(given, str) else repr(given)
        number = 1.0
        if isinstance(value, str):
            name = f"{name}={value}"
        elif isinstance(value, (numbers.Real, np.bool_)) and math.isfinite(value):
            number = float(value)
        else:
            shown = "NaN" if value != value else repr(value)
            raise ValueError(
                f"x: feature {given!r} is {shown}; values must be finite numbers, bools, strings "
                "or None (missing)"
            )
        if name in out:
            raise ValueError(f"x: two features have the name {name!r}")
        out[name] = number
    return dict(sorted(out.items()))


def _relevance(y: Mapping[Hashable, object]) -> dict[Hashable, bool | None]:
    if not isinstance(y, Mapping):
        raise ValueError(f"y must be a mapping of labels to True, False or None, got {y!r}")
    for label, given in y.items():
        if given is not None and not (isinstance(given, (bool, np.bool_)) or given in (0, 1)):
            raise ValueError(f"y: label {label!r} is {given!r}; it must be True, False or None")
    return {label: None if given is None else bool(given) for label, given in y.items()}
