"""The learners that the contract tests cover, each in several configurations.

To add a learner, add a line to `LEARNERS`: how to construct it, and its capabilities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker
from tagalong.losses import ExponentialLoss
from tagalong.losses.table import TabulatedLoss, tabulated
from tagalong.problems import LabelRanking, Multilabel
from tests.contract.stream import N_FEATURES
from tests.online.custom_features import Affinity, Kesler

LEARN_ONE = "learn_one"  # learn_one and rank_one
GROW = "grow"  # new labels at any time
SINGLE = "single"  # one label per row
RANK = "rank"  # rank, decision_function, predict
SHARED = "shared"  # one thread may learn while others predict
ROWS = "rows"  # a feature gets its row of weights at its first update
PROTOTYPES = "prototypes"  # one weight vector per label
RACE = "race"  # several learners compete, so that coef_ is approximate
CUTOFF = "cutoff"  # predicts the labels that score at least the cut-off

# A file has a loss as a table, which is then the parameter of the loaded model.
EXPONENTIAL = TabulatedLoss(1.0, tabulated(ExponentialLoss(), 1.0))

PARTIAL_RANKER = frozenset({LEARN_ONE, GROW, SINGLE, RANK, SHARED})
PARTIAL_PROTOTYPES = PARTIAL_RANKER | {PROTOTYPES}
SHARED_RANKER = PARTIAL_RANKER | {CUTOFF}
LABEL_RANKER = SHARED_RANKER | {ROWS, PROTOTYPES}
LABEL_RACE = SHARED_RANKER | {RACE}


@dataclass(frozen=True)
class LearnerCase:
    """A configuration of a learner, with its constructor and its capabilities."""

    name: str
    make: Callable[[], Any]
    capabilities: frozenset[str]


def label_ranker(name: str, **parameters: Any) -> LearnerCase:
    """Return a LabelRanker's configuration.

    The entropic geometry sets n_features: its result depends on the number of features, which
    otherwise differs between forms of the examples.
    """
    if parameters.get("geometry") == "entropic":
        parameters["n_features"] = N_FEATURES
    return LearnerCase(f"ranker-{name}", partial(LabelRanker, **parameters), LABEL_RANKER)


def label_race(name: str, **parameters: Any) -> LearnerCase:
    """Return the configuration of a LabelRanker with several contestants."""
    return LearnerCase(f"race-{name}", partial(LabelRanker, **parameters), LABEL_RACE)


def shared_ranker(name: str, **parameters: Any) -> LearnerCase:
    """Return a SharedLabelRanker's configuration; n_features as for a LabelRanker."""
    if parameters.get("geometry") == "entropic":
        parameters["n_features"] = N_FEATURES
    return LearnerCase(f"shared-{name}", partial(SharedLabelRanker, **parameters), SHARED_RANKER)


def partial_ranker(name: str, **parameters: Any) -> LearnerCase:
    """Return a PartialFeedbackRanker's configuration; its widths depend on n_features."""
    capabilities = (
        PARTIAL_RANKER if parameters.get("covariance") == "kernel" else PARTIAL_PROTOTYPES
    )
    parameters = {"n_features": N_FEATURES, "max_labels": 4, "exploration": 0.1, **parameters}
    return LearnerCase(
        f"partial-{name}", partial(PartialFeedbackRanker, **parameters), capabilities
    )


def predtron(name: str, problem: Any, **parameters: Any) -> LearnerCase:
    """Return a Predtron's configuration.

    A norm other than l2 has a link function, which needs n_features before the first label. A
    Multilabel problem also learns from rows with all labels or none; a LabelRanking does not.
    """
    capabilities = SHARED_RANKER
    if "norm" in parameters:
        parameters["n_features"] = N_FEATURES
        capabilities = capabilities - {GROW}
    elif isinstance(problem, LabelRanking) and "kernel" not in parameters:
        capabilities = capabilities | {ROWS} if parameters.get("average") else LABEL_RANKER
    return LearnerCase(f"predtron-{name}", partial(Predtron, problem, **parameters), capabilities)


