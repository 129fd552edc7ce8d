"""Labels to choose from while a name is typed."""

from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest

from starlette.responses import Response

from tagalong.journal import Workspace
from tagalong.server.api.calls import Call
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Flag, Text
from tagalong.server.page.label_search import LabelSearch
from tagalong.server.page.rendering import P, fragment

__all__ = ["OPERATIONS"]

OPTIONS = 8


@dataclass(frozen=True, slots=True)
class LabelOption:
    """A label to choose.

    Parameters
    ----------
    label : str
        Its name.
    count : int
        Number of items that it was learnt from.
    is_new : bool
        Whether it would be made.
    """

    label: str
    count: int
    is_new: bool


@lru_cache(8)
def _search(labels: tuple[str, ...]) -> LabelSearch:
    return LabelSearch(labels)


def _options(workspace: Workspace, typed: str, new_first: bool) -> list[LabelOption]:
    counts = workspace.label_counts()
    name = typed.strip()
    if name:
        found = _search(tuple(counts)).search(name, OPTIONS)
    else:
        found = nlargest(OPTIONS, counts, key=counts.__getitem__)
    options = [LabelOption(label, counts[label], False) for label in found]
    if name and name not in counts and workspace.settings.labels == "grow":
        options.insert(0 if new_first else len(options), LabelOption(name, 0, True))
    return options


async def show_options(call: Call) -> Response:
    """Return labels whose names resemble what is typed, and the making of a new one."""
    typed, new_first = call.query.get("q", ""), call.query.get("new", False)
    async with call.workspace() as workspace:
        options = await call.run(_options, workspace, typed, new_first)
        return fragment(call, workspace, "label_options.html", options=options)


OPERATIONS = (
    Operation(
        "labelOptionsPart",
        "GET",
        f"{P}/parts/labels",
        "Return labels to choose from.",
        show_options,
        query={
            "q": Text(most=1000, meaning="the beginning of a name, or one with typing errors"),
            "new": Flag("whether making a new label is the first option"),
        },
        is_change=False,
    ),
)
