"""The online learners by name, and their settings from the command line."""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any

from tagalong.cli.arguments import SWITCHES, UPDATES
from tagalong.cli.errors import UsageError
from tagalong.cli.flags import parameters_as_flags
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES

if TYPE_CHECKING:
    from tagalong.text import TextFeatures

__all__ = [
    "DEFAULT",
    "FEATURE_FLAGS",
    "LEARNERS",
    "PAPERS",
    "LearnerSpec",
    "compared_specs",
    "feature_settings",
    "learner_flags",
    "learner_settings",
    "make_features",
    "setting_values",
    "settings_for_grades",
    "settings_for_words",
    "spec_by_name",
]

# The class of each learner, as "module:name".
LEARNERS = {
    "label-ranker": "tagalong.online.label_ranker.learner:LabelRanker",
    "predtron": "tagalong.online.predtron.learner:Predtron",
    "shared": "tagalong.online.shared_ranker.learner:SharedLabelRanker",
    "ordinal": "tagalong.online.grades.learner:GradeRanker",
    "partial": "tagalong.online.partial.learner:PartialFeedbackRanker",
}

# Parameters whose defaults do not suit texts, which have thousands of features.
# docs/partial-feedback.md has the measurements.
SETTINGS_FOR_TEXTS: dict[str, dict[str, Any]] = {
    "partial": {"covariance": "diagonal", "width": "determinant", "exploration": 0.01}
}

# The label-ranker without a race, even where its other settings have their default values.
ONE_LEARNER: dict[str, Any] = {"race": None}

# The flags that set parameters of a learner, and those that set parameters of the features.
LEARNER_FLAGS = {
    "update": "--update",
    "geometry": "--geometry",
    "C": "-C",
    "margin": "--margin",
    "problem": "--problem",
    "average": "--average",
    "grades": "--grades",
    "features": "--seldom-of",
    "max_labels": "--slots",
    "one_label": "--one-label",
    "race": "--race",
    "relevance": "--relevance",
    "working_set": "--working-set",
}
SWITCH_FLAGS = ("--average", "--race", "--relevance", "--working-set")
"""Options with the words yes, no and none, which Python calls True, False and None."""

GRADES_NEEDED = (
    "--grades: all grades from the lowest to the highest, such as --grades low,mid,high or "
    "--grades 1..5"
)

FEATURE_FLAGS = {
    "words": "--words",
    "words[0]": "the first number of --words",
    "words[1]": "the second number of --words",
    "chars": "--chars",
    "chars[0]": "the first number of --chars",
    "chars[1]": "the second number of --chars",
    "weighting": "--weighting",
    "buckets": "--buckets",
    "backoff": "--backoff",
}


@dataclass(frozen=True)
class LearnerSpec:
    """A learner to make: its kind, its settings, and its name in tables.

    Parameters
    ----------
    name : str
        The name in tables.
    learner : str
        A name from ``LEARNERS``.
    settings : dict
        Parameters that differ from the defaults.
    """

    name: str
    learner: str = "label-ranker"
    settings: dict[str, Any] = field(default_factory=dict)

    def make(
        self, shared: Mapping[str, Any] | None = None, flags: Mapping[str, str] | None = None
    ) -> Any:
        """Return a new learner; UsageError if its settings are invalid.

        Parameters
        ----------
        shared : mapping, optional
            Settings that all learners of a command have.
        flags : mapping of str to str, optional
            The flags that set parameters, for messages.
        """
        flags = flags or {}
        module, _, name = LEARNERS[self.learner].partition(":")
        kind = getattr(import_module(module), name)
        known = kind().get_params()
        settings = {**self.settings, **(shared or {})}
        if unknown := [name for name in settings if name not in known]:
            given = flags.get(unknown[0], f"parameter {unknown[0]!r}")
            raise UsageError(
                f"the learner {self.learner} has no {given}; --set takes {', '.join(known)}"
            )
        if self.learner == "ordinal" and settings.get("grades") is None:
            raise UsageError(f"the learner ordinal needs {GRADES_NEEDED}")
        learner = kind(**settings)
        try:
            learner.check_parameters()
        except ValueError as error:
            message = parameters_as_flags(str(error), flags)
            if any(flag in message for flag in SWITCH_FLAGS):
                for python, word in (("True", "yes"), ("False", "no"), ("None", "none")):
                    message = message.replace(python, word)
            raise UsageError(f"learner {self.name}: {message}") from error
        return learner


