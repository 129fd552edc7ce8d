"""Surrogate losses of margins for `PartialFeedbackRanker`, and `check_loss` for custom ones.

`tagalong.losses.protocol` defines what a loss is. The names load on first use.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.losses.built_in import ExponentialLoss, LogisticLoss, SquareLoss
    from tagalong.losses.check import check_loss
    from tagalong.losses.protocol import LossConstants, MarginLoss

__all__ = [
    "ExponentialLoss",
    "LogisticLoss",
    "LossConstants",
    "MarginLoss",
    "SquareLoss",
    "check_loss",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ExponentialLoss": "tagalong.losses.built_in",
        "LogisticLoss": "tagalong.losses.built_in",
        "LossConstants": "tagalong.losses.protocol",
        "MarginLoss": "tagalong.losses.protocol",
        "SquareLoss": "tagalong.losses.built_in",
        "check_loss": "tagalong.losses.check",
    },
)
