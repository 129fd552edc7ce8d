"""The figures of a run over queries, as a table or as JSON."""

import os
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.plain import for_json

__all__ = ["QueryMeasures", "QueryReport"]


@dataclass(frozen=True)
class QueryMeasures:
    """The means over some queries with relevant documents; higher is better but for mistakes.

    Parameters
    ----------
    queries : int
        How many there were with relevant documents.
    mistakes : float
        The share of them that were not ranked perfectly.
    ndcg_at_k, ndcg : float
        Of the first k places, and of all.
    precision_at_k : float
        The share of relevant documents, of any grade above 0, among the first k.
    """

    queries: int
    mistakes: float
    ndcg_at_k: float
    ndcg: float
    precision_at_k: float


@dataclass(frozen=True, eq=False)
class QueryReport:
    """The figures of a run over queries; ``str(report)`` is a table.

    Parameters
    ----------
    items : int
        How many queries there were.
    documents : int
        How many documents they had.
    k : int
        How many places count.
    window : int
        How many queries the recent figures look back.
    overall, recent : QueryMeasures
        Of all queries, and of the last ones.
    curve : dict of arrays
        ``items``, ``ndcg_at_k`` and ``mistakes_so_far`` over the course of the run.
    certificate : object or None
        What the learner can prove by now.
    labels : tuple
        Always empty.
    """

    items: int
    documents: int
    k: int
    window: int
    overall: QueryMeasures
    recent: QueryMeasures
    curve: dict[str, npt.NDArray[np.float64]]
    certificate: Any = None
    labels: tuple[Hashable, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON takes it, with None for NaN."""
        found = {
            **{name: getattr(self, name) for name in ("items", "documents", "k", "window")},
            "overall": asdict(self.overall),
            "recent": asdict(self.recent),
            "certificate": None if self.certificate is None else asdict(self.certificate),
            "curve": {name: values.tolist() for name, values in self.curve.items()},
        }
        plain: dict[str, Any] = for_json(found)
        return plain

    def __str__(self) -> str:
        lines = [
            f"{self.items:,} queries, {self.documents:,} documents",
            "",
            f"{'':18}{'all':>8}{f'last {min(self.window, self.items):,}':>12}",
        ]
        for name, title in (
            ("ndcg_at_k", f"NDCG@{self.k}"),
            ("ndcg", "NDCG"),
            ("precision_at_k", f"precision@{self.k}"),
            ("mistakes", "any mistake"),
        ):
            shown = [f"{getattr(part, name):.4f}" for part in (self.overall, self.recent)]
            lines.append(f"{title:18}{shown[0]:>8}{shown[1]:>12}")
        if self.certificate is not None:
            lines += ["", f"certificate: {self.certificate}"]
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str], kind: str = "mistakes") -> NoReturn:
        """Refuse: queries have no plot.

        Parameters
        ----------
        path : str or path
            Where to.
        kind : str, default "mistakes"
            What to draw.
        """
        raise ValueError("a run over queries has no plot; its report has the curve")
