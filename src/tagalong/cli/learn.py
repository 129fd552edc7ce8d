"""``tagalong learn``: item after item, predicted before it is learnt."""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learners import feature_settings, learner_settings, make_features, named
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination, load_tagger
from tagalong.cli.output import Output, as_json, size_text
from tagalong.cli.run_state import Run, losses_of
from tagalong.cli.sources import reading_of, trickles
from tagalong.evaluate import Progress, QueryProgress
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round
from tagalong.readers.queries import Query, queries
from tagalong.tagger import Tagger

__all__ = ["run"]

SECONDS_BETWEEN_SAVES = 60.0
MOST_TOGETHER = 256
MOST_SCORES = 1 << 18


def run(args: argparse.Namespace, out: Output) -> int:
    """Learn, and tell how it went."""
    _check(args)
    tagger, course = _prepared(args)
    with Interrupts() as interrupts, Live(out.quiet, args.every) as live:
        learning = _Learning(tagger, course, args.model, interrupts, live)
        try:
            learning.go()
        except KeyboardInterrupt:
            pass
        except (CommandError, ValueError, OSError) as error:
            if not learning.has_moved:
                raise
            learning.save()
            raise _with_a_way_on(error, args, course) from error
        learning.save()
    report: Any = course.progress.report(tagger.labels, tagger.certificate_)
    if args.report is not None:
        Path(args.report).write_text(as_json(report.to_dict()) + "\n", encoding="utf-8")
    if args.plot is not None:
        report.plot(args.plot, args.plot_kind)
    _tell(args, out, learning, report)
    if interrupts.signal:
        return interrupts.exit_code
    return SOME_SKIPPED if learning.skipped else OK


def _check(args: argparse.Namespace) -> None:
    """Find what would go wrong at the end before anything begins."""
    for path, what in ((args.model, "--model"), (args.report, "--report"), (args.plot, "--plot")):
        check_destination(path, what)
    if args.plot is not None:
        if Path(args.plot).suffix.lower() not in (".png", ".svg"):
            raise UsageError(f"--plot {args.plot}: the name must end in .png or .svg")
        if find_spec("matplotlib") is None:
            raise UsageError("--plot needs matplotlib: install tagalong[plots]")
    if (args.resume or args.go_on) and args.model is None:
        raise UsageError(f"--{'resume' if args.resume else 'continue'} needs --model")
    if not args.sources and not args.resume:
        raise UsageError("there is nothing to read: give a SOURCE, such as a file or pydocs:")
    if args.passes == 0:
        raise UsageError("--passes must be at least 1")
    if args.model is not None and os.path.exists(args.model):
        if not (args.resume or args.go_on):
            raise UsageError(
                f"{args.model} is there already: --resume goes on with its run, --continue learns "
                "further items with it; or choose another name"
            )
    elif args.resume or args.go_on:
        raise CommandError(f"there is no model {args.model} to go on with")


def _prepared(args: argparse.Namespace) -> tuple[Tagger, Run]:
    """Return the tagger, and the run at its beginning or where it stopped."""
    if not (args.resume or args.go_on):
        learner = named(args.learner or "label-ranker")
        tagger = Tagger(learner.make(**learner_settings(args)), make_features(args))
    else:
        tagger = load_tagger(args.model)
        if not tagger.learns_online:
            raise CommandError(
                f"{args.model} was made by 'tagalong fit', all items at once: fit it again with "
                "the new items"
            )
        _check_unchanged(args, tagger)
    if args.resume:
        return tagger, _resumed(args, tagger)
    kind = QueryProgress if tagger.ranks_documents else Progress
    progress: Any = kind(args.at, args.window)
    return tagger, Run(reading_of(args), args.passes or 1, progress)


def _check_unchanged(args: argparse.Namespace, tagger: Tagger) -> None:
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


def _resumed(args: argparse.Namespace, tagger: Tagger) -> Run:
    """Return the run of a model, which may now go further, but not elsewhere."""
    course = Run.of(tagger, args.model)
    before, given = course.reading, reading_of(args)
    for name in ("sources", "format", "options"):
        wanted = getattr(given, name)
        if wanted and wanted != getattr(before, name):
            raise UsageError(
                f"the run of {args.model} has {name} {getattr(before, name)!r}, not {wanted!r}: "
                "leave that out to go on with it, or use --continue to learn something else"
            )
    limit = before.limit if given.limit is None else given.limit
    if limit != before.limit and (course.number > 1 or _sooner(limit, course.position)):
        raise UsageError(f"--limit {limit} would be another run; it was {before.limit}")
    if args.passes is not None and args.passes < course.number:
        raise UsageError(f"--passes {args.passes}: the run is in pass {course.number} already")
    # To skip what cannot be read is how to get past the line at which a run stopped.
    on_error = args.on_error or before.on_error
    course.reading = replace(before, limit=limit, on_error=on_error)
    course.passes = args.passes or course.passes
    return course


