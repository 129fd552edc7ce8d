"""Norms of a user's own for Predtron, and `check_norm` that tests them.

`tagalong.norms.protocol` defines what a norm is. The names load on first use.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.norms.check import check_norm
    from tagalong.norms.protocol import Norm

__all__ = ["Norm", "check_norm"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"Norm": "tagalong.norms.protocol", "check_norm": "tagalong.norms.check"},
)
