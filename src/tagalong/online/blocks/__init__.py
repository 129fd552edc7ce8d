"""Simultaneous projections (P2): blocks of rows, and grades as blocks of thresholds."""

from tagalong.online.blocks.ordinal import OrdinalRanker
from tagalong.online.blocks.projection import BlockProjection

__all__ = ["BlockProjection", "OrdinalRanker"]
