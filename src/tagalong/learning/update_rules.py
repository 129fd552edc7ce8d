"""The update rules, as the native core's tables list them.

A rule's name and properties stand in one row of a table in the core: ``cpp/rules/rule_table.cpp``
for rules over labels, ``cpp/blocks/rule_table.cpp`` for rules over blocks of rows. This module is
how the rest of the package gets at them. It imports little, as the command line needs it to start.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from tagalong import _native as core

if TYPE_CHECKING:
    from tagalong._native import BlockRule, LabelRule, PredtronUpdate

__all__ = ["BLOCK_RULES", "LABEL_RULES", "PREDTRON_UPDATES", "mistake_bound"]

LABEL_RULES: Mapping[str, "LabelRule"] = MappingProxyType(
    {rule.name: rule for rule in core.label_rules()}
)
BLOCK_RULES: Mapping[str, "BlockRule"] = MappingProxyType(
    {rule.name: rule for rule in core.block_rules()}
)
PREDTRON_UPDATES: Mapping[str, "PredtronUpdate"] = MappingProxyType(
    {rule.name: rule for rule in core.predtron_updates()}
)

# Where both tables have a name, they agree on its bound: a test of the core sees to that.
_BOUNDS = {
    **{name: rule.bound for name, rule in LABEL_RULES.items()},
    **{name: rule.bound for name, rule in BLOCK_RULES.items()},
}


def mistake_bound(update: str) -> str:
    """Return which mistake bound holds: "step given", "step chosen" or "none".

    The dual gain of a mistake depends on the step c that a rule takes on it. A given step is
    c = C, whether that helps or not; a chosen one is min(C, margin / 2B), B being the curvature.

    Parameters
    ----------
    update : str
        The name of a rule over labels or blocks. Any other name has no bound.
    """
    return _BOUNDS.get(update, "none")
