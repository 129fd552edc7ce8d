"""The operations of the API."""

from tagalong.server.api.handlers import (
    answers,
    batches,
    events,
    imports,
    items,
    labels,
    models,
    settings,
    system,
)
from tagalong.server.api.operations import Operation

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (
    *items.OPERATIONS,
    *batches.OPERATIONS,
    *answers.OPERATIONS,
    *labels.OPERATIONS,
    *settings.OPERATIONS,
    *models.OPERATIONS,
    *events.OPERATIONS,
    *imports.OPERATIONS,
    *system.OPERATIONS,
)
