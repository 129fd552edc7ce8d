"""``learn --server``: items go to a server in batches; the same command goes on after a stop."""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.server_report import report_lines
from tagalong.cli.learners import feature_settings, learner_settings
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output, items_text
from tagalong.cli.servers import open_client
from tagalong.cli.sources import is_live_stream, reading_of
from tagalong.client import Added, Client, Unavailable
from tagalong.client.item_forms import new_item
from tagalong.journal.repeatable_ids import RepeatableIds
from tagalong.learning.items import Item, ReadError
from tagalong.printable import as_json
from tagalong.readers.writing import open_destination

__all__ = ["Sender", "run"]

ITEMS_AT_ONCE = 256
MAX_ERRORS = 20


def run(args: argparse.Namespace, out: Output) -> int:
    """Add the items to the workspace of a server, and show its figures."""
    _check(args)
    reading = reading_of(args)
    is_live = any(map(is_live_stream, args.sources))
    with open_client(args, out) as client:
        sender = Sender(client, skips=reading.on_error == "skip")
        with reading.open() as stream, Interrupts() as interrupts:
            items = reading.limited(stream)
            with Live(out.quiet, args.every) as live:
                _send_all(sender, items, 1 if is_live else ITEMS_AT_ONCE, interrupts, live)
        skipped = stream.skipped + sender.skipped
        if not sender.read and not interrupts.signal:
            raise nothing_learnt(reading, 0, skipped, links=stream.links)
        document = client.report()
        if args.report is not None:
            with open_destination(args.report, private=stream.is_private) as file:
                file.write(f"{as_json(document['report'])}\n".encode())
        errors = [*stream.errors, *sender.errors]
        out.json_result(
            {
                "server": client.url,
                "workspace": client.workspace,
                **sender.counts(),
                "interrupted": bool(interrupts.signal),
                "skipped": skipped,
                "errors": errors,
                "links": stream.links,
                "report": document["report"],
            }
        )
        out.result(*report_lines(document["report"]))
        if sender.unlabelled:
            out.info(
                f"{sender.unlabelled:,} of the items have no labels: they are open, to be answered"
            )
        out.report_skipped(skipped, errors, stream.links)
        out.info(sender.line(is_interrupted=bool(interrupts.signal)))
    if interrupts.signal:
        return interrupts.exit_code
    return SOME_SKIPPED if skipped else OK


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that have no meaning with a server."""
    own = "the workspace of the server has its own"
    for flag, is_given, reason in (
        ("--model", args.model is not None, own + " model"),
        ("--workspace", args.workspace is not None, "--server-workspace NAME names one there"),
        ("--resume", args.resume, "the same command goes on where it stopped"),
        ("--continue", args.continue_run, "a workspace always learns further items"),
        ("--force", args.force, "nothing in a workspace is replaced"),
        ("--passes", args.passes is not None, "a workspace learns each item once"),
        ("--predictions", args.predictions is not None, "it needs --model, or neither"),
        ("--plot", args.plot is not None, "--report FILE writes the figures of the server"),
        ("--no-names", args.no_names, "its setting 'content' says what is stored"),
        ("options of the learner", bool(args.learner or learner_settings(args)), own + " learner"),
        ("options of the features", bool(feature_settings(args)), own + " features"),
    ):
        if is_given:
            raise UsageError(f"--server {args.server} cannot be used with {flag}: {reason}")
    if not args.sources:
        raise UsageError("nothing to read: give a SOURCE, such as a file or pydocs:")
    check_destination(args.report, "--report")


class Sender:
    """Adds items to a workspace of a server, and counts them.

    Parameters
    ----------
    client : Client
        The workspace.
    skips : bool
        Whether an item that is refused is counted, instead of raising CommandError.
    """

    def __init__(self, client: Client, *, skips: bool):
        self.read = self.unlabelled = self.skipped = 0
        self.errors: list[str] = []
        self._client = client
        self._skips = skips
        self._outcomes: Counter[str] = Counter()
        self._ids = RepeatableIds()

    def send(self, items: Sequence[Item]) -> None:
        """Add items, in their order.

        Parameters
        ----------
        items : sequence of Item
            The items. Those without labels become open items.
        """
        sound: list[tuple[Item, Item]] = []
        for item in items:
            try:
                given = self._ids.given_to(item)
                new_item(given, None)
                sound.append((item, given))
            except ValueError as error:  # it cannot be sent
                self._add(sound)
                sound = []
                self._refuse(item, str(error))
        self._add(sound)

    def _add(self, sound: Sequence[tuple[Item, Item]]) -> None:
        results = self._client.add_many([given for _, given in sound], relabel=True)
        for (item, _), result in zip(sound, results, strict=True):
            if isinstance(result, Added):
                self.read += 1
                self.unlabelled += item.labels is None
                self._outcomes[result.outcome] += 1
            else:
                self._refuse(item, result.detail)

    def _refuse(self, item: Item, reason: str) -> None:
        problem = f"{item.place or item.id}: {reason}"
        if not self._skips:
            raise CommandError(problem, self.resume_hint)
        self.read += 1
        self.skipped += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(problem)

    @property
    def resume_hint(self) -> str:
        """How to go on after an error."""
        are = "is" if self.read == 1 else "are"
        return (
            f"{items_text(self.read)} {are} in the workspace; correct the error and use the same "
            "command again, or add --on-error skip"
        )

    def counts(self) -> dict[str, int]:
        """Return values for the JSON result."""
        outcomes = {name: self._outcomes[name] for name in ("new", "known", "answered")}
        return {**outcomes, "read": self.read, "unlabelled": self.unlabelled}

    def line(self, *, is_interrupted: bool) -> str:
        """Return what was added, and how to go on after an interruption."""
        client, counts = self._client, self._outcomes
        parts = [
            f"{items_text(counts['new'])} added to workspace {client.workspace} of {client.url}"
        ]
        if counts["known"]:
            parts.append(f"{counts['known']:,} were there already")
        if counts["answered"]:
            parts.append(f"{counts['answered']:,} have other labels now")
        line = "; ".join(parts)
        if not is_interrupted:
            return line
        return (
            f"interrupted; {line}. The same command goes on: items that are there are not learnt "
            "again"
        )


def _send_all(
    sender: Sender, items: Iterator[Item], size: int, interrupts: Interrupts, live: Live
) -> None:
    """Read and send all items, up to a signal."""
    start = time.monotonic()
    batch: list[Item] = []
    try:
        while interrupts.call(_take, items, size, batch):
            sender.send(batch)
            batch.clear()
            if live.is_due():
                speed = sender.read / max(time.monotonic() - start, 1e-9)
                cells = {"items": f"{sender.read:,}", "items/s": f"{speed:,.0f}"}
                line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
                live.show(list(cells), [list(cells.values())], line)
    except KeyboardInterrupt:
        return
    except ReadError as error:
        sender.send(batch)  # the items before
        raise CommandError(str(error), sender.resume_hint) from error
    except Unavailable as error:
        raise CommandError(str(error), sender.resume_hint) from error


def _take(items: Iterator[Item], size: int, batch: list[Item]) -> bool:
    """Add the next items to a batch, also those before an error; return whether there are any."""
    for item in islice(items, size):
        batch.append(item)
    return bool(batch)
