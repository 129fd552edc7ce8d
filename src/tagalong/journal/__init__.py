"""The journal of a workspace: events on disk, and the model that follows from them.

Nothing acknowledged is lost, undo is exact, and replaying the events gives the same bits.
"""

from tagalong.journal.backup import Copy, back_up, restore
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
from tagalong.journal.export import export_events, export_items
from tagalong.journal.operations import Filed
from tagalong.journal.recorder import Added
from tagalong.journal.settings import Settings
from tagalong.journal.verification import Verification, verify
from tagalong.journal.view import ItemRecord, WorkspaceView
from tagalong.journal.workspace import ModelFacts, Workspace

__all__ = [
    "Added",
    "ConflictError",
    "Content",
    "Copy",
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
    "Verification",
    "Workspace",
    "WorkspaceView",
    "back_up",
    "export_events",
    "export_items",
    "restore",
    "verify",
]
