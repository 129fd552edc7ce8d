"""Suggestions for a request: at once if that is quick, otherwise in another thread.

Handing work to another thread takes longer than the suggestions for a short text. But the thread of
the event loop, which answers all requests, neither works on a long text nor waits for a thread that
learns many items or copies a large model.
"""

from tagalong.journal import Workspace
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.server.api.calls import Call
from tagalong.tagger import Suggestions

__all__ = ["suggestions_for"]

CHARACTERS_AT_ONCE = 20_000


async def suggestions_for(
    call: Call,
    workspace: Workspace,
    item: Item | FeatureItem,
    k: int,
    min_precision: float | None,
) -> Suggestions:
    """Return suggestions for an item.

    Parameters
    ----------
    call : Call
        The request.
    workspace : Workspace
        Its workspace.
    item : Item or FeatureItem
        The item.
    k, min_precision
        As for `Workspace.suggest`.
    """
    if _is_short(item):
        found = workspace.suggest_at_once(item, k, min_precision)
        if found is not None:
            return found
    return await call.run(workspace.suggest, item, k, min_precision)


def _is_short(item: Item | FeatureItem) -> bool:
    if isinstance(item, FeatureItem) or item.features:
        return False
    text = item.text
    length = len(text) if isinstance(text, str) else sum(map(len, text.values()))
    return length <= CHARACTERS_AT_ONCE
