"""The measures of a run over queries, as a table or as JSON."""

import os
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.json_values import for_json

__all__ = ["QueryMeasures", "QueryReport"]


@dataclass(frozen=True)
class QueryMeasures:
    """Means over queries with relevant documents. Higher is better, except for mistakes.

    Parameters
    ----------
    queries : int
        Number of queries with relevant documents.
    mistakes : float
        Share of these queries whose ranking is not perfect.
    ndcg_at_k, ndcg : float
        NDCG of the first k positions, and of all positions.
    precision_at_k : float
        Share of relevant documents (grade above 0) among the first k.
    """

    queries: int
    mistakes: float
    ndcg_at_k: float
    ndcg: float
    precision_at_k: float


@dataclass(frozen=True, eq=False)
class QueryReport:
    """The measures of a run over queries; ``str(report)`` is a table.

    Parameters
    ----------
    items : int
        Number of queries.
    documents : int
        Number of documents of all queries.
    k : int
        Number of top-ranked documents that the measures at k evaluate.
    window : int
        Number of most recent queries that the recent measures cover.
    overall, recent : QueryMeasures
        The measures of all queries, and of the recent queries.
    curve : dict of arrays
        ``items``, ``ndcg_at_k`` and ``mistakes_so_far`` at points of the run.
    certificate : object or None
        The certificate of the learner.
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
        """Return everything as a dict of JSON values, with None for NaN."""
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
        return self.text()

    def text(self, certificate: bool = False) -> str:
        """Return the report as text.

        Parameters
        ----------
        certificate : bool, default False
            Whether to add the certificate of the learner.
        """
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
        if certificate and self.certificate is not None:
            lines += ["", f"certificate: {self.certificate}"]
        return "\n".join(lines)

    def plot(
        self, path: str | os.PathLike[str], kind: str = "mistakes", *, private: bool = False
    ) -> NoReturn:
        """Raise ValueError, as there is no plot of a run over queries.

        Parameters
        ----------
        path : str or path
            Ignored.
        kind : str, default "mistakes"
            Ignored.
        private : bool, default False
            Ignored.
        """
        raise ValueError(
            "there is no plot of a run over queries; the report has the data of the curve"
        )
