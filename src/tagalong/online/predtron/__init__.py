"""Predtron (P5): perceptrons for general prediction problems."""

from tagalong.online.predtron.learner import Predtron

__all__ = ["Predtron"]
