"""The measures of a run over queries: rankings of documents before they are learnt."""

import math
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tagalong import parameters
from tagalong.evaluate.graded import ndcg
from tagalong.evaluate.query_report import QueryMeasures, QueryReport
from tagalong.evaluate.saved_state import State, state_from_json, state_to_json
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.rounds import QueryRound

__all__ = ["QueryProgress"]

_SUMS = ("ranked", "mistakes", "ndcg_at_k", "ndcg", "precision_at_k")
_MAX_POINTS = 200


class QueryProgress:
    """Measures queries as they arrive, over the whole run and over its recent queries.

    Parameters
    ----------
    k : int, default 10
        Number of top-ranked documents that NDCG at k and precision at k evaluate.
    window : int, default 1000
        Number of most recent queries that the recent measures cover.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong.evaluate import QueryProgress
    >>> from tagalong.learning.rounds import QueryRound
    >>> progress = QueryProgress(k=2)
    >>> progress.add(QueryRound(np.array([0.9, 0.5, 0.1]), np.array([0.0, 2.0, 1.0])))
    >>> round(progress.report().overall.ndcg_at_k, 3)
    0.521
    """

    def __init__(self, k: int = 10, window: int = 1000):
        self.k = parameters.integer(k, "k", 1)
        self.window = parameters.integer(window, "window", 1)
        self.items = 0
        self._documents = 0
        self._totals = np.zeros(len(_SUMS))
        self._recent = np.zeros((0, len(_SUMS)))
        self._points = np.zeros((0, 3))
        self._spacing = 1

    def add(self, round: QueryRound, learner: object = None) -> None:
        """Add one query.

        Parameters
        ----------
        round : QueryRound
            The scores and the grades of its documents.
        learner : object, optional
            Ignored; for the same signature as `Progress.add`.
        """
        scores, grades = round.scores.astype(np.float64), round.grades
        row = np.zeros(len(_SUMS))
        if (grades > 0).any():
            order = np.argsort(-scores, kind="stable")
            hits = float((grades[order[: self.k]] > 0).mean())
            whole = ndcg(scores, grades)
            row[:] = 1.0, float(whole < 1 - 1e-12), ndcg(scores, grades, self.k), whole, hits
        self._totals += row
        self._recent = np.vstack([self._recent, row])[-self.window :]
        self.items += 1
        self._documents += len(scores)
        if self.items % self._spacing == 0:
            self._add_point()

    def _add_point(self) -> None:
        overall = _means(self._totals)
        point = [self.items, overall.ndcg_at_k, self._totals[1]]
        self._points = np.vstack([self._points, point])
        if len(self._points) > _MAX_POINTS:
            self._spacing *= 2
            self._points = self._points[self._points[:, 0] % self._spacing == 0]

    def report(
        self,
        labels: Sequence[Hashable] | None = None,
        certificate: AnyCertificate | None = None,
        one_label: bool = False,
    ) -> QueryReport:
        """Return the measures so far.

        Parameters
        ----------
        labels : sequence of labels, optional
            Ignored; queries have no labels.
        certificate : object, optional
            The certificate of the learner.
        one_label : bool
            Ignored; queries have no labels.
        """
        overall = _means(self._totals)
        points = self._points
        if len(points) == 0 or points[-1, 0] != self.items:
            points = np.vstack([points, [self.items, overall.ndcg_at_k, self._totals[1]]])
        names = ("items", "ndcg_at_k", "mistakes_so_far")
        return QueryReport(
            items=self.items,
            documents=self._documents,
            k=self.k,
            window=self.window,
            overall=overall,
            recent=_means(self._recent.sum(axis=0)),
            curve=dict(zip(names, points.T, strict=True)),
            certificate=certificate,
        )

    def state(self) -> State:
        """Return the state as a dict of ``arrays`` and ``numbers``, both by name."""
        arrays = {"totals": self._totals, "recent": self._recent, "points": self._points}
        numbers = {
            "queries": 1,
            "k": self.k,
            "window": self.window,
            "items": self.items,
            "documents": self._documents,
            "spacing": self._spacing,
        }
        return {
            "arrays": {name: array.copy() for name, array in arrays.items()},
            "numbers": numbers,
        }

    def restore(self, state: State) -> Self:
        """Replace the state by that of another run.

        Parameters
        ----------
        state : mapping
            The result of ``state``.

        Raises
        ------
        ValueError
            If the state is invalid. In that case the object is unchanged.
        """
        self.__dict__.update(_restored(state).__dict__)
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return state_to_json(self.state())

    @classmethod
    def from_json(cls, saved: object) -> Self:
        """Return the object that ``to_json`` describes; ValueError if that is damaged.

        Parameters
        ----------
        saved : object
            The result of ``to_json``.
        """
        return cls().restore(state_from_json(saved))


def _restored(state: State) -> QueryProgress:
    """Return a new object with a state, after full validation of the state."""
    try:
        arrays, numbers = state["arrays"], state["numbers"]
        new = QueryProgress(numbers["k"], numbers["window"])
        new.items = parameters.integer(numbers["items"], "items", 0, 2**62)
        new._documents = parameters.integer(numbers["documents"], "documents", 0, 2**62)
        new._spacing = parameters.integer(numbers["spacing"], "spacing", 1, 2**62)
        new._totals = np.array(arrays["totals"], dtype=np.float64).reshape(len(_SUMS))
        new._recent = np.array(arrays["recent"], dtype=np.float64)
        new._points = np.array(arrays["points"], dtype=np.float64)
        kept = min(new.items, new.window)
        if new._recent.shape != (kept, len(_SUMS)):
            raise ValueError(
                f"recent must have shape {(kept, len(_SUMS))}, got {new._recent.shape}"
            )
        if new._points.ndim != 2 or new._points.shape[1] != 3:
            raise ValueError(f"points must have 3 columns, got shape {new._points.shape}")
        if not all(np.isfinite(array).all() for array in (new._totals, new._recent)):
            raise ValueError("totals and recent must be finite")
    except (KeyError, TypeError) as error:
        raise ValueError(f"invalid state of a run: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"invalid state of a run: {error}") from error
    return new


def _means(sums: npt.NDArray[np.float64]) -> QueryMeasures:
    ranked = float(sums[0])
    means = [float(value) / ranked if ranked else math.nan for value in sums[1:]]
    return QueryMeasures(int(ranked), *means)
