"""Base class of the learners behind `Predtron`: settings, engine, certificate, weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.input_types import SampleWeight
from tagalong.norms.protocol import norm_to_json
from tagalong.online.label_ranker.learner import LARGEST_BUDGET
from tagalong.online.native import NativePredtron
from tagalong.online.native_learner import NativeLearner, Settings
from tagalong.online.predtron.python_engine import PythonEngine
from tagalong.online.predtron.settings import PredtronParameters, checked_settings
from tagalong.online.weights import without_constant_feature
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.multilabel import Multilabel
from tagalong.problems.registry import as_problem, problem_from_json, problem_to_json

__all__ = ["PredtronBase", "header_with_problems", "params_to_json", "weighted_mean"]


class PredtronBase(PredtronParameters, NativeLearner):
    """Base class of the learners behind `Predtron`, one per kind of problem.

    A subclass makes the engine, `core.Predtron32`, `core.Predtron64` or `PythonEngine`, and
    defines the targets and the predictions.
    """

    _native: NativePredtron | PythonEngine

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        # scikit-learn's messages name the estimator's class; users know only `Predtron`.
        cls.__name__ = "Predtron"

    @property
    def current_problem(self) -> Any:
        """The problem; after the start, the problem that the learner started with."""
        return self._settings["problem"] if self.is_started else as_problem(self.problem)

    @property
    def certificate_(self) -> LossCertificate:
        """The certificate of the rounds so far: counts, losses and the proven bound."""
        self._require_start("certificate_")
        problem = self.current_problem
        if isinstance(problem, BuiltinProblem) and problem.dimension is None:  # type: ignore[attr-defined]
            problem = problem.sized(max(1, self._native.labels))
        separable = not (isinstance(problem, Multilabel) and problem.loss_name == "error_set")
        settings = dict(self._settings)
        if settings["norm"] == "kernel":
            settings["norm"] = settings["kernel"]
        return LossCertificate.of(
            self._native.certificate(),
            settings,
            float(problem.most_loss),
            separable,
            self._restart_reason,
        )

    def _make_native(self, settings: Settings) -> NativePredtron | PythonEngine:
        """Return a new engine."""
        raise NotImplementedError

    def _params_with(self, settings: Settings) -> dict[str, Any]:
        by_kernel = settings["norm"] == "kernel"
        return {
            **super()._params_with(settings),
            "norm": settings["geometry"],
            "kernel": settings["kernel"] if by_kernel else None,
            "budget": settings["budget"] or None,
            "step": settings["step"] or None,
        }

    def _checked_settings(self) -> Settings:
        return checked_settings(self)

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        if settings["norm"] in ("l1", "group", "trace", "custom") and not features:
            raise ValueError(
                f"norm={settings['geometry']!r} needs the number of features: give n_features, or "
                "start with a matrix"
            )

    def _require_editable_weights(self) -> None:
        if self._settings["norm"] in ("kernel", "trace", "custom"):
            raise ValueError(
                "with a kernel, norm='trace' or a custom norm, weights can only be changed by "
                "learning: labels cannot be forgotten or merged, and features cannot be pruned"
            )

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / max(1.0, float(settings.get("step", 0.0)))

    def _coefficients(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Return the features that have weights, and the weights, (features, scores)."""
        self._require_start("coef_")
        if self._settings["norm"] == "kernel":
            raise AttributeError(
                f"kernel={self._settings['kernel']!r} has support examples instead of weights, so "
                "there is no coef_"
            )
        return without_constant_feature(self._native.weights())

    def _header_problems(self) -> dict[str, Any]:
        """Return the header's parameters and settings; ValueError if they contain code."""
        settings = {
            **self._settings,
            "problem": problem_to_json(self._settings["problem"]),
            "geometry": norm_to_json(self._settings["geometry"]),
        }
        return {"params": params_to_json(self), "settings": settings}


def params_to_json(learner: PredtronParameters) -> dict[str, Any]:
    """Return the parameters of a learner as JSON values; ValueError if they contain code."""
    return {
        **learner.get_params(deep=False),
        "problem": problem_to_json(learner.problem),
        "norm": norm_to_json(learner.norm),
    }


def weighted_mean(values: Sequence[float], sample_weight: SampleWeight) -> float:
    """Return the mean of values, weighted unless ``sample_weight`` is None."""
    weights = None if sample_weight is None else np.asarray(sample_weight)
    return float(np.average(values, weights=weights))


def header_with_problems(header: dict[str, Any]) -> dict[str, Any]:
    """Return a model file's header with problem objects in place of their JSON form."""
    params, settings = header["params"], header["settings"]
    given, current = (problem_from_json(part["problem"]) for part in (params, settings))
    return {
        **header,
        "params": {**params, "problem": given},
        "settings": {**settings, "problem": as_problem(current)},
    }
