"""What learners can prove: bounds on mistakes, on the loss, on the regret."""

from typing import TypeAlias

from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.certificates.mistake_bound import Certificate, NoBoundWarning
from tagalong.learning.certificates.regret_bound import ConfidenceBound

__all__ = ["AnyCertificate", "Certificate", "ConfidenceBound", "LossCertificate", "NoBoundWarning"]

AnyCertificate: TypeAlias = Certificate | ConfidenceBound | LossCertificate
"""What learners can prove."""
