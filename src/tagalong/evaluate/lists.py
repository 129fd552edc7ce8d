r"""Losses of lists of labels (P3), and the list with the least expected loss.

A list shows the labels :math:`\hat Y` in order; :math:`Y` are the relevant labels. Labels of
unknown relevance are ignored.

- slot loss: :math:`a |Y \setminus \hat Y| + (1 - a) \sum c(i, |\hat Y|)` over the slots i of the
  irrelevant labels, with the miss weight a and the slot costs c;
- partial rank loss: the number of pairs of shown labels in the wrong order, plus S times
  :math:`|Y \setminus \hat Y|`, where S is the number of slots;
- rank loss: the number of pairs of a relevant and an irrelevant label in the wrong order, over
  all labels; pairs of equal scores count half.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.labels import LabelRows
from tagalong.online.partial.slot_costs import SlotCostLike, checked_list_settings

__all__ = ["ListLosses", "best_list", "expected_loss", "list_losses", "rank_loss"]

Floats = npt.NDArray[np.float64]


def list_losses(
    shown: Sequence[Collection[int]],
    relevant: Sequence[Collection[int]],
    unknown: Sequence[Collection[int]] | None = None,
    *,
    miss_weight: float = 0.5,
    slot_cost: SlotCostLike = "decreasing",
    slots: int | Sequence[int],
) -> tuple[Floats, Floats]:
    """Return the slot loss and the partial rank loss of each list.

    Parameters
    ----------
    shown : sequence of collections of int
        Numbers of the labels of each list, in order.
    relevant : sequence of collections of int
        Numbers of the relevant labels of each row.
    unknown : sequence of collections of int, optional
        Numbers of the labels of unknown relevance of each row.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    slots : int or sequence of int
        Number of slots, for all rows or for each row.
    """
    rows = len(shown)
    for name, given in (("relevant", relevant), ("unknown", unknown)):
        if given is not None and len(given) != rows:
            raise ValueError(f"shown has {rows} rows but {name} has {len(given)}")
    longest = max((len(row) for row in shown), default=0)
    game = _game(miss_weight, slot_cost, longest or None)
    lists, relevant_rows = LabelRows.from_lists(shown), LabelRows.from_lists(relevant)
    unknown_rows = LabelRows.empty(rows) if unknown is None else LabelRows.from_lists(unknown)
    slot_counts = np.ascontiguousarray(np.broadcast_to(np.asarray(slots, dtype=np.int64), (rows,)))
    return game.losses(lists, relevant_rows, unknown_rows, slot_counts)


def rank_loss(
    scores: npt.ArrayLike, relevant: Collection[int], unknown: Collection[int] = ()
) -> float:
    """Return the number of pairs of a relevant and an irrelevant label in the wrong order.

    Parameters
    ----------
    scores : array of shape (K,)
        Scores of all labels.
    relevant : collection of int
        Numbers of the relevant labels.
    unknown : collection of int
        Numbers of the labels of unknown relevance.
    """
    values = np.asarray(scores, dtype=np.float64)
    irrelevant = np.ones(len(values), dtype=bool)
    irrelevant[[*relevant, *unknown]] = False
    excess = values[irrelevant][None, :] - values[list(relevant)][:, None]
    return float(np.count_nonzero(excess > 0) + 0.5 * np.count_nonzero(excess == 0))


def best_list(
    probabilities: Iterable[float],
    *,
    miss_weight: float = 0.5,
    slot_cost: SlotCostLike = "decreasing",
    max_labels: int | None = None,
) -> list[int]:
    """Return the list with the least expected slot loss; if the miss weight is 1, a ranking.

    Parameters
    ----------
    probabilities : sequence of float
        Probability of each label to be relevant.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    max_labels : int, optional
        Maximum length of the list.
    """
    p = [float(probability) for probability in probabilities]
    game = _game(miss_weight, slot_cost, max_labels)
    return game.choose(p, len(p) if max_labels is None else max_labels)


def expected_loss(
    shown: Collection[int],
    probabilities: Iterable[float],
    *,
    miss_weight: float = 0.5,
    slot_cost: SlotCostLike = "decreasing",
) -> float:
    """Return the expected slot loss of a list, if labels are relevant with these probabilities.

    Parameters
    ----------
    shown : collection of int
        Numbers of the labels of the list, in order.
    probabilities : sequence of float
        Probability of each label to be relevant.
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    """
    p = [float(probability) for probability in probabilities]
    for label in shown:
        if not 0 <= label < len(p):
            raise ValueError(
                f"shown contains label {label}, but there are only {len(p)} probabilities"
            )
    return _game(miss_weight, slot_cost, len(shown) or None).expected(list(shown), p)


def _game(miss_weight: float, slot_cost: SlotCostLike, max_labels: int | None) -> core.Game:
    settings = checked_list_settings(miss_weight, slot_cost, max_labels)
    del settings["max_labels"]  # a parameter of each call
    return core.Game(**settings)


class ListLosses:
    """Sums of the losses of lists, over a whole run and over its recent rounds.

    Parameters
    ----------
    miss_weight : float, default 0.5
        As for `PartialFeedbackRanker`.
    slot_cost : str, function or table, default "decreasing"
        As for `PartialFeedbackRanker`.
    window : int, default 1000
        Number of most recent rounds that the recent means cover.

    Examples
    --------
    >>> from tagalong.evaluate import ListLosses
    >>> losses = ListLosses(slot_cost="constant")
    >>> losses.add(shown=[2, 0], relevant=[0, 1], slots=2)
    >>> losses.means()
    {'shown': 2.0, 'accepted': 1.0, 'slot_loss': 1.0, 'partial_rank_loss': 3.0}
    """

    _COLUMNS = ("shown", "accepted", "slot_loss", "partial_rank_loss")

    def __init__(
        self, miss_weight: float = 0.5, slot_cost: SlotCostLike = "decreasing", window: int = 1000
    ):
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
            Numbers of the shown labels, in order.
        relevant : collection of int
            Numbers of the relevant labels.
        unknown : collection of int
            Numbers of the labels of unknown relevance.
        slots : int
            Number of slots.
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
        """Return the sums over all rounds: shown labels, accepted labels, and both losses."""
        return dict(zip(self._COLUMNS, self._sums.tolist(), strict=True))

    def means(self, recent: bool = False) -> dict[str, float]:
        """Return the means over the rounds; NaN if there are none.

        Parameters
        ----------
        recent : bool, default False
            Whether to cover the last ``window`` rounds only.
        """
        rounds, sums = self.rounds, self._sums
        if recent:
            rounds = len(self._recent)
            sums = np.sum(np.array([*self._recent]).reshape(-1, len(self._COLUMNS)), axis=0)
        found = sums / rounds if rounds else np.full(len(self._COLUMNS), np.nan)
        return dict(zip(self._COLUMNS, found.tolist(), strict=True))

    def state(self) -> dict[str, Any]:
        """Return the state as a dict of JSON values."""
        return {
            "rounds": self.rounds,
            "sums": self._sums.tolist(),
            "recent": [list(row) for row in self._recent],
        }

    def restore(self, state: dict[str, Any]) -> "ListLosses":
        """Replace the state by that of another run.

        Parameters
        ----------
        state : dict
            The result of ``state``.
        """
        sums = np.array(state["sums"], dtype=np.float64)
        if sums.shape != self._sums.shape:
            raise ValueError(f"state must have {len(self._COLUMNS)} sums, got {state['sums']!r}")
        self.rounds = int(state["rounds"])
        self._sums = sums
        self._recent = deque((tuple(row) for row in state["recent"]), maxlen=self.window)
        return self
