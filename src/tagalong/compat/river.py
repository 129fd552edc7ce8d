"""The learners as River classifiers: dicts of features in, dicts of labels out.

River is an optional extra: ``pip install 'tagalong[river]'``.
"""

import math
import numbers
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import clone as unlearnt

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
    """What both classifiers share: a learner, which lives in the parameter itself.

    So a learner that has learnt goes on from there, and ``model.learner.save(path)`` keeps what
    River has taught it. A clone begins anew, as River expects.
    """

    def __init__(self, learner: OnlineRanker | Predtron | None = None):
        if learner is None:
            learner = LabelRanker()
        if not isinstance(learner, (OnlineRanker, Predtron)):
            raise ValueError(f"learner must be a LabelRanker or None, got {learner!r}")
        self.learner = learner

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return a model with the same parameters that has learnt nothing.

        Parameters
        ----------
        new_params : dict, optional
            Another learner, as it is.
        include_attributes : bool
            Whether to copy what was learnt too.
        """
        params = dict(new_params or {})
        # Models that hold this one pass its own parameters on.
        if params.get("learner", self.learner) is self.learner and not include_attributes:
            params["learner"] = unlearnt(self.learner)
        copy: Self = super().clone(params, include_attributes)
        return copy

    def rank_one(self, x: Mapping[Hashable, Any], k: int | None = None) -> list[Any]:
        """Return the k best labels for an example, or all of them, best first.

        Parameters
        ----------
        x : dict
            Features.
        k : int, optional
            How many; all of them by default.
        """
        return self.learner.rank_one(_features(x), k)

    @property
    def _raw_memory_usage(self) -> int:
        # River cannot see into the native learner.
        own = self.learner.bytes_of_weights if self.learner.is_started else 0
        return int(super()._raw_memory_usage) + own

    def _labels(self) -> list[Hashable]:
        return list(self.learner.labels.names)

    def _learn(
        self, x: Mapping[Hashable, Any], y: Mapping[Hashable, bool | None], rest: bool, w: float
    ) -> None:
        """Learn labels that are relevant, irrelevant or (None) unknown.

        Labels that `y` does not name are irrelevant if `rest` is True, else unknown.
        """
        features = _features(x)
        learner = self.learner
        if w == 0:
            return
        w = parameters.positive(w, "w", learner.largest_weight)
        known = self._labels()
        relevant = [label for label, given in y.items() if given]
        unknown = [label for label, given in y.items() if given is None]
        if not rest:
            unknown += [label for label in known if label not in y]
        already = set(known)
        new = [label for label in y if label not in already]
        with restored_on_error(learner):
            if new:
                learner.start()
                # Before labels are added, which cannot be undone.
                learner.check_example(features, new)
                # Labels that a learner is not told about are irrelevant: it must know them all.
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
        What learns; one with default parameters if left out. One that has learnt already goes on
        from there; features that it knows must have come by name.

    Notes
    -----
    Labels and features may appear at any time. A label that is absent from ``y`` (or None) is of
    *unknown* relevance: it takes part in no comparison. Labels that are known to be irrelevant
    are False. Numbers and bools are features as they are, a string is a feature by its name and
    value ("colour=red"), None is missing.

    The certificate, ranking and model files are the learner's: ``model.learner.certificate_``,
    ``model.rank_one(x)``, ``model.learner.save(path)``.

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
    MicroAverage(F1): 94.74%
    >>> model.rank_one({"from": "shop"})
    ['bills', 'family']
    """

    def learn_one(
        self, x: Mapping[Hashable, Any], y: Mapping[Hashable, bool | None], w: float = 1.0
    ) -> None:
        """Learn one example.

        Parameters
        ----------
        x : dict
            Features.
        y : dict
            Labels: True if relevant, False if not, None or absent if that is not known.
        w : float
            Weight of the example; 0 passes over it.
        """
        self._learn(x, _relevance(y), rest=False, w=w)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, bool]:
        """Return for each label whether it scores at least the learnt cut-off.

        Labels that were never met are False, too.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            There for River.
        """
        scores, cutoff = self.learner.score_one(_features(x))
        chosen = (scores >= cutoff).tolist()
        # River's metrics ask for the labels of the answer, which may be new.
        return defaultdict(bool, zip(self._labels(), chosen, strict=False))

    def predict_proba_one(
        self, x: Mapping[Hashable, Any], **kwargs: Any
    ) -> dict[Any, dict[bool, float]]:
        """Return for each label how likely it is irrelevant (False) and relevant (True).

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            There for River.
        """
        scores, _ = self.learner.score_one(_features(x))
        likely = self.learner.probabilities(scores).tolist()
        return {
            label: {False: 1 - p, True: p} for label, p in zip(self._labels(), likely, strict=False)
        }


class MulticlassRanker(_Adapter, Classifier):
    """A learner as a River classifier: one label an example, two or more in all.

    Parameters
    ----------
    learner : LabelRanker, optional
        What learns; one with default parameters if left out. One that has learnt already goes on
        from there; features that it knows must have come by name.

    Notes
    -----
    Features and labels are as in `MultiLabelRanker`; labels other than ``y`` are irrelevant.

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

    def learn_one(self, x: Mapping[Hashable, Any], y: Hashable, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x : dict
            Features.
        y : label
            The right one.
        w : float
            Weight of the example; 0 passes over it.
        """
        self._learn(x, {y: True}, rest=True, w=w)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """Return the best label, or None before there is any.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            There for River.
        """
        best = self.rank_one(x, 1)
        return best[0] if best else None

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return how likely each label is: their probabilities of being relevant, made to sum to 1.

        Parameters
        ----------
        x : dict
            Features.
        kwargs : ignored
            There for River.
        """
        scores, _ = self.learner.score_one(_features(x))
        likely = self.learner.probabilities(scores)
        total = likely.sum()
        shares = likely / total if total > 0 else np.full(len(likely), 1 / max(1, len(likely)))
        return dict(zip(self._labels(), shares.tolist(), strict=False))

    @property
    def _multiclass(self) -> bool:
        return True


def _features(x: Mapping[Hashable, Any]) -> dict[str, float]:
    """Return features by name, in the order of their names, so that the order of x is no matter."""
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
            raise ValueError(f"x: two features are called {name!r}")
        out[name] = number
    return dict(sorted(out.items()))


def _relevance(y: Mapping[Hashable, Any]) -> dict[Hashable, bool | None]:
    if not isinstance(y, Mapping):
        raise ValueError(f"y must be a mapping of labels to True, False or None, got {y!r}")
    for label, given in y.items():
        if given is not None and not (isinstance(given, (bool, np.bool_)) or given in (0, 1)):
            raise ValueError(f"y: label {label!r} is {given!r}; it must be True, False or None")
    return {label: None if given is None else bool(given) for label, given in y.items()}
