"""The operations that are attacked: what each does, and what must hold however it ends."""

import json
import os
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tagalong
from tagalong.cli.learn.saving import ModelFile
from tagalong.cli.main import main
from tagalong.filing import default_model
from tagalong.readers import ordering
from tests.cli.conftest import items
from tests.cli.test_resume import contents
from tests.mail.filing.maildirs import Mail, text_about

MODEL = "m.tagalong"
TEMPORARY = "sorting"
ITEMS_BETWEEN_SAVES = 16
BYTES_TO_SORT_IN_MEMORY = 4000


class Operation(ABC):
    """Something that reads and writes files in the current folder.

    Attributes
    ----------
    name : str
        A word for the command line and for messages.
    names : tuple of str
        Names of the files and folders, one of which a message about a failed call must contain.
    keeps : tuple of str
        Names of files that a failed run keeps for the next one.
    has_threads : bool
        Whether several threads make the calls. Their number varies then, so that a call near the
        end may not come.
    tries_again : bool
        Whether it repeats what has failed, so that one error must not end it.
    """

    name: str
    names: tuple[str, ...] = (MODEL,)
    keeps: tuple[str, ...] = ()
    has_threads: bool = False
    tries_again: bool = False

    @abstractmethod
    def prepare(self) -> None:
        """Create the files that the operation finds, in the current folder."""

    def begin(self) -> None:  # noqa: B027 (most have nothing to forget)
        """Forget earlier runs, before a process that may be killed at once begins the work anew."""

    @abstractmethod
    def run(self) -> int:
        """Do the work in the current folder and return an exit code."""

    def run_again(self) -> int:
        """Do what a user does after a failure."""
        return self.run()

    @abstractmethod
    def check(self, before: Path, complete: Path) -> None:
        """Raise AssertionError if something is lost in the current folder.

        Parameters
        ----------
        before, complete : path
            Folders as they were before the run, and as an undisturbed run leaves them.
        """

    @abstractmethod
    def check_complete(self, complete: Path) -> None:
        """Raise AssertionError if the work in the current folder is not done in full."""


def write_items(name: str, start: int, count: int, labelled: bool = False) -> None:
    records = [item for item in items(start + count)[start:] if item.get("labels") or not labelled]
    Path(name).write_text("".join(json.dumps(item) + "\n" for item in records), encoding="utf-8")


def command(*argv: str) -> int:
    """Run a command line. Little fits into memory, and models are saved often."""
    Path(TEMPORARY).mkdir(exist_ok=True)
    tempfile.tempdir = os.path.abspath(TEMPORARY)
    calls = 0

    def save_often(saver: ModelFile) -> None:
        nonlocal calls
        calls += 1
        if calls % ITEMS_BETWEEN_SAVES == 0:
            saver.save()

    with (
        patch.object(ModelFile, "save_if_due", save_often),
        patch.dict(ordering.shuffled.__kwdefaults__ or {}, memory=BYTES_TO_SORT_IN_MEMORY),
    ):
        return main(argv)


def same_file(name: str, *folders: Path) -> bool:
    """Whether a file is the same as in one of some folders, or missing as it is there."""
    here = Path(name)
    return any(
        here.read_bytes() == (folder / name).read_bytes()
        if here.exists() and (folder / name).exists()
        else here.exists() == (folder / name).exists()
        for folder in folders
    )


def same_model(*folders: Path) -> bool:
    """Whether the model has the same contents as in one of some folders."""
    assert Path(MODEL).exists(), "the model is gone"
    return any(contents(MODEL) == contents(str(folder / MODEL)) for folder in folders)


def check_model(name: str = MODEL) -> None:
    """Check that a model file, if it is there, can be used."""
    if Path(name).exists():
        assert tagalong.load(name).suggest("invoice and flight")


