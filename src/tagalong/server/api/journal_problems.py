"""Errors of workspaces as problem documents."""

from typing import Any

from tagalong.files.lock import BusyError
from tagalong.journal import (
    ConflictError,
    DamagedError,
    JournalError,
    NotFoundError,
    RefusedError,
)
from tagalong.server.problems import Problem

__all__ = ["problem_of"]

RETRY = {"Retry-After": "1"}


def problem_of(error: JournalError | BusyError | TimeoutError) -> Problem:
    """Return the problem document for an error.

    Parameters
    ----------
    error : JournalError, BusyError or TimeoutError
        The error.
    """
    match error:
        case RefusedError():
            return Problem(422, "refused", str(error))
        case NotFoundError():
            return Problem(404, "not-found", str(error))
        case ConflictError():
            facts: dict[str, Any] = {"labels": error.present}
            if error.seqs:
                facts["events"] = error.seqs
            return Problem(409, "conflict", str(error), **facts)
        case DamagedError():
            return Problem(500, "damaged", str(error))
        case TimeoutError() | BusyError():
            return Problem(503, "busy", str(error), RETRY)
    # Nothing was stored: the disk is full, the database is away, the workspace is being closed.
    return Problem(503, "not-stored", f"nothing was stored: {error}", RETRY)