LEARNERS = [
    label_race("default"),
    label_race("float64", dtype="float64"),
    label_race("names", race=["idf", "largest", "one-vs-rest-unit", "bayes-idf"]),
    label_race("without-relevance", relevance=False),
    label_race("without-probability", probability=False),
    label_ranker("one-learner", race=None),
    label_ranker("euclidean-fixed", geometry="euclidean", update="fixed", C=0.5),
    label_ranker("euclidean-single", geometry="euclidean", update="single", average=False),
    label_ranker("adaptive-optimal-averaged", update="optimal", average=True),
    label_ranker("interior-point", update="optimal", solver="interior-point", dtype="float64"),
    label_ranker("entropic-optimal", geometry="entropic", update="optimal", average=False),
    label_ranker("entropic-smooth-float64", geometry="entropic", dtype="float64"),
    label_ranker("simproj-float64", geometry="euclidean", update="simproj", dtype="float64"),
    label_ranker("simopt", update="simopt", average=False),
    label_ranker("relevance", relevance=True, race=None),
    label_ranker("relevance-few-labels", relevance=True, update="single", dtype="float64"),
    label_ranker("working-set", working_set=True, race=None),
    label_ranker("working-set-euclidean", working_set=True, geometry="euclidean", dtype="float64"),
    label_ranker("plain-rows", normalize=False, constant=0, update="conproj"),
    shared_ranker("default"),
    shared_ranker("max-float64", update="max", dtype="float64"),
    shared_ranker("optimal", update="optimal", C=3.0),
    shared_ranker("entropic-simproj", geometry="entropic"),
    shared_ranker("own-that-learn", features=Affinity(), update="max"),
    shared_ranker("own-entropic", features=Kesler(), geometry="entropic", update="max"),
    partial_ranker("default", max_labels=None, exploration=1.0),
    partial_ranker("full-float32", loss="logistic", radius=2.0, dtype="float32"),
    partial_ranker("diagonal", covariance="diagonal", max_explore=2),
    partial_ranker("kernel", covariance="kernel"),
    partial_ranker("exponential-ranking", loss=EXPONENTIAL, miss_weight=1.0),
    predtron("ranking", LabelRanking(), step=1.0),
    predtron("ranking-averaged-float64", LabelRanking("-i^2"), average=True, dtype="float64"),
    predtron("hamming-l1", Multilabel(), norm="l1", step=0.1),
    predtron("subset-group", Multilabel("subset"), norm="group", constant=0.5, normalize=True),
    predtron("kernel", LabelRanking("1/i"), kernel="rbf", budget=20, average=True),
    predtron("trace", LabelRanking(), norm="trace", dtype="float64"),
]


LONG_RUN_ONLY = {
    "race-names",
    "race-without-relevance",
    "race-without-probability",
    "ranker-euclidean-fixed",
    "ranker-interior-point",
    "ranker-entropic-smooth-float64",
    "ranker-simopt",
    "ranker-plain-rows",
    "shared-max-float64",
    "shared-optimal",
    "shared-own-entropic",
    "partial-full-float32",
    "predtron-ranking-averaged-float64",
    "predtron-subset-group",
}
"""Configurations similar to another one: only `make test-long` runs them."""


def marks_for(learner: LearnerCase) -> list[pytest.MarkDecorator]:
    """Return the pytest marks of a learner's tests."""
    return [pytest.mark.long] if learner.name in LONG_RUN_ONLY else []


def for_learners_with(*needs: str, among: list[LearnerCase] = LEARNERS) -> pytest.MarkDecorator:
    """Run a test for every learner that has all of these capabilities."""
    cases = [
        pytest.param(learner, id=learner.name, marks=marks_for(learner))
        for learner in among
        if learner.capabilities.issuperset(needs)
    ]
    return pytest.mark.parametrize("learner", cases)