class Save(Operation):
    """A call of ``Tagger.save`` over the file of another model."""

    name = "save"

    def __init__(self) -> None:
        self._new = tagalong.Tagger()
        for item in items(30):
            self._new.learn(item["text"], item.get("labels", []))

    def prepare(self) -> None:
        old = tagalong.Tagger()
        old.learn("the invoice", ["money"])
        old.learn("a flight", ["travel"])
        old.save(MODEL)

    def run(self) -> int:
        try:
            self._new.save(MODEL)
        except OSError as error:
            print(f"tagalong: {error}", file=sys.stderr)
            return 1
        return 0

    def check(self, before: Path, complete: Path) -> None:
        assert same_model(before, complete), "the model is neither the old nor the new one"
        check_model()

    def check_complete(self, complete: Path) -> None:
        assert same_model(complete), "the model differs"


class Learn(Operation):
    """``tagalong learn`` with sorted items, predictions, a report, and a save now and then."""

    name = "learn"
    names: tuple[str, ...] = (MODEL, "p.csv", "r.json", "items.jsonl", TEMPORARY)
    predictions = "p.csv"

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 60)

    def run(self) -> int:
        return self._learn("items.jsonl", "--shuffle", "1", "--predictions", self.predictions)

    def run_again(self) -> int:
        return self._learn("--resume") if Path(MODEL).exists() else self.run()

    def _learn(self, *rest: str) -> int:
        return command("learn", "--model", MODEL, "--report", "r.json", *rest)

    def check(self, before: Path, complete: Path) -> None:
        check_model()

    def check_complete(self, complete: Path) -> None:
        assert same_model(complete), "the model differs"
        for name in ("r.json", self.predictions):
            assert same_file(name, complete), f"{name} differs"


class LearnParquet(Learn):
    """The same, with predictions as Parquet, whose rows are first collected in another file."""

    name = "learn-parquet"
    names = (*Learn.names, "p.parquet")
    keeps = ("p.parquet.partial",)
    predictions = "p.parquet"


class Continue(Operation):
    """``tagalong learn --continue`` on a model that has learnt other items."""

    name = "continue"
    names = (MODEL, "more.jsonl", TEMPORARY)

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 40)
        write_items("more.jsonl", 40, 40)
        command("learn", "items.jsonl", "--model", MODEL, "-q")

    def run(self) -> int:
        return command("learn", "more.jsonl", "--model", MODEL, "--continue")

    def run_again(self) -> int:
        run = tagalong.load(MODEL).notes["learn"]
        if run["reading"]["sources"] == ["items.jsonl"]:
            return self.run()
        return command("learn", "--model", MODEL, "--resume")

    def check(self, before: Path, complete: Path) -> None:
        assert Path(MODEL).exists(), "the model is gone"
        check_model()

    def check_complete(self, complete: Path) -> None:
        assert same_model(complete), "the model differs"


class Rename(Operation):
    """``tagalong labels rename``."""

    name = "rename"

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 40)
        command("learn", "items.jsonl", "--model", MODEL, "-q")

    def run(self) -> int:
        return command("labels", "rename", MODEL, "money", "cash")

    def run_again(self) -> int:
        return self.run() if "money" in tagalong.load(MODEL).labels else 0

    def check(self, before: Path, complete: Path) -> None:
        assert same_model(before, complete), "the model is neither the old nor the new one"

    def check_complete(self, complete: Path) -> None:
        assert same_model(complete), "the model differs"


class Fit(Operation):
    """``tagalong fit`` over an old model, with a report."""

    name = "fit"
    names = (MODEL, "r.json", "items.jsonl")

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 60)
        tagalong.Tagger().save(MODEL)

    def run(self) -> int:
        return command("fit", "items.jsonl", "--model", MODEL, "--report", "r.json", "-q")

    def check(self, before: Path, complete: Path) -> None:
        assert same_model(before, complete), "the model is neither the old nor the new one"

    def check_complete(self, complete: Path) -> None:
        assert same_model(complete), "the model differs"
        assert same_file("r.json", complete)


