"""The built-in problems, small enough to enumerate all their predictions."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tagalong.problems import (
    REJECT,
    Binary,
    LabelRanking,
    Multiclass,
    Multilabel,
    Ordinal,
    SubsetRanking,
)


@dataclass(frozen=True)
class Kind:
    """A problem, all its predictions and all its answers."""

    name: str
    problem: Any
    predictions: list[Any]
    answers: list[Any]


def sets(m: int, grades: tuple[int, ...] = (0, 1)) -> list[Any]:
    return [np.array(each) for each in itertools.product(grades, repeat=m)]


def orders(m: int) -> list[Any]:
    return [np.array(each) for each in itertools.permutations(range(m))]


def rankings(m: int) -> list[Kind]:
    found = []
    for position in ("-i", "-i^1.1", "-i^2", "1/i", lambda i: -(i**0.5)):
        name = position if isinstance(position, str) else "custom"
        for label, settings in (
            ("ndcg", {}),
            ("ndcg@2", {"k": 2}),
            ("precision@2", {"loss": "precision", "k": 2}),
            ("index", {"ties": "index"}),
        ):
            problem: Any = LabelRanking(position, dimension=m, **settings)
            found.append(Kind(f"labels {name} {label}", problem, orders(m), sets(m)))
            graded: Any = SubsetRanking(position, dimension=m, **settings)
            graded.top_grade = 3.0
            found.append(Kind(f"subset {name} {label}", graded, orders(m), sets(m, (0, 1, 3))))
    return found


KINDS = [
    Kind("binary", Binary(), [0, 1], [0, 1]),
    Kind("binary, costs", Binary((2.0, 0.5)), [0, 1], [0, 1]),
    Kind("binary, reject", Binary(reject=0.3), [0, 1, REJECT], [0, 1]),
    Kind("binary, rejects", Binary((2.0, 1.0), reject=(0.4, 0.2)), [0, 1, REJECT], [0, 1]),
    Kind("multiclass", Multiclass(dimension=5), list(range(5)), list(range(5))),
    Kind("multiclass, reject", Multiclass(0.4, 5), [*range(5), REJECT], list(range(5))),
    Kind("ordinal", Ordinal(6), list(range(6)), list(range(6))),
    *(
        Kind(f"multilabel {loss}", Multilabel(loss, 6), sets(6), sets(6))
        for loss in ("hamming", "subset", "error_set")
    ),
    *rankings(4),
]

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
