"""Tagger and journal of a mailbox in a workspace: what the owner's folders teach is an event."""

import uuid
from collections.abc import Callable
from pathlib import Path

from tagalong.files.unicode_paths import unicode_path
from tagalong.journal import ConflictError, JournalError, NotFoundError, Workspace, WorkspaceView
from tagalong.journal.view import journal_path
from tagalong.learning.items import Item
from tagalong.learning.model_files import ModelFileError
from tagalong.mail.filing.decisions import Decision
from tagalong.mail.filing.identity import identity_of
from tagalong.mail.filing.journal import Journal, digest
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.model_file import loaded_tagger
from tagalong.tagger import Tagger

__all__ = ["WorkspaceModel", "view_of_workspace"]

DOCUMENT = "mail"
"""The document of the workspace with the journal of messages."""
ACTOR = "tagalong file"
WAITING = 256
"""Number of messages that are learnt in one commit."""


class WorkspaceModel(FilingModel):
    """Tagger and journal of a mailbox in a workspace.

    A message is an item of the workspace; its id is the digest by which it is recognised in any
    file. If a run ends before the journal of messages is saved, the next one finds the messages in
    the workspace and does not learn them again.

    Parameters
    ----------
    folder : path
        The workspace; it is made if it does not exist.
    names : bool
        Whether a new workspace stores the text of messages; otherwise it stores hashed features.
    audit : float, optional
        Share of the sure messages that are spot checks; by default the present setting.
    start_from : path, optional
        Model that a new workspace starts with.
    wait : float
        Number of seconds to wait for another process that has the workspace open.
    on_wait : callable, optional
        Called when the wait begins.
    """

    def __init__(
        self,
        folder: Path,
        *,
        names: bool,
        audit: float | None = None,
        start_from: Path | None = None,
        wait: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
    ):
        is_new = not journal_path(folder).exists()
        if start_from is not None and not is_new:
            raise ValueError(
                f"{unicode_path(folder)}: this workspace exists already, and start_from= is for "
                "the first run only; leave it out, or name a new folder with workspace="
            )
        first = loaded_tagger(start_from, names) if start_from else Tagger(names=names)
        content = {"content": "text" if names else "features"}
        self._workspace = Workspace(
            folder,
            tagger=first if is_new else None,
            settings=content if is_new else None,
            quick_undo=False,
            command="tagalong file",
            wait=wait,
            on_wait=on_wait,
        )
        try:
            journal = _journal(self._workspace)
            if not names and self._workspace.settings.content == "text":
                raise ValueError(
                    f"{unicode_path(folder)}: this workspace stores the text of messages; name a "
                    "new folder to learn without words"
                )
            if audit is not None and audit != self._workspace.settings.audit:
                self._workspace.change_settings(audit=audit, actor=ACTOR)
        except BaseException:
            self._workspace.close()
            raise
        super().__init__(folder, self._workspace.tagger, journal)
        self._waiting: list[Item] = []
        self._batch = str(uuid.uuid4())  # all that a run files can be undone together

    @property
    def tagger(self) -> Tagger:
        """The tagger, after everything that it was taught."""
        self._learn_waiting()
        return self._workspace.tagger

    @property
    def logs_words(self) -> bool:
        """Whether the log has words: no, as forgetting a message could not remove them."""
        return False

    @property
    def advice_for_another_mailbox(self) -> str:
        """What to do if the messages are those of another mailbox."""
        return "name a folder of this mailbox's own with workspace="

    def rename_folder(self, old: str, new: str) -> None:
        """Rename a folder in the workspace and the journal.

        Parameters
        ----------
        old, new : str
            Old and new label of the folder.
        """
        self._learn_waiting()
        self._workspace.rename_label(old, new, actor=ACTOR)
        self.journal.rename_folder(old, new)

    def teach(self, item: Item, decision: Decision, old_folder: str) -> None:
        """Record the lesson of a decision.

        Parameters
        ----------
        item, decision, old_folder
            As for `FilingModel`.
        """
        message = _as_item(item)
        if decision.lesson == "learn":
            self._waiting.append(_with_labels(message, decision.folder))
            if len(self._waiting) >= WAITING:
                self._learn_waiting()
            return
        self._learn_waiting()
        if decision.lesson == "reject":
            if decision.folder in self._workspace.labels:
                self._be_filed(message, decision.folder, asked=False)
                self._workspace.answer(message.id, [], shown=[decision.folder], actor=ACTOR)
            return
        if decision.lesson in ("refile", "answer") and old_folder in self._workspace.labels:
            self._be_filed(message, old_folder, asked=decision.lesson == "answer")
        self._workspace.add(message, actor=ACTOR)
        record = self._workspace.item(message.id)
        if record.state != "answered" or record.labels != [decision.folder]:
            self._workspace.answer(message.id, [decision.folder], actor=ACTOR)

    def _be_filed(self, message: Item, folder: str, *, asked: bool) -> None:
        """Record that a message was filed, unless the workspace has it, or its answer, already."""
        self._workspace.add(message, actor=ACTOR)
        state = self._workspace.item(message.id).state
        if state == "open" or (state == "asked" and not asked):
            self._workspace.file(message.id, [folder], asked=asked, batch=self._batch, actor=ACTOR)

    def note_filed(self, item: Item, folder: str, *, asked: bool = False) -> None:
        """Record that a message was filed, or is a spot check.

        Parameters
        ----------
        item, folder, asked
            As for `FilingModel`.
        """
        self._learn_waiting()
        self._be_filed(_as_item(item), folder, asked=asked)

    def _learn_waiting(self) -> None:
        """Learn the messages that wait, in one commit."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        for item, result in zip(
            waiting, self._workspace.add_many(waiting, relabel=True, actor=ACTOR), strict=True
        ):
            if isinstance(result, ConflictError):
                # Two messages with the same id, subject and sender: both are learnt.
                self._workspace.add(item, id=f"{item.id}:{_content_digest(item)}", actor=ACTOR)
            elif isinstance(result, JournalError):
                raise result

    def save(self) -> None:
        """Store the journal of messages, if it has changed; everything else is stored already."""
        self._learn_waiting()
        journal = self.journal.to_json()
        if self._workspace.document(DOCUMENT) != journal:
            self._workspace.set_document(DOCUMENT, journal)

    def close(self) -> None:
        """Let other processes use the workspace."""
        self._workspace.close()


def view_of_workspace(folder: Path, audit: float | None = None) -> FilingModel:
    """Return tagger and journal of a workspace in memory: nothing on disk changes.

    Parameters
    ----------
    folder : path
        The workspace. If it does not exist, tagger and journal are empty.
    audit : float, optional
        Share of the sure messages that are spot checks.
    """
    try:
        with WorkspaceView(folder) as view:
            tagger, journal = view.tagger, _journal(view)
    except NotFoundError:
        tagger, journal = Tagger(), Journal()
    if audit is not None:
        tagger.audit = audit
    return FilingModel(folder, tagger, journal)


def _journal(view: WorkspaceView) -> Journal:
    saved = view.document(DOCUMENT)
    try:
        return Journal() if saved is None else Journal.from_json(saved)
    except ValueError as error:
        raise ModelFileError(f"{unicode_path(view.folder)}: {error}") from error


def _as_item(item: Item) -> Item:
    """Return a message as an item of a workspace."""
    return Item(f"mail:{identity_of(item)}", item.text, item.features, date=item.date)


def _with_labels(item: Item, folder: str) -> Item:
    return Item(item.id, item.text, item.features, (folder,), date=item.date)


def _content_digest(item: Item) -> str:
    """Return a digest of all that a message says."""
    return digest(repr((item.text, dict(item.features))).encode("utf-8", "replace"))
