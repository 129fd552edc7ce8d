"""The update rules, read from the tables of the native core.

Each rule is one row of a native table: ``cpp/rules/rule_table.cpp`` has the rules over labels,
``cpp/blocks/rule_table.cpp`` the rules over blocks of rows. The package reads the tables only
through this module. It imports little because the command line imports it at start-up.
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

# A name in both tables has the same bound in both; a test of the native core checks it.
_BOUNDS = {
    **{name: rule.bound for name, rule in LABEL_RULES.items()},
    **{name: rule.bound for name, rule in BLOCK_RULES.items()},
}


def mistake_bound(update: str) -> str:
    """Return which mistake bound holds for a rule: "step given", "step chosen" or "none".

    The dual gain of a mistake depends on the step c that the rule takes. A given step is c = C,
    even if a shorter one would gain more. A chosen step is c = min(C, margin / 2B), where B is
    the curvature.

    Parameters
    ----------
    update : str
        The name of a rule over labels or blocks. Any other name has no bound.
    """
    return _BOUNDS.get(update, "none")
