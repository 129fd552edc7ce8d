r"""The losses that the library has: square, logistic and exponential."""

from dataclasses import dataclass

import numpy as np

from tagalong.losses.protocol import LossConstants, Margins

__all__ = ["BUILT_IN", "TABULATED", "ExponentialLoss", "LogisticLoss", "SquareLoss"]


@dataclass(unsafe_hash=True)
class SquareLoss:
    r""":math:`L(\Delta) = (1 - \Delta)^2 / 2` on [-R, R] with R at most 1; p is (1 + margin)/2."""

    def value(self, margins: Margins) -> Margins:
        """Return L.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray((1 - margins) ** 2 / 2)

    def slope(self, margins: Margins) -> Margins:
        """Return L'.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(margins - 1)

    def curvature(self, margins: Margins) -> Margins:
        """Return L''.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.ones_like(margins)

    def constants(self, radius: float) -> LossConstants:
        """Return the constants.

        Parameters
        ----------
        radius : float
            R.
        """
        return LossConstants(0.5, (1 + radius) ** 2, 1.0)


@dataclass(unsafe_hash=True)
class LogisticLoss:
    r""":math:`L(\Delta) = \ln(1 + e^{-\Delta})`; p is the logistic function of the margin."""

    def value(self, margins: Margins) -> Margins:
        """Return L.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(np.logaddexp(0, -margins))

    def slope(self, margins: Margins) -> Margins:
        """Return L'.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(-1 / (np.exp(margins) + 1))

    def curvature(self, margins: Margins) -> Margins:
        """Return L''.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(1 / (2 * (1 + np.cosh(margins))))

    def constants(self, radius: float) -> LossConstants:
        """Return the constants.

        Parameters
        ----------
        radius : float
            R.
        """
        return LossConstants(0.25, 1.0, float(1 / (2 * (1 + np.cosh(radius)))))


@dataclass(unsafe_hash=True)
class ExponentialLoss:
    r""":math:`L(\Delta) = e^{-\Delta}`; p is the logistic function of twice the margin."""

    def value(self, margins: Margins) -> Margins:
        """Return L.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(np.exp(-margins))

    def slope(self, margins: Margins) -> Margins:
        """Return L'.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(-np.exp(-margins))

    def curvature(self, margins: Margins) -> Margins:
        """Return L''.

        Parameters
        ----------
        margins : array
            Margins.
        """
        return np.asarray(np.exp(-margins))

    def constants(self, radius: float) -> LossConstants:
        """Return the constants.

        Parameters
        ----------
        radius : float
            R.
        """
        return LossConstants(0.5, float(np.exp(2 * radius)), float(np.exp(-radius)))


BUILT_IN = {"square": SquareLoss, "logistic": LogisticLoss}
"""The losses that the native core computes by formula, by name."""

TABULATED = {"exponential": ExponentialLoss}
"""The other losses with a name: the native core has them as a table."""
