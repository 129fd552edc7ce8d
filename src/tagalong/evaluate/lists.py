r"""What lists of labels cost (P3), one by one, over a stream, and against the best ones.

A list shows the labels :math:`\hat Y` in order, and :math:`Y` are the relevant ones. Labels of
unknown relevance count nowhere.

- slot loss: :math:`a |Y \setminus \hat Y| + (1 - a) \sum c(i, |\hat Y|)` over the places i of the
  labels that are not relevant, with the miss weight a and the slot costs c;
- partial rank loss: the pairs of shown labels in the wrong order, plus S times
  :math:`|Y \setminus \hat Y|`, where S labels could have been shown;
- rank loss: the pairs of a relevant and an irrelevant label in the wrong order, over all labels;
  equal scores count half.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.labels import LabelRows
from tagalong.online.partial.slot_costs import checked_list_settings

__all__ = ["ListLosses", "best_list", "expected_loss", "list_losses", "rank_loss"]

Floats = npt.NDArray[np.float64]


def list_losses(
    shown: Sequence[Collection[int]],
    relevant: Sequence[Collection[int]],
    unknown: Sequence[Collection[int]] | None = None,
    *,
    miss_weight: float = 0.5,
    slot_cost: Any = "decreasing",
    slots: int | Sequence[int],
) -> tuple[Floats, Floats]:
    """Return the slot loss and the partial rank loss of each list.

    Parameters
    ----------
    shown : sequence of collections of int
        The numbers of the labels of each list, in order.
    relevant : sequence of collections of int
        The relevant ones of each row.
    unknown : sequence of collections of int, optional
        Those of each row of which nothing is known.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    slots : int or sequence of int
        How many labels could have been shown, in all rows or in each.
    """
    rows = len(shown)
    for name, given in (("relevant", relevant), ("unknown", unknown)):
        if given is not None and len(given) != rows:
            raise ValueError(f"shown has {rows} rows but {name} has {len(given)}")
    longest = max((len(row) for row in shown), default=0)
    game = _game(miss_weight, slot_cost, longest or None)
    lists, right = LabelRows.from_lists(shown), LabelRows.from_lists(relevant)
    open_labels = LabelRows.empty(rows) if unknown is None else LabelRows.from_lists(unknown)
    places = np.ascontiguousarray(np.broadcast_to(np.asarray(slots, dtype=np.int64), (rows,)))
    return game.losses(lists, right, open_labels, places)


def rank_loss(
    scores: npt.ArrayLike, relevant: Collection[int], unknown: Collection[int] = ()
) -> float:
    """Return how many pairs of a relevant and an irrelevant label are in the wrong order.

    Parameters
    ----------
    scores : array of shape (K,)
        Of all labels.
    relevant : collection of int
        The numbers of the relevant ones.
    unknown : collection of int
        Those of which nothing is known.
    """
    values = np.asarray(scores, dtype=np.float64)
    irrelevant = np.ones(len(values), dtype=bool)
    irrelevant[[*relevant, *unknown]] = False
    above = values[irrelevant][None, :] - values[list(relevant)][:, None]
    return float(np.count_nonzero(above > 0) + 0.5 * np.count_nonzero(above == 0))


def best_list(
    probabilities: Iterable[float],
    *,
    miss_weight: float = 0.5,
    slot_cost: Any = "decreasing",
    max_labels: int | None = None,
) -> list[int]:
    """Return the list with the least expected slot loss; with miss weight 1, the best ranking.

    Parameters
    ----------
    probabilities : sequence of float
        With which each label is relevant.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    max_labels : int, optional
        How many labels may be shown.
    """
    p = [float(chance) for chance in probabilities]
    game = _game(miss_weight, slot_cost, max_labels)
    return game.choose(p, len(p) if max_labels is None else max_labels)


def expected_loss(
    shown: Collection[int],
    probabilities: Iterable[float],
    *,
    miss_weight: float = 0.5,
    slot_cost: Any = "decreasing",
) -> float:
    """Return the expected slot loss of a list, if labels are relevant with these probabilities.

    Parameters
    ----------
    shown : collection of int
        The numbers of the labels, in order.
    probabilities : sequence of float
        With which each label is relevant.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    """
    p = [float(chance) for chance in probabilities]
    for label in shown:
        if not 0 <= label < len(p):
            raise ValueError(f"shown has label {label}, but there are {len(p)} probabilities")
    return _game(miss_weight, slot_cost, len(shown) or None).expected(list(shown), p)


def _game(miss_weight: Any, slot_cost: Any, max_labels: int | None) -> core.Game:
    settings = checked_list_settings(miss_weight, slot_cost, max_labels)
    del settings["max_labels"]  # which each call says for itself
    return core.Game(**settings)


class ListLosses:
    """Sums what lists cost, over a whole run and over its last rounds.

    Parameters
    ----------
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    window : int, default 1000
        How many rounds the recent figures look back.

    Examples
    --------
    >>> from tagalong.evaluate import ListLosses
    >>> losses = ListLosses(slot_cost="constant")
    >>> losses.add(shown=[2, 0], relevant=[0, 1], slots=2)
    >>> losses.means()
    {'shown': 2.0, 'accepted': 1.0, 'slot_loss': 1.0, 'partial_rank_loss': 3.0}
    """

    _COLUMNS = ("shown", "accepted", "slot_loss", "partial_rank_loss")

    def __init__(self, miss_weight: float = 0.5, slot_cost: Any = "decreasing", window: int = 1000):
        checked_list_settings(miss_weight, slot_cost, None if isinstance(slot_cost, str) else 1)
        self.miss_weight = miss_weight
        self.slot_cost = slot_cost
        self.window = parameters.integer(window, "window", 1)
        self.rounds = 0
        self._sums = np.zeros(len(self._COLUMNS))
        self._recent: deque[tuple[float, ...]] = deque(maxlen=self.window)

    def add(
        self,
        shown: Collection[int],
        relevant: Collection[int],
        unknown: Collection[int] = (),
        *,
        slots: int,
    ) -> None:
        """Count one round.

        Parameters
        ----------
        shown : collection of int
            The numbers of the labels, in order.
        relevant : collection of int
            The relevant ones.
        unknown : collection of int
            Those of which nothing is known.
        slots : int
            How many labels could have been shown.
        """
        (slot_loss,), (partial,) = list_losses(
            [shown],
            [relevant],
            [unknown],
            miss_weight=self.miss_weight,
            slot_cost=self.slot_cost,
            slots=slots,
        )
        accepted = len(set(shown).intersection(relevant))
        row = (float(len(shown)), float(accepted), float(slot_loss), float(partial))
        self._sums += row
        self._recent.append(row)
        self.rounds += 1

    def totals(self) -> dict[str, float]:
        """Return the sums over all rounds: labels shown, those accepted, and both losses."""
        return dict(zip(self._COLUMNS, self._sums.tolist(), strict=True))

    def means(self, recent: bool = False) -> dict[str, float]:
        """Return the means over all rounds, NaN if there were none.

        Parameters
        ----------
        recent : bool, default False
            Over the last ``window`` rounds only.
        """
        rounds, sums = self.rounds, self._sums
        if recent:
            rounds = len(self._recent)
            sums = np.sum(np.array([*self._recent]).reshape(-1, len(self._COLUMNS)), axis=0)
        found = sums / rounds if rounds else np.full(len(self._COLUMNS), np.nan)
        return dict(zip(self._COLUMNS, found.tolist(), strict=True))

    def state(self) -> dict[str, Any]:
        """Return what was counted, in terms of JSON."""
        return {
            "rounds": self.rounds,
            "sums": self._sums.tolist(),
            "recent": [list(row) for row in self._recent],
        }

    def restore(self, state: dict[str, Any]) -> "ListLosses":
        """Go on where another run stopped.

        Parameters
        ----------
        state : dict
            What ``state`` returned.
        """
        sums = np.array(state["sums"], dtype=np.float64)
        if sums.shape != self._sums.shape:
            raise ValueError(f"there must be {len(self._COLUMNS)} sums, got {state['sums']!r}")
        self.rounds = int(state["rounds"])
        self._sums = sums
        self._recent = deque((tuple(row) for row in state["recent"]), maxlen=self.window)
        return self
