"""``tagalong inspect``: the contents of a model file."""

import argparse
import os
import shlex
from collections.abc import Hashable
from dataclasses import asdict
from typing import Any

import numpy as np

from tagalong.cli.errors import OK, UsageError
from tagalong.cli.learn.held_out import estimate_line
from tagalong.cli.models import file_header, find_label
from tagalong.cli.output import Output, size_text, table
from tagalong.cli.race_lines import race_lines
from tagalong.cli.run_state import RUN_NOTE, checked_note, restored_progress
from tagalong.cli.sources import READING_NOTE
from tagalong.evaluate import Report
from tagalong.evaluate.answers import TARGETS
from tagalong.evaluate.drift import drift_text, drift_values
from tagalong.evaluate.summary import coverage_lines, headline, order_warning
from tagalong.evaluate.text_table import percent
from tagalong.learning.model_files import load
from tagalong.learning.model_hash import model_hash
from tagalong.online.shared_ranker.folder_affinity import FolderAffinity
from tagalong.problems.registry import problem_to_json
from tagalong.tagger import Tagger

__all__ = ["run"]

# Copy of tagalong.mail.filing.model_file.NOTES, which this command need not import.
FILING_NOTE = "filing"

MAX_LABELS = 20
WORDS_PER_LABEL = 10

Words = list[tuple[str, float]]


def run(args: argparse.Namespace, out: Output) -> int:
    """Show a model."""
    model = load(args.model)
    header = file_header(args.model)
    found: dict[str, Any] = {
        "model": args.model,
        "kind": header["kind"],
        "format": header["format"],
        "written_by": header["tagalong"],
        "file_bytes": os.path.getsize(args.model),
        "hash": model_hash(model),
    }
    if isinstance(model, Tagger):
        found |= _describe_tagger(model)
        chosen = [find_label(model, text) for text in args.label]
        if args.words is not None and not chosen:
            chosen = model.labels
        words = {label: _words(model, label, args.words or WORDS_PER_LABEL) for label in chosen}
    else:
        if args.label or args.words is not None:
            flag = "--label" if args.label else "--words"
            raise UsageError(
                f"{flag}: {args.model} holds a {found['kind']}, which has no text features and "
                "therefore no words"
            )
        found |= _describe_part(model)
        words = {}
    if words:
        found["words"] = [
            {"label": label, "words": [{"name": n, "weight": w} for n, w in top]}
            for label, top in words.items()
        ]
    measured = _measured(model)
    if isinstance(model, Tagger):
        found["drift"] = drift_values(model.drift)
    if measured is not None:
        found |= {"order": measured.order, "coverage": measured.coverage.to_dict()}
        found["held_out"] = model.notes[RUN_NOTE].get("held_out")
    out.json_result(_with_plain_parameters(found))
    answers = (
        _own_estimate(found)
        if measured is None
        else [*_answer_lines(measured, found["held_out"]), ""]
    )
    first, *others = _lines(found, args.certificate)
    out.result(first, *_drift_lines(model), *answers, *others, *_word_lines(words))
    return OK


def _with_plain_parameters(found: dict[str, Any]) -> dict[str, Any]:
    """Return a description with JSON values in place of objects among the parameters."""
    plain = dict(found)
    for part in ("learner", "settings"):
        parameters = dict(plain.get(part, {}))
        if "problem" in parameters:
            parameters["problem"] = problem_to_json(parameters["problem"])
        if isinstance(parameters.get("features"), FolderAffinity):
            parameters["features"] = parameters["features"].get_params()
        if parameters:
            plain[part] = parameters
    return plain


def _drift_lines(model: object) -> list[str]:
    """Return the last change of the answers that a model noticed."""
    drift = model.drift if isinstance(model, Tagger) else None
    return [] if drift is None else [drift_text(drift), ""]


def _measured(model: object) -> Report | None:
    """Return the measures of the last run of ``learn``; None if there is none."""
    note = _run_note(model) if isinstance(model, Tagger) else None
    if note is None:
        return None
    try:
        report = restored_progress(note).report()
    except Exception:  # only --resume needs sound measures
        return None
    return report if isinstance(report, Report) and report.items else None


def _answer_lines(report: Report, held_out: dict[str, Any] | None) -> list[str]:
    """Return how often the first suggestion was right, and how much could be filed."""
    estimate = [] if held_out is None else [estimate_line(held_out)]
    lines = [*order_warning(report), *estimate, *headline(report)]
    table_lines = coverage_lines(report)
    return [*lines, "", *table_lines] if table_lines else lines


def _own_estimate(found: dict[str, Any]) -> list[str]:
    """Return the share of recent items that a model says can be filed without asking."""
    covered = found.get("recent_coverage", [])
    if not any(one["answers"] for one in covered):
        return []
    low, middle, high = (percent(one["share"], 0) for one in covered)
    line = f"of recent items, at 95 % right, {middle} can be filed without asking "
    return [f"{line}(90 %: {low}, 99 %: {high})", ""]


def _recent_coverage(tagger: Tagger) -> dict[str, Any]:
    if not (tagger.learns_online or tagger.is_compact) or tagger.learner.task != "labels":
        return {}
    names = ("target", "share", "precision", "answers")
    covered = tagger.coverage(TARGETS)
    return {"recent_coverage": [dict(zip(names, one, strict=True)) for one in covered]}


def _describe_tagger(tagger: Tagger) -> dict[str, Any]:
    size = tagger.size()
    history = tagger.history
    counted = zip(tagger.labels, history.count.tolist(), strict=True)
    return {
        "items": history.items,
        "labels": [{"label": label, "items": count} for label, count in counted],
        "size": {**asdict(size), "total_bytes": size.total_bytes},
        "learner": {"kind": type(tagger.learner).__name__, **tagger.learner.get_params()},
        "features": tagger.features.get_params(),
        **_guarantee(tagger.learner),
        **_race(tagger.learner),
        **_recent_coverage(tagger),
        "run": _run_summary(_run_note(tagger)),
        "notes": {name: value for name, value in tagger.notes.items() if name != RUN_NOTE},
    }


