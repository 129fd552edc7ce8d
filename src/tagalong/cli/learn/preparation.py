"""The tagger and the run at the start: new, loaded (``--continue``) or resumed."""

import argparse
from dataclasses import replace
from typing import Any

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.learners import (
    FEATURE_FLAGS,
    feature_settings,
    learner_flags,
    learner_settings,
    make_features,
    spec_by_name,
)
from tagalong.cli.models import load_tagger
from tagalong.cli.run_state import Run
from tagalong.cli.sources import Reading, reading_of
from tagalong.evaluate import Progress, QueryProgress
from tagalong.online.compact.learner import PREDICTION_ONLY
from tagalong.online.shared_ranker.folder_affinity import FolderAffinity
from tagalong.problems import Ordinal
from tagalong.tagger import Tagger

__all__ = ["check_same_settings", "new_tagger", "prepare"]


def prepare(args: argparse.Namespace) -> tuple[Tagger, Run]:
    """Return the tagger, and a new run or the interrupted run."""
    tagger = _loaded_tagger(args) if args.resume or args.continue_run else new_tagger(args)
    return tagger, _resumed_run(args, tagger) if args.resume else _new_run(args, tagger)


def new_tagger(args: argparse.Namespace) -> Tagger:
    """Return an empty tagger with the learner and the features of the command line."""
    spec = spec_by_name(args.learner or "label-ranker")
    return Tagger(spec.make(learner_settings(args), learner_flags(args)), make_features(args))


def _loaded_tagger(args: argparse.Namespace) -> Tagger:
    """Return the tagger of the model file; an error if it cannot learn further items."""
    tagger = load_tagger(args.model)
    if tagger.is_compact:
        raise CommandError(f"{args.model}: {PREDICTION_ONLY}")
    if not tagger.learns_online:
        raise CommandError(
            f"{args.model} was made by 'tagalong fit' and cannot learn further items; use "
            "'tagalong fit' again with all items"
        )
    check_same_settings(args, tagger, args.model)
    return tagger


def check_same_settings(args: argparse.Namespace, tagger: Tagger, place: str) -> None:
    """Raise UsageError if the command line sets a parameter to another value than the model.

    Parameters
    ----------
    args : Namespace
        The command line.
    tagger : Tagger
        The model.
    place : str
        The file or the workspace of the model, for the message.
    """
    for part, given, flags in (
        (tagger.learner, learner_settings(args), learner_flags(args)),
        (tagger.features, feature_settings(args), {**FEATURE_FLAGS, "names": "--no-names"}),
    ):
        settings = part.get_params()
        for name, value in given.items():
            flag = flags.get(name, f"--set {name}")
            if name not in settings:
                raise UsageError(
                    f"{flag}: {place} holds a {type(part).__name__}, which has no such parameter"
                )
            if _comparable(settings[name], value) != _comparable(value, value):
                raise UsageError(
                    f"{place} was made {_setting_text(flag, settings[name])}, not "
                    f"{_setting_text(flag, value)}; leave {flag} out, or make a new model"
                )


def _comparable(setting: object, given: object) -> object:
    """Return a setting in a form that can be compared with the one that is given."""
    if not isinstance(given, FolderAffinity):
        return setting
    # None stands for the default features, whose values depend on the geometry.
    return setting.seldom_of if isinstance(setting, FolderAffinity) else FolderAffinity().seldom_of


def _setting_text(flag: str, value: object) -> str:
    """Return how the command line sets a parameter to a value."""
    if flag == "--no-names":
        return f"without {flag}" if value else f"with {flag}"
    if flag.startswith("--set "):
        return f"with {flag}={value}"
    if flag == "--seldom-of":
        return f"with {flag} {_comparable(value, FolderAffinity())}"
    if isinstance(value, Ordinal):
        levels = ",".join(map(str, value.levels or ()))
        return f"with {flag} ordinal --grades {levels}"
    if isinstance(value, tuple):
        return f"with {flag} {','.join(map(str, value))}"
    if value is None and flag != "--buckets":
        return f"without {flag}"
    texts: dict[tuple[str, object], str] = {
        ("--buckets", None): "grow",
        ("--average", True): "yes",
        ("--average", False): "no",
        ("--backoff", True): "yes",
        ("--backoff", False): "no",
    }
    return f"with {flag} {texts.get((flag, value), value)}"


def _new_run(args: argparse.Namespace, tagger: Tagger) -> Run:
    kind = QueryProgress if tagger.ranks_documents else Progress
    progress: Any = kind(args.at, args.window)
    return Run(reading_of(args, tagger), args.passes or 1, progress)


def _resumed_run(args: argparse.Namespace, tagger: Tagger) -> Run:
    """Return the run of a model, with more passes or a larger limit if given."""
    run = Run.from_notes(tagger, args.model)
    run.reading = _resumed_reading(args, run)
    if args.passes is not None and args.passes < run.number:
        raise UsageError(f"--passes {args.passes}: the run is already in pass {run.number}")
    run.passes = args.passes or run.passes
    return run


def _resumed_reading(args: argparse.Namespace, run: Run) -> Reading:
    """Return the reading of the resumed run; UsageError if the arguments contradict the run."""
    before, given = run.reading, reading_of(args)
    has_order = args.order is not None or args.shuffle is not None
    for is_given, described in (
        (given.sources, _described_sources),
        (given.format, _described_format),
        (given.options, _described_options),
        (has_order, _described_order),
    ):
        wanted, saved = described(given), described(before)
        if is_given and wanted != saved:
            raise UsageError(
                f"the run of {args.model} reads {saved}, not {wanted}: leave that out to resume "
                "the run, or use --continue to learn something else"
            )
    limit = before.limit if given.limit is None else given.limit
    if limit != before.limit and (run.number > 1 or _precedes(limit, run.position)):
        raise UsageError(
            f"--limit {limit} contradicts the run of {args.model}, which has "
            f"{_described_limit(before)}"
        )
    # With --on-error skip a run can get past the line at which it stopped.
    return replace(before, limit=limit, on_error=args.on_error or before.on_error)


def _described_sources(reading: Reading) -> str:
    return " ".join(reading.sources)


def _described_format(reading: Reading) -> str:
    return "without --format" if reading.format is None else f"with --format {reading.format}"


def _described_options(reading: Reading) -> str:
    if not reading.options:
        return "without format options"
    flags = (f"--{name.replace('_', '-')} {value}" for name, value in reading.options.items())
    return f"with {' '.join(flags)}"


def _described_order(reading: Reading) -> str:
    if reading.order == "shuffle":
        return f"with --shuffle {reading.seed}"
    return "in the default order" if reading.order == "auto" else f"with --order {reading.order}"


def _described_limit(reading: Reading) -> str:
    return "no limit" if reading.limit is None else f"--limit {reading.limit}"


def _precedes(limit: int | None, position: int) -> bool:
    return limit is not None and limit < position
