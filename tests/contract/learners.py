"""The learners that the contract holds for, each in several configurations.

A learner joins by a line here: how to make a new one, and what it offers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker
from tagalong.problems import LabelRanking, Multilabel
from tests.contract.stream import N_FEATURES
from tests.online.custom_features import Affinity, Kesler

LEARN_ONE = "learn_one"  # learn_one and rank_one
GROW = "grow"  # labels that appear at any time
SINGLE = "single"  # one label a row
RANK = "rank"  # rank, decision_function, predict
SHARED = "shared"  # one thread may learn while others predict
ROWS = "rows"  # weight rows that appear with the first update
PROTOTYPES = "prototypes"  # a weight vector a label
CUTOFF = "cutoff"  # one score from which labels are predicted

PARTIAL_RANKER = frozenset({LEARN_ONE, GROW, SINGLE, RANK, SHARED})
PARTIAL_PROTOTYPES = PARTIAL_RANKER | {PROTOTYPES}
SHARED_RANKER = PARTIAL_RANKER | {CUTOFF}
LABEL_RANKER = SHARED_RANKER | {ROWS, PROTOTYPES}


@dataclass(frozen=True)
class Learner:
    """A way to make a learner, and what every learner made so offers."""

    name: str
    make: Callable[[], Any]
    offers: frozenset[str]


def label_ranker(name: str, **parameters: Any) -> Learner:
    """A LabelRanker. Without n_features the entropic geometry depends on how examples come."""
    if parameters.get("geometry") == "entropic":
        parameters["n_features"] = N_FEATURES
    return Learner(f"ranker-{name}", partial(LabelRanker, **parameters), LABEL_RANKER)


def shared_ranker(name: str, **parameters: Any) -> Learner:
    """A SharedLabelRanker, likewise."""
    if parameters.get("geometry") == "entropic":
        parameters["n_features"] = N_FEATURES
    return Learner(f"shared-{name}", partial(SharedLabelRanker, **parameters), SHARED_RANKER)


def partial_ranker(name: str, **parameters: Any) -> Learner:
    """A PartialFeedbackRanker. Widths depend on the number of features."""
    offers = PARTIAL_RANKER if parameters.get("covariance") == "kernel" else PARTIAL_PROTOTYPES
    parameters = {"n_features": N_FEATURES, "max_labels": 4, "exploration": 0.1, **parameters}
    return Learner(f"partial-{name}", partial(PartialFeedbackRanker, **parameters), offers)


def predtron(name: str, problem: Any, **parameters: Any) -> Learner:
    """A Predtron. A link needs to know the number of features before the first label.

    Sets are learnt from rows with all labels and none, which rankings are not.
    """
    offers = SHARED_RANKER
    if "norm" in parameters:
        parameters["n_features"] = N_FEATURES
        offers = offers - {GROW}
    elif isinstance(problem, LabelRanking) and "kernel" not in parameters:
        offers = offers | {ROWS} if parameters.get("average") else LABEL_RANKER
    return Learner(f"predtron-{name}", partial(Predtron, problem, **parameters), offers)


LEARNERS = [
    label_ranker("default"),
    label_ranker("euclidean-fixed", geometry="euclidean", update="fixed", C=0.5),
    label_ranker("euclidean-single", geometry="euclidean", update="single", average=False),
    label_ranker("adaptive-optimal-averaged", update="optimal", average=True),
    label_ranker("interior-point", update="optimal", solver="interior-point", dtype="float64"),
    label_ranker("entropic-optimal", geometry="entropic", update="optimal", average=False),
    label_ranker("entropic-smooth-float64", geometry="entropic", dtype="float64"),
    label_ranker("simproj-float64", geometry="euclidean", update="simproj", dtype="float64"),
    label_ranker("simopt", update="simopt", average=False),
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
    predtron("ranking", LabelRanking(), step=1.0),
    predtron("ranking-averaged-float64", LabelRanking("-i^2"), average=True, dtype="float64"),
    predtron("hamming-l1", Multilabel(), norm="l1", step=0.1),
    predtron("subset-group", Multilabel("subset"), norm="group", constant=0.5, normalize=True),
    predtron("kernel", LabelRanking("1/i"), kernel="rbf", budget=20, average=True),
    predtron("trace", LabelRanking(), norm="trace", dtype="float64"),
]


VARIATIONS = {
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
"""Near enough to another configuration that `make test-long` is soon enough for them."""


def marks_of(learner: Learner) -> list[pytest.MarkDecorator]:
    """Return the marks of tests for a learner."""
    return [pytest.mark.long] if learner.name in VARIATIONS else []


def learners_that(*needs: str, among: list[Learner] = LEARNERS) -> pytest.MarkDecorator:
    """Run a test for every learner that offers all of these."""
    able = [
        pytest.param(learner, id=learner.name, marks=marks_of(learner))
        for learner in among
        if learner.offers.issuperset(needs)
    ]
    return pytest.mark.parametrize("learner", able)
