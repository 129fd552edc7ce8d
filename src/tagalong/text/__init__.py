"""Conversion of items into sparse features."""

from tagalong.text.features import TextFeatures

__all__ = ["TextFeatures"]