def _sooner(limit: int | None, position: int) -> bool:
    return limit is not None and limit < position


class _Learning:
    """Takes a run to its end, with figures and saves on the way."""

    def __init__(
        self, tagger: Tagger, course: Run, path: str | None, interrupts: Interrupts, live: Live
    ):
        self.tagger = tagger
        self.course = course
        self.path = path
        self.skipped = 0
        self.problems: list[str] = []
        self._interrupts = interrupts
        self._live = live
        self._begin = course.number, course.position
        self._speed = _Speed(course.progress.items)
        so_far = course.progress.report(tagger.labels).curve["mistakes_so_far"]
        self._mistakes = float(so_far[-1])
        self._save_due = time.monotonic() + SECONDS_BETWEEN_SAVES
        # An item that somebody else is still writing is learnt as soon as it comes.
        self._one_by_one = not tagger.learns_together or any(map(trickles, course.reading.sources))

    @property
    def has_moved(self) -> bool:
        """Whether there is anything new to keep."""
        return (self.course.number, self.course.position) != self._begin

    def go(self) -> None:
        """Read and learn, pass after pass; KeyboardInterrupt if a signal came."""
        while True:
            self._one_pass()
            if self.course.number >= self.course.passes:
                return
            self.course.next_pass()

    def _one_pass(self) -> None:
        course, interrupts = self.course, self._interrupts
        stop = course.reading.limit
        problems: list[str] = []
        waiting: list[Item | Query] = []
        with course.reading.open() as stream:
            items: Any = queries(stream) if self.tagger.ranks_documents else stream
            try:
                self._find_place(items)
                enough = self._together()
                try:
                    while stop is None or course.position + len(waiting) < stop:
                        item = interrupts.next(items)
                        if item is None:
                            break
                        waiting.append(item)
                        if len(waiting) >= enough:
                            self._deal_with(waiting, problems)
                            enough = self._together()
                finally:  # what was read before a signal or an error came counts
                    self._deal_with(waiting, problems)
            finally:
                # The same items are met in each pass: they count once.
                self.skipped = stream.skipped + course.refused
                self.problems = [*stream.errors, *problems]

    def _find_place(self, stream: Iterator[Item | Query]) -> None:
        """Read up to where the run stopped."""
        item: Item | Query | None = None
        for position in range(self.course.position):
            last, item = item, self._interrupts.next(stream)
            if item is None:
                self.course.check_place(last, position)
        self.course.check_place(item, self.course.position)

    def _together(self) -> int:
        """Return how many items are learnt before anybody looks: the figures, a signal, a save."""
        if self._one_by_one:
            return 1
        scores = len(self.tagger.labels)
        return max(1, min(MOST_TOGETHER, MOST_SCORES // max(1, scores), self._to_next_point()))

    def _to_next_point(self) -> int:
        progress = self.course.progress
        return progress.next_point if isinstance(progress, Progress) else 1

    def _deal_with(self, waiting: list[Item | Query], problems: list[str]) -> None:
        """Learn what was read, and do what is due then."""
        if not waiting:
            return
        items, waiting[:] = list(waiting), []
        if not self._learn_together(items):
            for item in items:
                self._learn(item, problems)
                self.course.count([item])
        if self._interrupts.signal:
            raise KeyboardInterrupt
        if self._live.is_due():
            self._show()
        if self.path is not None and time.monotonic() >= self._save_due:
            self.save()

    def _learn_together(self, items: list[Item | Query]) -> bool:
        """Learn items in one go, with the same figures; False if that cannot be."""
        if len(items) < 2:
            return False
        labelled = [item for item in items if isinstance(item, Item) and item.labels is not None]
        rounds = self.tagger.watch_together(labelled) if labelled else None
        if rounds is None:
            return False
        progress: Any = self.course.progress
        progress.add_rounds(rounds, self.tagger)
        self.course.unlabelled += len(items) - len(labelled)
        self.course.count(items)
        return True

    def _learn(self, item: Item | Query, problems: list[str]) -> None:
        if item.labels is None:
            self.course.unlabelled += 1
            return
        try:
            watch: Any = self.tagger.watch_query if isinstance(item, Query) else self.tagger.watch
            found = watch(item)
        except ValueError as error:
            place = item.place or item.id
            problem = str(error) if str(error).startswith(place) else f"{place}: {error}"
            if self.course.reading.on_error == "stop":
                raise CommandError(problem) from error
            self.course.refused += 1
            problems.append(problem)
            return
        self.course.progress.add(found, self.tagger)
        if isinstance(found, Round) and found.shown is not None:
            self._count_list(found, found.shown)

    def _count_list(self, found: Round, shown: list[int]) -> None:
        """Count what a list cost, of a learner from partial feedback."""
        course = self.course
        learner: Any = self.tagger.learner
        if course.lists is None:
            course.lists = losses_of(self.tagger, course.progress.window)
        known = int(np.isfinite(found.scores).sum())
        slots = min(known, learner.max_labels or known)
        course.lists.add(shown, found.relevant, found.unknown, slots=slots)

    def save(self) -> None:
        """Write the model with its run, if it is to be kept."""
        if self.path is None:
            return
        begun = time.monotonic()
        self.course.note(self.tagger)
        self.tagger.save(self.path)
        ended = time.monotonic()
        # A large model is saved less often: never more than a twentieth of the time.
        self._save_due = ended + max(SECONDS_BETWEEN_SAVES, 20 * (ended - begun))

    def _show(self) -> None:
        report: Any = self.course.progress.report(self.tagger.labels, self.tagger.certificate_)
        mistakes = float(report.curve["mistakes_so_far"][-1])
        cells = {
            "items": f"{report.items:,}",
            "items/s": f"{self._speed(report.items):,.0f}",
            "labels": f"{len(report.labels):,}",
            "mistakes": f"{mistakes:,.0f} (+{mistakes - self._mistakes:,.0f})",
            f"NDCG@{report.k}": f"{report.overall.ndcg_at_k:.4f}",
        }
        if not self.tagger.ranks_documents:
            cells |= {
                "AP": f"{report.overall.average_precision:.4f}",
                **self._proven(report),
            }
        if self.course.passes > 1:
            cells = {"pass": f"{self.course.number}/{self.course.passes}", **cells}
        self._mistakes = mistakes
        line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
        self._live.show(list(cells), [list(cells.values())], line)

    def _proven(self, report: Any) -> dict[str, str]:
        """Return the dual value, or what the lists cost that were shown."""
        if self.course.lists is not None:
            return {"slot loss": f"{self.course.lists.means()['slot_loss']:.4f}"}
        certificate = report.certificate
        if isinstance(certificate, Certificate):
            return {"dual": f"{certificate.dual:.6g}"}
        return {"dual": "–"}


class _Speed:
    """How many items a second there have been, since the first."""

    def __init__(self, items: int):
        self._items = items
        self._begun = time.monotonic()

    def __call__(self, items: int) -> float:
        return (items - self._items) / max(time.monotonic() - self._begun, 1e-9)


def _with_a_way_on(error: Exception, args: argparse.Namespace, course: Run) -> Exception:
    """Return an error that also says that nothing is lost."""
    if args.model is None:
        return error
    return CommandError(
        f"{error}\n{course.position:,} items are learnt and saved in {args.model}; mend that and "
        "go on with --resume, or with --resume --on-error skip"
    )


def _lists(course: Run) -> dict[str, Any]:
    """Return what lists cost, where there were any."""
    if course.lists is None:
        return {}
    found = {"overall": course.lists.means(), "recent": course.lists.means(recent=True)}
    return {"lists": found}


def _tell(args: argparse.Namespace, out: Output, learning: _Learning, report: Any) -> None:
    course = learning.course
    interrupted = bool(learning._interrupts.signal)
    out.document(
        {
            "model": args.model,
            "interrupted": interrupted,
            "pass": course.number,
            "passes": course.passes,
            "read": course.position,
            "unlabelled": course.unlabelled,
            "skipped": learning.skipped,
            "errors": learning.problems,
            "report": report.to_dict(),
            **_lists(course),
        }
    )
    out.show(str(report))
    if course.lists is not None:
        means = course.lists.means()
        out.show(
            f"lists: {means['shown']:.2f} labels shown an item, {means['accepted']:.2f} of them "
            f"right; slot loss {means['slot_loss']:.4f}, partial rank loss "
            f"{means['partial_rank_loss']:.4f}"
        )
    if course.unlabelled:
        out.say(f"{course.unlabelled:,} items without labels were passed over")
    out.skipped(learning.skipped, learning.problems)
    if interrupted:
        where = f"after {course.position:,} items of pass {course.number}"
        if args.model is None:
            out.say(f"interrupted {where}; without --model nothing is kept")
        else:
            out.say(
                f"interrupted {where}; saved. Go on with: "
                f"tagalong learn --model {args.model} --resume"
            )
    elif args.model is not None:
        size = size_text(os.path.getsize(args.model))
        out.say(f"the model is in {args.model} ({size})")
