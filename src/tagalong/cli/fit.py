"""``tagalong fit``: train a batch learner on all items at once."""

import argparse
import os
import time
import warnings
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tagalong.cli.errors import OK, SOME_SKIPPED, UsageError
from tagalong.cli.flags import parameters_as_flags
from tagalong.cli.frozen_tagger import FrozenTagger
from tagalong.cli.learners import FEATURE_FLAGS, feature_settings, setting_values
from tagalong.cli.models import check_destination, check_model_destination, locked_model
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output, size_text
from tagalong.cli.report_files import write_report
from tagalong.cli.sources import reading_of
from tagalong.evaluate import Progress, Report
from tagalong.learning.items import Item
from tagalong.tagger import Tagger
from tagalong.text import TextFeatures

__all__ = ["BATCH_LEARNERS", "run"]

BATCH_LEARNERS = {"m3l": "tagalong.batch.m3l.classifier:M3LClassifier"}
# The flags that set parameters of the learner.
FLAGS = {"C": "-C", "prior": "--prior", "kernel": "--kernel", "constant": "--constant"}
INTERRUPTED = 130


def run(args: argparse.Namespace, out: Output) -> int:
    """Train on the items, calibrate and measure on the held-out ones, and save the model."""
    check_model_destination(args.model)
    check_destination(args.report, "--report")
    if not 0 <= args.holdout < 1:
        raise UsageError(f"--holdout must be at least 0 and below 1, got {args.holdout:g}")
    with locked_model(args.model, args, out):
        return _run(args, out)


def _run(args: argparse.Namespace, out: Output) -> int:
    learner = _learner(args, out)
    features = TextFeatures(**{"unit": True, **feature_settings(args)})
    reading = reading_of(args)
    with reading.open() as stream:
        all_items = list(reading.limited(stream))
    items = [item for item in all_items if item.labels is not None]
    if not any(item.labels for item in items):
        raise nothing_learnt(reading, len(all_items), stream.skipped, links=stream.links)
    held_out, training = _split(items, args.holdout)
    start = time.monotonic()
    interrupted, warning = _fit(learner, features, training)
    seconds = time.monotonic() - start
    tagger = _make_tagger(learner, features, training)
    # The probabilities are measured on other items than those that they are fitted to.
    measured, calibrating = held_out[::2], held_out[1::2]
    is_calibrated = _calibrate(learner, tagger, calibrating)
    report = _measure(tagger, measured, args)
    tagger.notes["fit"] = {
        "items": len(training),
        "held_out": len(held_out),
        "measured": len(measured),
        "calibrated": len(calibrating) if is_calibrated else 0,
        "interrupted": interrupted,
    }
    reading.save_to_notes(tagger)
    tagger.save(args.model, private=stream.is_private)
    figures = {
        "dual_objective": learner.dual_objective_,
        "duality_gap": learner.duality_gap_,
        "n_iter": learner.n_iter_,
        "seconds": seconds,
    }
    if args.report is not None and report is not None:
        write_report(report, args.report, private=stream.is_private)
    out.json_result(
        {
            "model": args.model,
            "interrupted": interrupted,
            "items": len(training),
            "held_out": len(held_out),
            "measured": len(measured),
            "calibrated": len(calibrating) if is_calibrated else 0,
            "unlabelled": len(all_items) - len(items),
            "skipped": stream.skipped,
            "errors": stream.errors,
            "links": stream.links,
            "fit": figures,
            "report": None if report is None else report.to_dict(),
        }
    )
    out.result(
        f"{len(training):,} items with {len(tagger.labels):,} labels learnt in {seconds:.1f} s; "
        f"dual objective {learner.dual_objective_:.6g}, duality gap {learner.duality_gap_:.3g}"
    )
    if report is not None:
        share = (
            f"; probabilities calibrated on the other {len(calibrating):,}" if is_calibrated else ""
        )
        out.result(
            f"measured on {len(measured):,} of {len(held_out):,} held-out items{share}:",
            *str(report).split("\n"),
        )
    if not is_calibrated:
        out.info(
            "the probabilities are not calibrated, so nothing is marked sure: this needs held-out "
            "items with and without labels of the training items; use a larger --holdout"
        )
    if warning:
        out.info(warning)
    if ignored := len(all_items) - len(items):
        out.info(f"{ignored:,} items without labels were ignored")
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    if interrupted:
        out.info(f"interrupted; the model so far is saved in {args.model}")
        return INTERRUPTED
    out.info(f"model saved to {args.model} ({size_text(os.path.getsize(args.model))})")
    return SOME_SKIPPED if stream.skipped else OK


