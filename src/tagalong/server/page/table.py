"""The pages, as operations: their paths, parameters and forms are checked like those of the API."""

from tagalong.server.api.operations import Operation
from tagalong.server.page.views import (
    answering,
    filing,
    history,
    home,
    jobs,
    label_options,
    labels,
    settings,
    start,
    sure,
    trust,
    undoing,
)

__all__ = ["PAGES"]

PAGES: tuple[Operation, ...] = (
    *home.OPERATIONS,
    *filing.OPERATIONS,
    *answering.OPERATIONS,
    *label_options.OPERATIONS,
    *sure.OPERATIONS,
    *trust.OPERATIONS,
    *start.OPERATIONS,
    *jobs.OPERATIONS,
    *labels.OPERATIONS,
    *history.OPERATIONS,
    *settings.OPERATIONS,
    *undoing.OPERATIONS,
)