def _describe_part(model: Any) -> dict[str, Any]:
    """Describe a learner, or features, that were saved without a tagger."""
    found: dict[str, Any] = {"settings": model.get_params()}
    if hasattr(model, "classes_"):
        found["labels"] = [{"label": label} for label in model.classes_.tolist()]
        found |= _guarantee(model) | _race(model)
    return found


def _guarantee(learner: Any) -> dict[str, Any]:
    """Return the duality gap of a batch learner, or the certificate of an online learner."""
    if hasattr(learner, "duality_gap_"):
        gap = {"dual_objective": learner.dual_objective_, "duality_gap": learner.duality_gap_}
        return {"optimum": gap}
    if not learner.learns_online:  # a compact model
        return {}
    return {"certificate": _certificate(learner.certificate_)}


def _race(learner: Any) -> dict[str, Any]:
    """Return the contestants of a race, running or not."""
    contestants = getattr(learner, "standings_", ())
    return {"race": [asdict(one) for one in contestants]} if contestants else {}


def _certificate(certificate: Any) -> dict[str, Any]:
    return {**asdict(certificate), "in_words": str(certificate)}


def _run_note(tagger: Tagger) -> dict[str, Any] | None:
    """Return the note of the last run of ``learn``; None if there is none, or it is damaged."""
    try:
        return checked_note(tagger.notes[RUN_NOTE])
    except Exception:  # only --resume needs a sound note
        return None


def _run_summary(note: dict[str, Any] | None) -> dict[str, Any] | None:
    if note is None:
        return None
    names = ("passes", "pass", "position", "unlabelled")
    return {**note["reading"], **{name: note[name] for name in names}}


def _words(tagger: Tagger, label: Hashable, count: int) -> Words:
    """Return the words with the largest positive weights for a label, if their names are stored."""
    found = tagger.learner.weights_by_feature()
    if found["weights"].ndim == 1:
        raise UsageError(
            f"--label and --words: the words of a {type(tagger.learner).__name__} have one weight "
            "for all labels; see what they add for an item with 'tagalong explain'"
        )
    column = found["weights"][:, tagger.labels.index(label)].astype(np.float64)
    words: Words = []
    for place in np.argsort(-column, kind="stable").tolist():
        if column[place] <= 0 or len(words) == count:
            break
        feature = int(found["features"][place])
        name = tagger.features.name(feature) if feature >= 0 else ""
        if name:
            words.append((name, float(column[place])))
    return words


def _lines(found: dict[str, Any], certificate: bool) -> list[str]:
    lines = [
        f"{found['model']}: a {found['kind']} in file format {found['format']}, written by "
        f"tagalong {found['written_by']}, {size_text(found['file_bytes'])}"
    ]
    if "size" in found:
        size = found["size"]
        lines += [
            f"{found['items']:,} items learnt; {size['labels']:,} labels; {size['features']:,} "
            "features with weights",
            f"memory: {size_text(size['weight_bytes'])} of weights, "
            f"{size_text(size['text_bytes'])} of words",
        ]
    lines.append(f"hash: {found['hash']}")
    for part in ("learner", "features", "settings"):
        if part in found:
            given = ", ".join(f"{name}={value!r}" for name, value in found[part].items())
            lines.append(f"{part}: {given}")
    if "certificate" in found and certificate:
        lines.append(f"certificate: {found['certificate']['in_words']}")
    if "optimum" in found:
        gap, dual = found["optimum"]["duality_gap"], found["optimum"]["dual_objective"]
        lines.append(
            f"objective: the optimum is at least {dual:.6g}; the model is within {gap:.3g} of it"
        )
    if found.get("run"):
        saved_run = found["run"]
        lines.append(
            f"last run: {', '.join(saved_run['sources'])}; pass {saved_run['pass']} of "
            f"{saved_run['passes']}, {saved_run['position']:,} items read"
        )
    lines += [_note_line(name, value) for name, value in found.get("notes", {}).items()]
    return [*lines, *race_lines(found.get("race", [])), *_label_lines(found.get("labels", []))]


def _note_line(name: str, value: Any) -> str:
    """Return a note in words; notes of other programs as they are."""
    if name == READING_NOTE and isinstance(value, dict) and isinstance(value.get("options"), dict):
        format = [f"--format {value['format']}"] if value.get("format") else []
        options = [
            f"--{option.replace('_', '-')} {shlex.quote(str(text))}"
            for option, text in value["options"].items()
        ]
        return f"items are read with: {' '.join([*format, *options])}"
    if name == FILING_NOTE:
        return "made by 'tagalong file' for one Maildir"
    return f"note {name}: {str(value)[:200]}"


def _label_lines(labels: list[dict[str, Any]]) -> list[str]:
    if not labels:
        return []
    ordered = sorted(labels, key=lambda one: -one.get("items", 0))
    rows = [("label", "items")]
    rows += [(str(one["label"]), f"{one.get('items', '')}") for one in ordered[:MAX_LABELS]]
    lines = ["", *table(rows)]
    if len(labels) > MAX_LABELS:
        lines.append(f"and {len(labels) - MAX_LABELS:,} more; --json shows all")
    return lines


def _word_lines(words: dict[Hashable, Words]) -> list[str]:
    lines = []
    for label, top in words.items():
        shown = ", ".join(f"{name} {weight:+.3f}" for name, weight in top)
        lines += ["", f"{label}: {shown or 'the model stores no words'}"]
    return lines
