"""The surrogate loss of a ranker, as a parameter and as a setting."""

from typing import TypeAlias

from tagalong import parameters
from tagalong.losses.built_in import BUILT_IN, TABULATED
from tagalong.losses.check import check_loss, require_loss
from tagalong.losses.protocol import MarginLoss
from tagalong.losses.table import LossNumbers, TabulatedLoss, tabulated

__all__ = ["LossLike", "LossSetting", "checked_loss", "loss_of_setting", "saved_loss"]

LossLike: TypeAlias = str | MarginLoss
"""The name of a loss, or a loss."""

LossSetting: TypeAlias = str | LossNumbers
"""A name, for losses that the native core computes by formula, or a table, for all others."""


def checked_loss(loss: LossLike, radius: float) -> LossSetting:
    """Validate a loss and return it in the form of the native core and of model files.

    Parameters
    ----------
    loss : str or MarginLoss
        The loss.
    radius : float
        R.
    """
    if isinstance(loss, str) and loss in TABULATED:
        return tabulated(TABULATED[loss](), radius)
    if not isinstance(loss, str):
        require_loss(loss, "loss")
        formula = next((name for name, kind in BUILT_IN.items() if type(loss) is kind), None)
        if formula is None:
            check_loss(loss, radius)
            return tabulated(loss, radius)
        loss = formula
    name = parameters.choice(loss, "loss", (*BUILT_IN, *TABULATED))
    if name == "square" and radius > 1:
        raise ValueError(f"radius must be at most 1 for loss='square', got {radius!r}")
    return name


def loss_of_setting(setting: LossSetting, radius: float) -> LossLike:
    """Return a loss that has this setting.

    Parameters
    ----------
    setting : str or list
        The setting, possibly from a file.
    radius : float
        R.
    """
    return setting if isinstance(setting, str) else TabulatedLoss(radius, setting)


def saved_loss(given: LossLike, setting: LossSetting, radius: float) -> LossSetting:
    """Return the parameter ``loss`` as a model file has it: its name if it has one, or its setting.

    Parameters
    ----------
    given : str or MarginLoss
        The parameter, which may have been changed since the learner has started.
    setting : str or list
        The setting of the learner.
    radius : float
        R of the setting.
    """
    named = isinstance(given, str) and given in TABULATED and checked_loss(given, radius) == setting
    return given if named and isinstance(given, str) else setting