DEFAULT = LearnerSpec("default")
"""The learner of ``tagalong learn`` without options."""


def _as_published(update: str, geometry: str) -> dict[str, Any]:
    return {"update": update, "geometry": geometry, "average": False, "constant": 0.0}


# The learners of the papers' tables, as published: no constant feature, no averages.
PAPERS = {
    "p1": [
        LearnerSpec(f"{number} ({update}), {geometry}", settings=_as_published(update, geometry))
        for geometry in ("euclidean", "entropic")
        for update, rule in LABEL_RULES.items()
        for number in [rule.paper.removeprefix("P1 ")]
        if rule.paper.startswith("P1 ")
    ],
    # MaxPA with one prototype per label is P1's Update II.
    "p2": [
        spec
        for geometry, form in (("euclidean", "additive"), ("entropic", "multiplicative"))
        for scheme, rule in BLOCK_RULES.items()
        if rule.paper.startswith("P2 ") and (rule.entropic or geometry != "entropic")
        for spec in (
            LearnerSpec(
                f"{scheme}, {form}, multi-prototype",
                settings=_as_published("single" if scheme == "max" else scheme, geometry),
            ),
            LearnerSpec(
                f"{scheme}, {form}, shared", "shared", {"update": scheme, "geometry": geometry}
            ),
        )
    ],
}


def learner_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of a learner that the command line sets."""
    settings = setting_values(args.set)
    for name in ("update", "geometry", "C", "margin", "problem"):
        if getattr(args, name, None) is not None:
            settings[name] = getattr(args, name)
    for name in ("average", "relevance", "working_set"):
        if getattr(args, name) is not None:
            settings[name] = SWITCHES[getattr(args, name)]
    if "race" in args:
        settings["race"] = args.race
    if args.one_label:
        settings["one_label"] = True
    if getattr(args, "slots", None) is not None:
        settings["max_labels"] = args.slots
    if "features" in settings:
        raise UsageError(
            "--set features: class-dependent features are objects; --seldom-of chooses between "
            "those that come with tagalong"
        )
    if args.seldom_of is not None and args.command != "compare":
        settings |= settings_for_words(args.seldom_of, settings.get("geometry", "euclidean"))
    return settings | _grade_settings(args, settings.get("problem"))


def settings_for_words(seldom_of: str, geometry: str) -> dict[str, Any]:
    """Return the settings of the learner shared for a reading of which words are rare.

    Parameters
    ----------
    seldom_of : "folder" or "all"
        The value of ``--seldom-of``.
    geometry : str
        The geometry of the learner, on which the values of the features depend.
    """
    from tagalong.online.shared_ranker.learner import DEFAULT_FEATURES  # slow to import

    features = DEFAULT_FEATURES.get(geometry, DEFAULT_FEATURES["euclidean"])
    return {"features": type(features)(**{**features.get_params(), "seldom_of": seldom_of})}


def _grade_settings(args: argparse.Namespace, problem: object) -> dict[str, Any]:
    """Return the parameters that ``--grades`` sets. In ``compare`` they depend on the learner."""
    if problem == "ordinal":
        if args.grades is None:
            raise UsageError(f"--problem ordinal needs {GRADES_NEEDED}")
        return settings_for_grades("predtron", args.grades)
    if args.grades is None or args.command == "compare":
        return {}
    if args.learner == "predtron":
        raise UsageError("--grades: the learner predtron also needs --problem ordinal")
    return {"grades": tuple(args.grades)}


def settings_for_grades(learner: str, grades: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a learner whose labels are grades.

    Parameters
    ----------
    learner : str
        A name from ``LEARNERS``.
    grades : sequence of str
        All grades, from the lowest to the highest.
    """
    if learner == "predtron":
        from tagalong.problems import Ordinal  # slow to import

        return {"problem": Ordinal(tuple(grades))}
    return {"grades": tuple(grades)} if learner == "ordinal" else {}