class Convert(Operation):
    """``tagalong convert`` over an old file, with files of names beside it, from sorted items."""

    name = "convert"
    names: tuple[str, ...] = ("new.vw", "items.jsonl", TEMPORARY)

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 60, labelled=True)
        Path("new.vw").write_text("1 |text old\n")
        Path("new.vw.labels").write_text("old\n")

    def run(self) -> int:
        return command("convert", "items.jsonl", "new.vw", "--shuffle", "1")

    def check(self, before: Path, complete: Path) -> None:
        for name in ("new.vw", "new.vw.labels"):
            assert same_file(name, before, complete), f"{name} is neither the old nor the new one"
        new_main = not same_file("new.vw", before)
        assert not new_main or same_file("new.vw.labels", complete), "new items with old labels"

    def check_complete(self, complete: Path) -> None:
        for name in ("new.vw", "new.vw.labels"):
            assert same_file(name, complete), f"{name} differs"


class ConvertCompressed(Convert):
    """The same with one compressed file."""

    name = "convert-compressed"
    names = ("new.jsonl.xz", "items.jsonl")

    def prepare(self) -> None:
        write_items("items.jsonl", 0, 60, labelled=True)
        Path("new.jsonl.xz").write_text("old")

    def run(self) -> int:
        return command("convert", "items.jsonl", "new.jsonl.xz")

    def check(self, before: Path, complete: Path) -> None:
        assert same_file("new.jsonl.xz", before, complete), "the file is neither old nor new"

    def check_complete(self, complete: Path) -> None:
        assert same_file("new.jsonl.xz", complete)


class File(Operation):
    """``tagalong file --apply`` on a small Maildir, whose owner has moved messages."""

    name = "file"
    names = ("Mail",)
    each = 12
    options: tuple[str, ...] = ("--audit", "0", "--min-learnt", "10", "--min-precision", "0.5")

    def __init__(self) -> None:
        self._inbox: list[str] = []
        self._messages: Counter[bytes] = Counter()

    def prepare(self) -> None:
        mail = Mail(Path("Mail"))
        mail.fill(self.each)
        rejected = mail.deliver("", text_about("Travel", 900))
        self.run()
        mail.move(rejected, "")
        mail.move(min(mail.contents()["Bank"]), "Travel")
        mail.deliver("Bank", text_about("Bank", 901), "S")
        self._inbox = [mail.deliver("", text_about("Bank", 1000 + i)) for i in range(3)]
        self._messages = mail.messages()

    def run(self) -> int:
        return command("file", "Mail", "--apply", *self.options)

    def check(self, before: Path, complete: Path) -> None:
        mail = Mail(Path("Mail"))
        assert mail.messages() == self._messages, "messages are lost or duplicated"
        tagalong.load(default_model(mail.root))

    def check_complete(self, complete: Path) -> None:
        mail = Mail(Path("Mail"))
        assert {mail.where(key) for key in self._inbox} == {"Bank"}, "not all messages are filed"
        assert _rounds(mail) == _rounds(Mail(complete / "Mail")), "learnt twice, or not at all"


def _rounds(mail: Mail) -> Any:
    return tagalong.load(default_model(mail.root)).certificate_.rounds


class FirstFile(File):
    """The first run on a Maildir, which has no model yet."""

    name = "first-file"

    def prepare(self) -> None:
        mail = Mail(Path("Mail"))
        mail.fill(self.each)
        self._inbox = [mail.deliver("", text_about("Bank", 1000 + i)) for i in range(3)]
        self._messages = mail.messages()

    def check(self, before: Path, complete: Path) -> None:
        mail = Mail(Path("Mail"))
        assert mail.messages() == self._messages, "messages are lost or duplicated"
        if Path(default_model(mail.root)).exists():
            tagalong.load(default_model(mail.root))


OPERATIONS: dict[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        Save,
        Learn,
        LearnParquet,
        Continue,
        Rename,
        Fit,
        Convert,
        ConvertCompressed,
        File,
        FirstFile,
    )
}
