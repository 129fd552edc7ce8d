"""A change of the answers, as a line of text and as JSON values."""

from collections.abc import Hashable
from typing import Any

from tagalong.evaluate.label_names import shortened
from tagalong.learning.drift import Drift

__all__ = ["drift_text", "drift_values"]


def drift_text(drift: Drift) -> str:
    """Return since which item the answers have changed, and the labels affected most.

    Parameters
    ----------
    drift : Drift
        The change.
    """
    changed = (
        f"since item {drift.since:,} the answers have changed"
        if drift.active
        else f"at item {drift.since:,} the answers changed"
    )
    if not drift.labels:
        return changed
    labels = "label" if len(drift.labels) == 1 else "labels"
    return f"{changed}: {labels} {', '.join(map(shortened, drift.labels))}"


def drift_values(drift: Drift | None) -> dict[str, Any] | None:
    """Return a change as a dict of JSON values; None if there is none.

    Parameters
    ----------
    drift : Drift or None
        The change.
    """
    if drift is None:
        return None
    return {
        "since": drift.since,
        "labels": [_name(label) for label in drift.labels],
        "active": drift.active,
    }


def _name(label: Hashable) -> Any:
    return label if isinstance(label, (str, int)) else str(label)
