"""The class-dependent features of P1 and P2 for mail: how words relate to folders."""

from typing import Any

from sklearn.base import BaseEstimator

from tagalong import parameters

__all__ = ["FolderAffinity"]

LARGEST_VALUE = 1e9  # scores of larger values would overflow in single precision


class FolderAffinity(BaseEstimator):
    r"""Class-dependent features of a message, computed from the messages filed before.

    For a word j of message x and a folder r with earlier messages,

    .. math:: \phi_j(x, r) = \begin{cases}
              \text{common} & \text{if at least a share `often` of r's messages contain j,} \\
              \text{rare} & \text{if less than a share `seldom` of them do,} \\
              0 & \text{otherwise.} \end{cases}

    An empty folder has :math:`\phi = 0`. "Them" are the messages of r, or all earlier messages if
    ``seldom_of="all"``: the paper's text allows both readings. In the second one, whether a word is
    rare does not depend on the folder, and empty folders have rare words too.

    A message is counted after it is filed. New folders may appear at any time.

    Parameters
    ----------
    often : float, default 0.2
        The smallest share of a folder's messages that makes a word common there.
    seldom : float, default 0.02
        The share below which a word is rare there.
    common : float, default 2
        The feature value of a common word; 1 in the multiplicative form.
    rare : float, default -1
        The feature value of a rare word; 0 in the multiplicative form.
    seldom_of : "folder" or "all", default "folder"
        Whether ``seldom`` is a share of the folder's earlier messages or of all earlier messages.

    Examples
    --------
    >>> from tagalong import SharedLabelRanker
    >>> from tagalong.features import FolderAffinity
    >>> ranker = SharedLabelRanker(features=FolderAffinity(often=0.5))
    """

    def __init__(
        self,
        often: float = 0.2,
        seldom: float = 0.02,
        common: float = 2.0,
        rare: float = -1.0,
        seldom_of: str = "folder",
    ):
        self.often = often
        self.seldom = seldom
        self.common = common
        self.rare = rare
        self.seldom_of = seldom_of

    def settings(self) -> dict[str, Any]:
        """Validate the parameters and return them as settings of the native learner."""
        shares = {name: parameters.real(getattr(self, name), name) for name in ("often", "seldom")}
        if not 0 <= shares["seldom"] <= shares["often"] <= 1:
            raise ValueError(
                "seldom and often must be shares with 0 <= seldom <= often <= 1, got "
                f"{self.seldom!r} and {self.often!r}"
            )
        values = {name: parameters.real(getattr(self, name), name) for name in ("common", "rare")}
        for name, value in values.items():
            if abs(value) > LARGEST_VALUE:
                raise ValueError(f"{name} must be at most {LARGEST_VALUE:g}, got {value!r}")
        of = parameters.choice(self.seldom_of, "seldom_of", ("folder", "all"))
        return {**shares, **values, "seldom_of": of}
