"""Items into features."""

from tagalong.text.features import TextFeatures

__all__ = ["TextFeatures"]
