"""One run over a Maildir: learn what its owner did, plan, move.

Nothing is lost wherever a run breaks off. What was learnt and the journal that says so are in one
file, which is replaced at once. Moves are noted there before the first is made, so that the next
run knows its own from those of the owner.
"""

import os
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path

from tagalong import parameters
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.guards import deferred_interrupt, exclusive_lock
from tagalong.mail.filing.mailbox import Mailbox
from tagalong.mail.filing.maildir import Maildir
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.renames import find_renamed_folders
from tagalong.mail.filing.results import FilingResult, printable_path
from tagalong.mail.filing.steps import Progress, StepControl, learn, make_plan, move_planned
from tagalong.mail.formats.folders import SPECIAL_FOLDERS
from tagalong.tagger import SURE

__all__ = ["Progress", "default_model", "file_mail"]

MODEL_NAME = "model.tagalong"
MIN_LEARNT = 50


def default_model(maildir: str | os.PathLike[str]) -> Path:
    """Return where the model of a Maildir is if nothing else is said.

    In the Maildir itself, as a plain file. Not in a folder, nor under a name that starts with a
    dot: mail servers take those for folders of mail.

    Parameters
    ----------
    maildir : str or path
        The Maildir.
    """
    return Path(maildir) / MODEL_NAME


def file_mail(
    maildir: str | os.PathLike[str],
    *,
    apply: bool = False,
    model: str | os.PathLike[str] | None = None,
    min_precision: float = SURE,
    min_learnt: int = MIN_LEARNT,
    only_new: bool = False,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    names: bool = True,
    progress: Progress | None = None,
) -> FilingResult:
    r"""Learn from the folders of a Maildir, and file what is in its inbox.

    Messages in folders are learnt, each once; those that were moved since the last run are learnt
    anew. Then each message of the inbox whose folder is sure is moved there. A message that its
    owner puts back into the inbox is never filed again.

    Parameters
    ----------
    maildir : str or path
        A Maildir with folders within it (".Work.Tagalong" or "Work/Tagalong"), or a folder of
        Maildirs. The inbox is the Maildir itself, or a folder of that name.
    apply : bool, default False
        Move messages and save the model. Otherwise nothing on disk changes: what would be learnt
        is learnt in memory, and the result says what would be moved.
    model : str or path, optional
        The model file, for this Maildir alone; by default what `default_model` returns. If there
        is none, the model begins empty.
    min_precision : float, default 0.95
        The share of filed messages that should be filed rightly.
    min_learnt : int, default 50
        Nothing is filed before the model has learnt so many messages.
    only_new : bool, default False
        File only messages that no mail program has seen yet.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into, with all below them; by default
        Sent, Drafts, Trash, Junk and the like.
    names : bool, default True
        Whether a new model keeps the words of the mail, to show what it knows.
    progress : callable, optional
        Called as ``progress(step, done, total)`` after each message of the steps "learn", "suggest"
        and "move".

    Returns
    -------
    FilingResult
        What was learnt, what was or would be moved, what was left alone and why. After Ctrl-C it
        says what was done until then.

    Raises
    ------
    BusyError
        If another run is at work.
    ReadError
        If there is no Maildir, or one of its folders cannot be looked into.
    ModelFileError
        If the model file is not usable.

    Examples
    --------
    >>> import mailbox, tempfile
    >>> from tagalong.filing import file_mail
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     inbox = mailbox.Maildir(folder + "/Mail")
    ...     places = {"Bank": "Your invoice is due", "Travel": "Your flight is booked"}
    ...     for number in range(60):
    ...         for name, text in places.items():
    ...             _ = inbox.add_folder(name).add(f"Subject: {text}, no. {number}\n\nHello")
    ...     _ = inbox.add("Subject: A flight for you\n\nHello")
    ...     result = file_mail(folder + "/Mail", apply=True)
    ...     [len(inbox), len(inbox.get_folder("Travel"))]
    [0, 61]
    >>> result.learnt, result.moves[0].to_folder, result.moves[0].why[0]
    (120, 'Travel', 'subject:flight')
    """
    if not 0 < parameters.real(min_precision, "min_precision") <= 1:
        raise ValueError(f"min_precision must be above 0 and at most 1, got {min_precision!r}")
    if isinstance(exclude, str):
        raise ValueError(f"exclude must be a collection of folders, got {exclude!r}")
    least = parameters.integer(min_learnt, "min_learnt", 0)
    only_new = parameters.flag(only_new, "only_new")
    names = parameters.flag(names, "names")
    applied = parameters.flag(apply, "apply")
    path = default_model(maildir) if model is None else Path(model)
    mailbox = Maildir(Path(maildir), exclude)  # before a lock is left where there is no Maildir
    if applied and not path.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"{printable_path(path)}: there is no such folder for the model file"
        )
    result = FilingResult(path, applied)
    with exclusive_lock(path) if applied else nullcontext(), deferred_interrupt() as interrupted:
        control = StepControl(progress or (lambda step, done, total: None), interrupted)
        context = _prepare(mailbox, FilingModel(path, names=names, save=applied), result)
        learn(context, control)
        planned = make_plan(context, control, min_precision, least, only_new)
        if not interrupted():
            context.model.journal.trim()
            if applied:
                move_planned(context, control, planned)
        context.model.save()
        result.interrupted = interrupted()
    return result


def _prepare(mailbox: Mailbox, model: FilingModel, result: FilingResult) -> FilingContext:
    """Look at the mailbox, and bring the model up to the folders and messages that are there."""
    snapshot = mailbox.scan()
    for error in snapshot.unread.values():
        result.fail(str(error))
    result.renamed = find_renamed_folders(set(model.tagger.labels), model.journal, snapshot)
    for old, new in result.renamed.items():
        model.rename_folder(old, new)
    model.journal.update_presence(snapshot.messages.keys(), snapshot.unread.keys())
    return FilingContext(mailbox, snapshot, model, result)
