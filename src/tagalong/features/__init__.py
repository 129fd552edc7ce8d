"""Items into numbered features."""

from tagalong.features.text import TextFeatures

__all__ = ["TextFeatures"]
