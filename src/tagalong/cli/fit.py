"""``tagalong fit``: all items at once, by a batch learner."""

import argparse
import os
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.evaluate import Frozen
from tagalong.cli.learners import feature_settings, setting_values
from tagalong.cli.models import check_destination
from tagalong.cli.output import Output, as_json, size_text
from tagalong.cli.sources import reading_of
from tagalong.evaluate import Progress, Report
from tagalong.learning.items import Item
from tagalong.tagger import Tagger
from tagalong.text import TextFeatures

__all__ = ["BATCH_LEARNERS", "run"]

BATCH_LEARNERS = {"m3l": "tagalong.batch.m3l.classifier:M3LClassifier"}
INTERRUPTED = 130


def run(args: argparse.Namespace, out: Output) -> int:
    """Learn all items, measure on those held out, and save."""
    check_destination(args.model, "--model")
    check_destination(args.report, "--report")
    if not 0 <= args.holdout < 1:
        raise UsageError(f"--holdout must be from 0 to below 1, not {args.holdout:g}")
    learner = _learner(args, out)
    features = TextFeatures(**{"unit": True, **feature_settings(args)})
    reading = reading_of(args)
    with reading.open() as stream:
        everything = list(reading.limited(stream))
    items = [item for item in everything if item.labels is not None]
    if not any(item.labels for item in items):
        raise CommandError("there is nothing to learn: no item has labels")
    held, kept = _parted(items, args.holdout)
    began = time.monotonic()
    stopped, problem = _fit(learner, features, kept)
    seconds = time.monotonic() - began
    tagger = _tagger(learner, features, kept)
    report = _measured(tagger, held, args)
    if report is not None:
        _calibrate(learner, tagger, held)
    tagger.notes["fit"] = {"items": len(kept), "held_out": len(held), "interrupted": stopped}
    tagger.save(args.model)
    figures = {
        "dual_objective": learner.dual_objective_,
        "duality_gap": learner.duality_gap_,
        "n_iter": learner.n_iter_,
        "seconds": seconds,
    }
    if args.report is not None and report is not None:
        Path(args.report).write_text(as_json(report.to_dict()) + "\n", encoding="utf-8")
    out.document(
        {
            "model": args.model,
            "interrupted": stopped,
            "items": len(kept),
            "held_out": len(held),
            "unlabelled": len(everything) - len(items),
            "skipped": stream.skipped,
            "errors": stream.errors,
            "fit": figures,
            "report": None if report is None else report.to_dict(),
        }
    )
    out.show(
        f"{len(kept):,} items and {len(tagger.labels):,} labels learnt in {seconds:.1f} s; dual "
        f"objective {learner.dual_objective_:.6g}, duality gap {learner.duality_gap_:.3g}"
    )
    if report is not None:
        out.show(f"on {len(held):,} items held out:\n{report}")
    if problem:
        out.say(problem)
    if passed := len(everything) - len(items):
        out.say(f"{passed:,} items without labels were passed over")
    out.skipped(stream.skipped, stream.errors)
    if stopped:
        out.say(f"interrupted; what was reached is in {args.model}")
        return INTERRUPTED
    out.say(f"the model is in {args.model} ({size_text(os.path.getsize(args.model))})")
    return SOME_SKIPPED if stream.skipped else OK


def _learner(args: argparse.Namespace, out: Output) -> Any:
    if args.learner not in BATCH_LEARNERS:
        raise UsageError(
            f"there is no batch learner {args.learner!r}; there are {', '.join(BATCH_LEARNERS)}"
        )
    module, _, name = BATCH_LEARNERS[args.learner].partition(":")
    kind = getattr(import_module(module), name)
    settings = {**setting_values(args.set), "verbose": int(not out.quiet)}
    for name in ("C", "prior", "kernel"):
        if getattr(args, name) is not None:
            settings[name] = getattr(args, name)
    known = kind().get_params()
    if unknown := [name for name in settings if name not in known]:
        raise UsageError(f"{args.learner} has no setting {unknown[0]!r}; it has {', '.join(known)}")
    learner = kind(**settings)
    try:
        learner.check_parameters()
    except ValueError as error:
        raise UsageError(str(error)) from error
    return learner


def _parted(items: list[Item], share: float) -> tuple[list[Item], list[Item]]:
    """Return the items to hold out, spread evenly over all, and the others."""
    steps = np.floor(np.arange(len(items) + 1) * share)
    out = steps[1:] > steps[:-1]
    held = [item for item, held_out in zip(items, out, strict=True) if held_out]
    return held, [item for item, held_out in zip(items, out, strict=True) if not held_out]


def _fit(learner: Any, features: TextFeatures, items: list[Item]) -> tuple[bool, str]:
    """Learn items. Whether the user has stopped that, and what the learner warns of."""
    try:
        X = features.fit(items).transform(items)
    except ValueError as error:
        raise UsageError(str(error)) from error
    weights = np.array([item.weight for item in items])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            learner.fit(X, [list(item.labels or ()) for item in items], sample_weight=weights)
        except KeyboardInterrupt:
            if not learner.is_started:
                raise
            return True, ""
    told = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    return False, "\n".join(told)


def _tagger(learner: Any, features: TextFeatures, items: list[Item]) -> Tagger:
    tagger = Tagger(learner=learner, features=features)
    number = {label: i for i, label in enumerate(tagger.labels)}
    for item in items:
        tagger.history.note(len(number), [number[label] for label in item.labels or ()])
    return tagger


def _measured(tagger: Tagger, items: list[Item], args: argparse.Namespace) -> Report | None:
    if not items:
        return None
    frozen, progress = Frozen(tagger), Progress(args.at, args.window)
    for item in items:
        progress.add(frozen.look(item))
    return progress.report(frozen.labels)


def _calibrate(learner: Any, tagger: Tagger, items: list[Item]) -> None:
    known = set(tagger.labels)
    labels = [[label for label in item.labels or () if label in known] for item in items]
    if any(labels):
        learner.calibrate(tagger.features.transform(items), labels)