def _learner(args: argparse.Namespace, out: Output) -> Any:
    if args.learner not in BATCH_LEARNERS:
        raise UsageError(
            f"--learner: there is no batch learner {args.learner!r}; choose one of "
            f"{', '.join(BATCH_LEARNERS)}"
        )
    module, _, name = BATCH_LEARNERS[args.learner].partition(":")
    kind = getattr(import_module(module), name)
    settings = {**setting_values(args.set), "verbose": int(not out.quiet)}
    for name in FLAGS:
        if getattr(args, name) is not None:
            settings[name] = getattr(args, name)
    known = kind().get_params()
    if unknown := [name for name in settings if name not in known]:
        raise UsageError(
            f"{args.learner} has no parameter {unknown[0]!r}; --set takes {', '.join(known)}"
        )
    learner = kind(**settings)
    try:
        learner.check_parameters()
    except ValueError as error:
        raise UsageError(parameters_as_flags(str(error), _flags(args))) from error
    return learner


def _flags(args: argparse.Namespace) -> dict[str, str]:
    """Return the flag of each parameter that has one and that is not given by ``--set``."""
    return {name: flag for name, flag in FLAGS.items() if getattr(args, name) is not None}


def _split(items: list[Item], share: float) -> tuple[list[Item], list[Item]]:
    """Return the held-out items, spread evenly over all items, and the training items."""
    steps = np.floor(np.arange(len(items) + 1) * share)
    is_held_out = steps[1:] > steps[:-1]
    held_out = [item for item, out in zip(items, is_held_out, strict=True) if out]
    return held_out, [item for item, out in zip(items, is_held_out, strict=True) if not out]


def _fit(learner: Any, features: TextFeatures, items: list[Item]) -> tuple[bool, str]:
    """Fit the learner. Return whether the user interrupted it, and its convergence warnings."""
    try:
        X = features.fit(items).transform(items)
    except ValueError as error:
        raise UsageError(parameters_as_flags(str(error), FEATURE_FLAGS)) from error
    weights = np.array([item.weight for item in items])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            learner.fit(X, [list(item.labels or ()) for item in items], sample_weight=weights)
        except KeyboardInterrupt:
            if not learner.is_started:
                raise
            return True, ""
    messages = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    return False, "\n".join(messages)


def _make_tagger(learner: Any, features: TextFeatures, items: list[Item]) -> Tagger:
    tagger = Tagger(learner=learner, features=features)
    number = {label: i for i, label in enumerate(tagger.labels)}
    for item in items:
        tagger.history.note(len(number), [number[label] for label in item.labels or ()])
    return tagger


def _measure(tagger: Tagger, items: list[Item], args: argparse.Namespace) -> Report | None:
    if not items:
        return None
    frozen, progress = FrozenTagger(tagger), Progress(args.at, args.window)
    for found in frozen.predict(items):
        progress.add(found)
    return progress.report(frozen.labels, frozen=True)


def _calibrate(learner: Any, tagger: Tagger, items: list[Item]) -> bool:
    """Calibrate the probabilities. Return False if the items do not suffice for that."""
    known = set(tagger.labels)
    labels = [[label for label in set(item.labels or ()) if label in known] for item in items]
    if not 0 < sum(map(len, labels)) < len(items) * len(known):
        return False
    learner.calibrate(tagger.features.transform(items), labels)
    return True