def learner_flags(args: argparse.Namespace) -> dict[str, str]:
    """Return the flag of each parameter of a learner that the command line sets by a flag."""
    flags = {**LEARNER_FLAGS, **_PLURAL_FLAGS} if args.command == "compare" else LEARNER_FLAGS
    by_name = {name for name, _ in args.set}
    return {name: flag for name, flag in flags.items() if name not in by_name}


# The flags of "tagalong compare" that take several values.
_PLURAL_FLAGS = {"update": "--updates", "geometry": "--geometries", "C": "--C"}


_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


def setting_values(given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the parameters that ``--set`` gives, by name."""
    return {name: _value(text) for name, text in given}


def _value(text: str) -> Any:
    """Return the value of a number, true, false or null, or any other text unchanged.

    The words may also be spelled as in Python: True, False and None.
    """
    try:
        return json.loads(_PYTHON_WORDS.get(text, text))
    except ValueError:
        return text


def compared_specs(args: argparse.Namespace) -> list[LearnerSpec]:
    """Return the learners that the command line of ``tagalong compare`` names."""
    if args.paper is not None and (args.learners or args.updates or args.geometries):
        raise UsageError(
            "--paper selects the learners: leave out --learners, --updates and --geometries"
        )
    if args.learners and args.updates:
        raise UsageError("give either --learners or --updates, not both")
    if args.paper is not None:
        if args.paper not in PAPERS:
            raise UsageError(f"--paper {args.paper}: choose one of {', '.join(PAPERS)}")
        chosen = PAPERS[args.paper]
    else:
        chosen = [spec_by_name(name) for name in args.learners or args.updates or ["label-ranker"]]
    step_limits = [_number(text) for text in args.step_limits or ()]
    axes = {"geometry": args.geometries or (), "C": step_limits}
    return _without_duplicates(_grid(chosen, axes))


def spec_by_name(name: str) -> LearnerSpec:
    """Return the learner of a name; an update rule means the label-ranker with that rule."""
    if name in UPDATES:
        return LearnerSpec(name, settings={"update": name, **ONE_LEARNER})
    if name in LEARNERS:
        return LearnerSpec(name, name, SETTINGS_FOR_TEXTS.get(name, {}))
    raise UsageError(
        f"there is no learner {name!r}; choose one of {', '.join(LEARNERS)}, or an update rule of "
        f"label-ranker: {', '.join(UPDATES)}"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--C must be a list of numbers, got {text!r}") from None


def _grid(chosen: Iterable[LearnerSpec], axes: Mapping[str, Iterable[Any]]) -> list[LearnerSpec]:
    """Return each learner with each combination of settings."""
    given = {name: list(values) for name, values in axes.items() if values}
    found = []
    for one in chosen:
        for values in product(*given.values()):
            settings = dict(zip(given, values, strict=True))
            one_learner = ONE_LEARNER if given and one.learner == "label-ranker" else {}
            shown = [f"C={value:g}" if name == "C" else value for name, value in settings.items()]
            found.append(
                LearnerSpec(
                    ", ".join([one.name, *shown]),
                    one.learner,
                    {**one.settings, **settings, **one_learner},
                )
            )
    return found


def _without_duplicates(found: list[LearnerSpec]) -> list[LearnerSpec]:
    return list({one.name: one for one in found}.values())


def make_features(args: argparse.Namespace) -> "TextFeatures":
    """Return the features that the command line defines; UsageError if they are invalid."""
    from tagalong.text import TextFeatures

    features = TextFeatures(**feature_settings(args))
    try:
        features.look("")
    except ValueError as error:
        raise UsageError(parameters_as_flags(str(error), FEATURE_FLAGS)) from error
    return features


def feature_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the features that the command line sets."""
    names = ("words", "chars", "weighting")
    settings = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if "buckets" in args:
        settings["buckets"] = args.buckets
    if args.backoff is not None:
        settings["backoff"] = args.backoff == "yes"
    if getattr(args, "no_names", False):
        settings["names"] = False
    return settings
