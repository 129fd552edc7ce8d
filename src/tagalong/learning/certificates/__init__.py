"""Certificates: proven bounds on the mistakes, the loss or the regret of a learner."""

from typing import TypeAlias

from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.certificates.mistake_bound import Certificate, NoBoundWarning
from tagalong.learning.certificates.regret_bound import ConfidenceBound

__all__ = ["AnyCertificate", "Certificate", "ConfidenceBound", "LossCertificate", "NoBoundWarning"]

AnyCertificate: TypeAlias = Certificate | ConfidenceBound | LossCertificate
"""The certificate of any online learner."""
