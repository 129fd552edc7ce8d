"""Simultaneous projections (P2): learning from blocks of rows, and ordinal regression."""

from tagalong.online.blocks.ordinal import OrdinalRanker
from tagalong.online.blocks.projection import BlockProjection

__all__ = ["BlockProjection", "OrdinalRanker"]
