"""The journal of a workspace: events on disk, and the model that follows from them.

Nothing acknowledged is lost, undo is exact, and replaying the events gives the same bits.
"""

from tagalong.journal.contents import Content
from tagalong.journal.errors import (
    ConflictError,
    DamagedError,
    JournalError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.events import Event
from tagalong.journal.recorder import Added
from tagalong.journal.settings import Settings
from tagalong.journal.view import ItemRecord, WorkspaceView
from tagalong.journal.workspace import Filed, ModelFacts, Workspace

__all__ = [
    "Added",
    "ConflictError",
    "Content",
    "DamagedError",
    "Event",
    "Filed",
    "ItemRecord",
    "JournalError",
    "ModelFacts",
    "NotFoundError",
    "RefusedError",
    "Settings",
    "StorageError",
    "Workspace",
    "WorkspaceView",
]
