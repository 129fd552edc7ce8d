"""The learners that commands can make, by name."""

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from tagalong.cli.arguments import AVERAGES, UPDATES
from tagalong.cli.errors import UsageError
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES

__all__ = [
    "LEARNERS",
    "PAPERS",
    "Contestant",
    "contestants",
    "feature_settings",
    "learner_settings",
    "make_features",
    "named",
]

# Learners by name, and where they live: a class whose parameters are the settings.
LEARNERS = {
    "label-ranker": "tagalong.online.label_ranker.learner:LabelRanker",
    "predtron": "tagalong.online.predtron.learner:Predtron",
    "shared": "tagalong.online.shared_ranker.learner:SharedLabelRanker",
    "partial": "tagalong.online.partial.learner:PartialFeedbackRanker",
}

# Where the defaults of a class do not suit texts, which have thousands of features: docs/
# partial-feedback.md has the figures.
FOR_TEXTS: dict[str, dict[str, Any]] = {
    "partial": {"covariance": "diagonal", "width": "determinant", "exploration": 0.01}
}


@dataclass(frozen=True)
class Contestant:
    """A learner with settings, under the name that a table gives it.

    Parameters
    ----------
    name : str
        What tells it from the others.
    learner : str
        A name from ``LEARNERS``.
    settings : dict
        Its parameters, where they are not the defaults.
    """

    name: str
    learner: str = "label-ranker"
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self, **more: Any) -> Any:
        """Return a new learner; UsageError if its settings make no sense.

        Parameters
        ----------
        more : dict
            Settings that all have.
        """
        if self.learner not in LEARNERS:
            raise UsageError(
                f"there is no learner {self.learner!r}; there are {', '.join(LEARNERS)}"
            )
        module, _, name = LEARNERS[self.learner].partition(":")
        kind = getattr(import_module(module), name)
        known = kind().get_params()
        settings = {**self.settings, **more}
        if unknown := [name for name in settings if name not in known]:
            raise UsageError(
                f"{self.learner} has no setting {unknown[0]!r}; it has {', '.join(known)}"
            )
        learner = kind(**settings)
        try:
            learner.check_parameters()
        except ValueError as error:
            raise UsageError(f"{self.name}: {error}") from error
        return learner


def _as_published(update: str, geometry: str) -> dict[str, Any]:
    return {"update": update, "geometry": geometry, "average": False, "constant": 0.0}


# The learners of the papers' tables, as published: no constant feature, no averages.
PAPERS = {
    "p1": [
        Contestant(f"{number} ({update}), {geometry}", settings=_as_published(update, geometry))
        for geometry in ("euclidean", "entropic")
        for update, rule in LABEL_RULES.items()
        for number in [rule.paper.removeprefix("P1 ")]
        if rule.paper.startswith("P1 ")
    ],
    # MaxPA with one prototype per label is P1's Update II.
    "p2": [
        contestant
        for geometry, form in (("euclidean", "additive"), ("entropic", "multiplicative"))
        for scheme, rule in BLOCK_RULES.items()
        if rule.paper.startswith("P2 ") and (rule.entropic or geometry != "entropic")
        for contestant in (
            Contestant(
                f"{scheme}, {form}, multi-prototype",
                settings=_as_published("single" if scheme == "max" else scheme, geometry),
            ),
            Contestant(
                f"{scheme}, {form}, shared", "shared", {"update": scheme, "geometry": geometry}
            ),
        )
    ],
}


def learner_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that a command line gives to one learner."""
    settings = setting_values(args.set)
    for name in ("update", "geometry", "C", "margin", "problem"):
        if getattr(args, name, None) is not None:
            settings[name] = getattr(args, name)
    if args.average is not None:
        settings["average"] = AVERAGES[args.average]
    if getattr(args, "slots", None) is not None:
        settings["max_labels"] = args.slots
    return settings


def setting_values(given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return what the settings of a command line mean, by name."""
    return {name: _value(text) for name, text in given}


def _value(text: str) -> Any:
    """Return what a text means: a number, true, false, null, or else itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def contestants(args: argparse.Namespace) -> list[Contestant]:
    """Return the learners that a command line wants to see compared."""
    if args.paper is not None and (args.learners or args.updates or args.geometries):
        raise UsageError(
            "--paper brings its own learners: leave out --learners, --updates and --geometries"
        )
    if args.learners and args.updates:
        raise UsageError("give either --learners or --updates")
    if args.paper is not None:
        if args.paper not in PAPERS:
            raise UsageError(f"there is no paper {args.paper!r}; there are {', '.join(PAPERS)}")
        chosen = PAPERS[args.paper]
    else:
        chosen = [named(name) for name in args.learners or args.updates or ["label-ranker"]]
    budgets = [_number(text) for text in args.budgets or ()]
    return _unlike(_grid(chosen, {"geometry": args.geometries or (), "C": budgets}))


def named(name: str) -> Contestant:
    """Return the learner of a name, or the label-ranker with the update of that name."""
    if name in UPDATES:
        return Contestant(name, settings={"update": name})
    if name in LEARNERS:
        return Contestant(name, name, FOR_TEXTS.get(name, {}))
    raise UsageError(
        f"there is no learner {name!r}; there are {', '.join(LEARNERS)} and the updates "
        f"{', '.join(UPDATES)}"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--C: {text!r} is not a number") from None


def _grid(chosen: Iterable[Contestant], axes: Mapping[str, Iterable[Any]]) -> list[Contestant]:
    """Return every learner with every combination of settings."""
    used = {name: list(values) for name, values in axes.items() if values}
    found = []
    for one in chosen:
        for values in product(*used.values()):
            settings = dict(zip(used, values, strict=True))
            shown = [f"C={value:g}" if name == "C" else value for name, value in settings.items()]
            found.append(
                Contestant(", ".join([one.name, *shown]), one.learner, {**one.settings, **settings})
            )
    return found


def _unlike(found: list[Contestant]) -> list[Contestant]:
    return list({one.name: one for one in found}.values())


def make_features(args: argparse.Namespace) -> Any:
    """Return the features that a command line asks for; UsageError if they make no sense."""
    from tagalong.text import TextFeatures

    features = TextFeatures(**feature_settings(args))
    try:
        features.look("")
    except ValueError as error:
        raise UsageError(str(error)) from error
    return features


def feature_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that a command line gives to features."""
    names = ("words", "chars", "weighting")
    settings = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if "buckets" in args:
        settings["buckets"] = args.buckets
    if getattr(args, "no_names", False):
        settings["names"] = False
    return settings
