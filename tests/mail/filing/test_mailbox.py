"""The steps of a run, with an in-memory implementation of the `Mailbox` protocol."""

from pathlib import Path

import pytest

from tagalong.learning.items import Item
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.mailbox import Message, MessageGoneError, MoveError, Snapshot
from tagalong.mail.filing.model_file import ModelFile
from tagalong.mail.filing.results import FilingResult
from tagalong.mail.filing.rules import FilingRules
from tagalong.mail.filing.steps import StepControl, learn, make_plan, move_planned

CONTROL = StepControl(report=lambda step, done, total: None, interrupted=lambda: False)
RULES = FilingRules(min_precision=0.9, min_learnt=50, only_new=True)
WORDS = {"Bank": "invoice account payment", "Travel": "flight hotel ticket"}


class InMemoryMailbox:
    """Mailbox in memory: texts by path "folder/name"."""

    def __init__(self, texts: dict[str, str]):
        self.texts = texts
        self.locked: set[str] = set()

    @property
    def home(self) -> str:
        return "memory"

    def scan(self) -> Snapshot:
        messages = {}
        for number, place in enumerate(self.texts):
            folder, _, name = place.rpartition("/")
            messages[name] = [Message(number, name, folder, "new")]
        folders = frozenset({"", *WORDS})
        return Snapshot(folders, folders - {""}, folders, messages, {})

    def why_unmovable(self, folder: str) -> str:
        raise AssertionError("all folders are movable")

    def date(self, message: Message) -> float:
        return message.delivered

    def read(self, message: Message) -> Item:
        place = str(self.source(message))
        if place not in self.texts:
            raise MessageGoneError
        return Item(id=message.name, text={"subject": self.texts[place]})

    def source(self, message: Message) -> Path:
        return Path(message.folder, message.name)

    def target(self, message: Message, folder: str) -> Path:
        return Path(folder, message.name)

    def move(self, source: Path, target: Path) -> None:
        if target.parts[0] in self.locked:
            raise MoveError(f"{target.parts[0]} is locked")
        if str(source) not in self.texts:
            raise MessageGoneError
        self.texts[str(target)] = self.texts.pop(str(source))

    def remove_second_name(self, message: Message, other: Message) -> bool:
        raise AssertionError("no message has two names")


@pytest.fixture
def mailbox() -> InMemoryMailbox:
    texts = {
        f"{folder}/{folder}{number}": f"{words} {number}"
        for number in range(60)
        for folder, words in WORDS.items()
    }
    return InMemoryMailbox(
        {**texts, "first": "an invoice for your account", "second": "flight and hotel"}
    )


@pytest.fixture
def context(mailbox: InMemoryMailbox, tmp_path: Path) -> FilingContext:
    path = tmp_path / "m.tagalong"
    model = ModelFile(path, names=True, save=True, audit=0)
    return FilingContext(mailbox, mailbox.scan(), model, FilingResult(path, applied=True))


def test_messages_are_learnt_and_filed(context: FilingContext, mailbox: InMemoryMailbox) -> None:
    learn(context, CONTROL)
    planned = make_plan(context, CONTROL, RULES)
    assert context.result.learnt == 120
    assert [each.move.target for each in planned] == [Path("Bank/first"), Path("Travel/second")]
    assert {"first", "second"} <= set(mailbox.texts), "planning moves nothing"
    move_planned(context, CONTROL, planned)
    assert {"Bank/first", "Travel/second"} <= set(mailbox.texts)
    assert [move.done for move in context.result.moves] == [True, True]
    journal = ModelFile(context.result.model, names=True, save=False).journal
    assert journal.present["first"].state == "moving", "saved before the first move"
    assert context.model.journal.present["first"].state == "filed"


def test_failed_moves_are_counted(context: FilingContext, mailbox: InMemoryMailbox) -> None:
    learn(context, CONTROL)
    planned = make_plan(context, CONTROL, RULES)
    mailbox.locked = {"Bank"}
    del mailbox.texts["second"]
    move_planned(context, CONTROL, planned)
    result = context.result
    assert (result.moved, result.vanished, result.errors) == (0, 1, ["Bank is locked"])
    assert not {"first", "second"} & set(context.model.journal.present)


def test_a_message_that_disappears_is_counted(
    context: FilingContext, mailbox: InMemoryMailbox
) -> None:
    del mailbox.texts["Bank/Bank7"]
    learn(context, CONTROL)
    assert (context.result.learnt, context.result.vanished) == (119, 1)


def test_a_dry_run_saves_nothing(mailbox: InMemoryMailbox, tmp_path: Path) -> None:
    path = tmp_path / "m.tagalong"
    model = ModelFile(path, names=True, save=False)
    learn(FilingContext(mailbox, mailbox.scan(), model, FilingResult(path, applied=False)), CONTROL)
    assert model.learnt == 120
    model.save()
    assert not path.exists()
