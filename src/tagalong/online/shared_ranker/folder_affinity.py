"""How the words of a message relate to folders: the papers' class-dependent features."""

from typing import Any

from sklearn.base import BaseEstimator

from tagalong import parameters

__all__ = ["FolderAffinity"]


class FolderAffinity(BaseEstimator):
    r"""Class-dependent features of a message, from what was filed before.

    For a word j of message x and a folder r with earlier messages,

    .. math:: \phi_j(x, r) = \begin{cases}
              \text{common} & \text{if j is in at least a share `often` of r's messages,} \\
              \text{rare} & \text{if it is in fewer than a share `seldom` of them,} \\
              0 & \text{in between.} \end{cases}

    An empty folder has :math:`\phi = 0`. Counts grow after a message is filed; new folders may
    come at any time.

    Parameters
    ----------
    often : float, default 0.2
        The share of a folder's messages from which on a word is common there.
    seldom : float, default 0.02
        The share below which a word is rare there.
    common : float, default 2
        The feature of a common word; 1 in the multiplicative form.
    rare : float, default -1
        The feature of a rare word; 0 in the multiplicative form.

    Examples
    --------
    >>> from tagalong import SharedLabelRanker
    >>> from tagalong.features import FolderAffinity
    >>> ranker = SharedLabelRanker(features=FolderAffinity(often=0.5))
    """

    def __init__(
        self, often: float = 0.2, seldom: float = 0.02, common: float = 2.0, rare: float = -1.0
    ):
        self.often = often
        self.seldom = seldom
        self.common = common
        self.rare = rare

    def settings(self) -> dict[str, Any]:
        """Return the parameters as the native learner wants them; ValueError for a bad one."""
        shares = {name: parameters.real(getattr(self, name), name) for name in ("often", "seldom")}
        if not 0 <= shares["seldom"] <= shares["often"] <= 1:
            raise ValueError(
                "seldom and often must be shares with 0 <= seldom <= often <= 1, got "
                f"{self.seldom!r} and {self.often!r}"
            )
        values = {name: parameters.real(getattr(self, name), name) for name in ("common", "rare")}
        return {**shares, **values}
