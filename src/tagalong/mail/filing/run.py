"""Filing run over a Maildir: learn from the owner's moves, plan, move.

A run can be interrupted at any point without loss. The tagger and the journal are in one file,
which is replaced atomically. The journal records all planned moves before the first is made, so
that the next run can distinguish Tagalong's moves from the owner's.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from tagalong import parameters
from tagalong.files.lock import exclusive_lock
from tagalong.files.unicode_paths import unicode_path
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.interrupts import deferred_interrupt
from tagalong.mail.filing.mailbox import Mailbox
from tagalong.mail.filing.maildir import Maildir
from tagalong.mail.filing.model import FilingModel
from tagalong.mail.filing.model_file import ModelFile
from tagalong.mail.filing.ownership import claim_mailbox
from tagalong.mail.filing.paths import default_model
from tagalong.mail.filing.recovery import complete_moves
from tagalong.mail.filing.renames import find_renamed_folders
from tagalong.mail.filing.results import FilingResult
from tagalong.mail.filing.rules import MIN_AUDIT, TARGETS, FilingRules, is_share
from tagalong.mail.filing.steps import Progress, StepControl, learn, make_plan, move_planned
from tagalong.mail.filing.workspace_model import WorkspaceModel, view_of_workspace
from tagalong.mail.formats.folders import SPECIAL_FOLDERS
from tagalong.tagger import SURE

__all__ = ["Progress", "file_mail"]

MIN_LEARNT = 50


def file_mail(
    maildir: str | os.PathLike[str],
    *,
    apply: bool = False,
    model: str | os.PathLike[str] | None = None,
    workspace: str | os.PathLike[str] | None = None,
    min_precision: float = SURE,
    min_learnt: int = MIN_LEARNT,
    limit: int | None = None,
    audit: float | None = None,
    only_new: bool = False,
    exclude: Collection[str] = SPECIAL_FOLDERS,
    names: bool = True,
    start_from: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    wait: float = 0.0,
    on_wait: Callable[[str], None] | None = None,
) -> FilingResult:
    r"""Learn from the folders of a Maildir, and file the messages of its inbox.

    Each message in a folder is learnt once, in the order of dates; a message that was moved since
    the last run is learnt again. Then each message of the inbox with a sure suggestion is moved to
    the suggested folder, except for a few spot checks, which the owner files. A message that the
    owner puts back into the inbox is never filed again.

    Parameters
    ----------
    maildir : str or path
        A Maildir with folders inside (".Work.Tagalong" or "Work/Tagalong"), or a folder of
        Maildirs. The inbox is the Maildir itself, or a folder named inbox.
    apply : bool, default False
        Whether to move messages and save the model. Otherwise nothing on disk changes: the model
        learns in memory, and the result lists the moves that would be made.
    model : str or path, optional
        Model file for this Maildir; by default the path from `default_model`. If it does not exist,
        the model starts empty. The model of another Maildir is refused.
    workspace : str or path, optional
        A workspace to learn into and to record moves in, in place of a model file: see
        `tagalong.journal`. It is made if it does not exist.
    min_precision : float, default 0.95
        Target fraction of filed messages that are filed correctly. A folder's own target, set with
        `Tagger.set_min_precision`, comes before it.
    min_learnt : int, default 50
        Number of messages that the model must have learnt before any message is filed.
    limit : int, optional
        Maximum number of sure messages, oldest first, that the run moves or leaves to the owner
        as new spot checks.
    audit : float, optional
        Share of the sure messages that are left to the owner as spot checks, at least a tenth
        until 200 of them have been answered. It is saved in the model; a new model has 0.02. With 0
        there are none, and the model cannot notice that its sure suggestions have become worse.
    only_new : bool, default False
        Whether to file only messages that no mail program has seen yet.
    exclude : collection of str
        Folders that mail is neither learnt from nor filed into, including their subfolders; by
        default Sent, Drafts, Trash, Junk and similar folders.
    names : bool, default True
        Whether a new model stores the words of the mail, so that its weights can be shown by word.
    start_from : str or path, optional
        Model that a new model begins with, such as one that `tagalong learn` made from exported
        mail. The file itself does not change, unless it is `model`.
    progress : callable, optional
        Called as ``progress(step, done, total)`` after each message of the steps "sort", "learn",
        "suggest" and "move".
    wait : float, default 0
        Number of seconds to wait for another run that uses the same model.
    on_wait : callable, optional
        Called once, when the wait begins, with the words for the process that uses the model.

    Returns
    -------
    FilingResult
        Messages learnt, moves made or planned, and messages left in the inbox with the reason.
        After Ctrl-C it covers the run up to that point.

    Raises
    ------
    BusyError
        If another run uses the same model, and has not ended after `wait` seconds. The error says
        which process that is.
    ReadError
        If `maildir` is not a Maildir, or has no inbox. A folder inside that cannot be read is
        counted as a failure.
    ModelFileError
        If the model file is not usable, or was not made by this function for this Maildir.

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
    ...     _ = inbox.add("Subject: Your flight is late\n\nHello")
    ...     result = file_mail(folder + "/Mail", apply=True, audit=0)
    ...     [len(inbox), len(inbox.get_folder("Travel"))]
    [0, 61]
    >>> result.learnt, result.moves[0].to_folder, result.moves[0].why[0]
    (120, 'Travel', 'flight')
    """
    if not 0 < parameters.real(min_precision, "min_precision") <= 1:
        raise ValueError(f"min_precision must be above 0 and at most 1, got {min_precision!r}")
    if isinstance(exclude, str):
        raise ValueError(
            f"exclude must be a collection of folder names, got the string {exclude!r}"
        )
    if audit is not None and not is_share(parameters.real(audit, "audit")):
        raise ValueError(f"audit must be 0 or from {MIN_AUDIT:g} to 1, got {audit!r}")
    applied = parameters.flag(apply, "apply")
    rules = FilingRules(
        min_precision=min_precision,
        min_learnt=parameters.integer(min_learnt, "min_learnt", 0),
        only_new=parameters.flag(only_new, "only_new"),
        limit=None if limit is None else parameters.integer(limit, "limit", 0),
        now=int(time.time()),
        other_targets=() if applied else TARGETS,
    )
    names = parameters.flag(names, "names")
    if not parameters.real(wait, "wait") >= 0:
        raise ValueError(f"wait must be at least 0 seconds, got {wait!r}")
    if model is not None and workspace is not None:
        raise ValueError("model= and workspace= exclude each other: give one of them")
    path = default_model(maildir) if model is None else Path(model)
    path = path if workspace is None else Path(workspace)
    mailbox = Maildir(Path(maildir), exclude)
    mailbox.check_inbox()  # both raise before the lock file is created
    if applied and not path.absolute().parent.is_dir():
        what = "model file" if workspace is None else "workspace"
        raise FileNotFoundError(f"{unicode_path(path)}: the folder of the {what} does not exist")
    result = FilingResult(path, applied)
    first = None if start_from is None else Path(start_from)

    @contextmanager
    def opened() -> Iterator[FilingModel]:
        """Open the model file or the workspace, locked if messages are moved."""
        if workspace is not None and not applied:
            yield view_of_workspace(path, audit)
        elif workspace is not None:
            filing = WorkspaceModel(
                path, names=names, audit=audit, start_from=first, wait=wait, on_wait=on_wait
            )
            with closing(filing):
                yield filing
        else:
            lock = exclusive_lock(path, command="tagalong file", wait=wait, on_wait=on_wait)
            with lock if applied else nullcontext():
                yield ModelFile(path, names=names, save=applied, audit=audit, start_from=first)

    with opened() as filing, deferred_interrupt() as interrupted:
        control = StepControl(progress or (lambda step, done, total: None), interrupted)
        context = _prepare(mailbox, filing, result)
        result.learnt_before = filing.learnt
        learn(context, control)
        planned = make_plan(context, control, rules)
        if applied and not interrupted():
            move_planned(context, control, planned)
        if not interrupted():
            filing.journal.trim(gone=not context.snapshot.unread)
        filing.save()
        result.interrupted = interrupted()
    return result


def _prepare(mailbox: Mailbox, model: FilingModel, result: FilingResult) -> FilingContext:
    """Scan the mailbox, and update the model to its folders and messages."""
    snapshot = mailbox.scan()
    claim_mailbox(model, mailbox, snapshot)
    if result.applied:
        complete_moves(mailbox, model.journal, snapshot)
    result.links = snapshot.links
    for error in snapshot.unread.values():
        result.fail(str(error))
    result.renamed = find_renamed_folders(set(model.tagger.labels), model.journal, snapshot)
    for old, new in result.renamed.items():
        model.rename_folder(old, new)
    model.journal.update_presence(snapshot.messages.keys(), snapshot.unread.keys())
    return FilingContext(mailbox, snapshot, model, result)
