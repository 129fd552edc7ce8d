"""The journal of a workspace: events on disk, and the model that follows from them.

Nothing acknowledged is lost, undo is exact, and replaying the events gives the same bits.
"""

from tagalong.journal.backup import Copy, back_up, restore
from tagalong.journal.contents import Content
from tagalong.journal.errors import (
    ConflictError,
    DamagedError,
    JournalError,
    LeaseLostError,
    NotFoundError,
    RefusedError,
    StorageError,
)
from tagalong.journal.events import Event, ListedEvent
from tagalong.journal.export import export_events, export_items
from tagalong.journal.filing import Filed
from tagalong.journal.history_rows import HistoryRow, WantedEvents
from tagalong.journal.item_records import ItemRecord
from tagalong.journal.label_facts import LabelFacts, LabelUse
from tagalong.journal.pages import ItemPage
from tagalong.journal.recorder import Added
from tagalong.journal.settings import Settings
from tagalong.journal.verification import Verification, verify
from tagalong.journal.view import WorkspaceStats, WorkspaceView
from tagalong.journal.workspace import ModelFacts, Workspace

__all__ = [
    "Added",
    "ConflictError",
    "Content",
    "Copy",
    "DamagedError",
    "Event",
    "Filed",
    "HistoryRow",
    "ItemPage",
    "ItemRecord",
    "JournalError",
    "LabelFacts",
    "LabelUse",
    "LeaseLostError",
    "ListedEvent",
    "ModelFacts",
    "NotFoundError",
    "RefusedError",
    "Settings",
    "StorageError",
    "Verification",
    "WantedEvents",
    "Workspace",
    "WorkspaceStats",
    "WorkspaceView",
    "back_up",
    "export_events",
    "export_items",
    "restore",
    "verify",
]
