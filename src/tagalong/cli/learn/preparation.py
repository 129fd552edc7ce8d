"""The tagger and the run to begin with: new, continued or resumed."""

import argparse
from dataclasses import replace
from typing import Any

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.learners import feature_settings, learner_settings, make_features, named
from tagalong.cli.models import load_tagger
from tagalong.cli.run_state import Run
from tagalong.cli.sources import Reading, reading_of
from tagalong.evaluate import Progress, QueryProgress
from tagalong.tagger import Tagger

__all__ = ["prepare"]


def prepare(args: argparse.Namespace) -> tuple[Tagger, Run]:
    """Return the tagger, and the run at its beginning or where it stopped."""
    tagger = _loaded_tagger(args) if args.resume or args.go_on else _new_tagger(args)
    return tagger, _resumed_run(args, tagger) if args.resume else _new_run(args, tagger)


def _new_tagger(args: argparse.Namespace) -> Tagger:
    learner = named(args.learner or "label-ranker")
    return Tagger(learner.make(**learner_settings(args)), make_features(args))


def _loaded_tagger(args: argparse.Namespace) -> Tagger:
    """Return the tagger of the model file, which can learn further items as it is."""
    tagger = load_tagger(args.model)
    if not tagger.learns_online:
        raise CommandError(
            f"{args.model} was made by 'tagalong fit', all items at once: fit it again with "
            "the new items"
        )
    _check_same_settings(args, tagger)
    return tagger


def _check_same_settings(args: argparse.Namespace, tagger: Tagger) -> None:
    """Raise UsageError if the command line gives a setting that the model does not have."""
    for part, given in (
        (tagger.learner, learner_settings(args)),
        (tagger.features, feature_settings(args)),
    ):
        settings = part.get_params()
        for name, value in given.items():
            if name not in settings or settings[name] != value:
                raise UsageError(
                    f"{args.model} was made with {name}={settings.get(name)!r}, not {value!r}: "
                    "leave that out, or make a new model"
                )


def _new_run(args: argparse.Namespace, tagger: Tagger) -> Run:
    kind = QueryProgress if tagger.ranks_documents else Progress
    progress: Any = kind(args.at, args.window)
    return Run(reading_of(args), args.passes or 1, progress)


def _resumed_run(args: argparse.Namespace, tagger: Tagger) -> Run:
    """Return the run of a model, which may now go further, but not elsewhere."""
    run = Run.of(tagger, args.model)
    run.reading = _resumed_reading(args, run)
    if args.passes is not None and args.passes < run.number:
        raise UsageError(f"--passes {args.passes}: the run is in pass {run.number} already")
    run.passes = args.passes or run.passes
    return run


def _resumed_reading(args: argparse.Namespace, run: Run) -> Reading:
    """Return how the run reads on; UsageError if that would be another run."""
    before, given = run.reading, reading_of(args)
    for name in ("sources", "format", "options"):
        wanted = getattr(given, name)
        if wanted and wanted != getattr(before, name):
            raise UsageError(
                f"the run of {args.model} has {name} {getattr(before, name)!r}, not {wanted!r}: "
                "leave that out to go on with it, or use --continue to learn something else"
            )
    limit = before.limit if given.limit is None else given.limit
    if limit != before.limit and (run.number > 1 or _precedes(limit, run.position)):
        raise UsageError(f"--limit {limit} would be another run; it was {before.limit}")
    # To skip what cannot be read is how to get past the line at which a run stopped.
    return replace(before, limit=limit, on_error=args.on_error or before.on_error)


def _precedes(limit: int | None, position: int) -> bool:
    return limit is not None and limit < position
