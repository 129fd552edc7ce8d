"""Errors of a workspace: what was refused, and why."""

from collections.abc import Sequence

__all__ = [
    "ConflictError",
    "DamagedError",
    "JournalError",
    "LeaseLostError",
    "NotFoundError",
    "RefusedError",
    "StorageError",
    "as_journal_error",
]


class JournalError(Exception):
    """Base class of the errors of a workspace. After any of them nothing has changed."""


class RefusedError(JournalError, ValueError):
    """A request that is not valid, whatever the state of the workspace."""


class NotFoundError(JournalError, LookupError):
    """An item, an event, a label or a workspace that does not exist."""


class ConflictError(JournalError, ValueError):
    """A request that contradicts the present state.

    Parameters
    ----------
    message : str
        The reason.
    present : sequence of str, optional
        The present labels of the item, if the request expected others.
    seqs : sequence of int
        The later events that would become impossible.
    """

    def __init__(
        self, message: str, present: Sequence[str] | None = None, seqs: Sequence[int] = ()
    ):
        super().__init__(message)
        self.present = None if present is None else list(present)
        self.seqs = list(seqs)


class DamagedError(JournalError):
    """A journal or a snapshot whose contents are not what was written; the message names it."""


class StorageError(JournalError, OSError):
    """The disk is full or fails: the request was not acknowledged; it can be sent again."""


class LeaseLostError(StorageError):
    """Another process has taken the workspace over: the request was not acknowledged.

    The workspace can no longer be used by this process. Open it again, if nobody has it.
    """


def as_journal_error(error: Exception) -> JournalError:
    """Return an error as one of a workspace: one that nobody expected is damage.

    Parameters
    ----------
    error : Exception
        The error.
    """
    return error if isinstance(error, JournalError) else DamagedError(repr(error))
