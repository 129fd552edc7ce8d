"""The learners that benchmarks of the default compare: one learner alone, and the default."""

from __future__ import annotations

from typing import Any

from tagalong import LabelRanker

TODAY, RACE = "today", "race"
SETTINGS: dict[str, dict[str, Any]] = {TODAY: {"race": None}, RACE: {}}


def make_learner(name: str) -> LabelRanker:
    """An unfitted learner, by its name in ``SETTINGS``."""
    return LabelRanker(**SETTINGS[name])
