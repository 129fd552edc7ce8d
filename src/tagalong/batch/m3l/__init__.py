"""M3L (P4): max-margin multi-label learning with a prior on label correlations."""

from tagalong.batch.m3l.classifier import M3LClassifier
from tagalong.batch.m3l.priors import attribute_prior

__all__ = ["M3LClassifier", "attribute_prior"]
