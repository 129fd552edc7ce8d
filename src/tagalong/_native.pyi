"""Types of the native core, made by tools/make_native_stub.py."""

from collections.abc import Callable, Sequence
from typing import Any, Final, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

class InputError(ValueError):
    pass

def vector_width() -> str: ...

class Matrix:
    @staticmethod
    def dense(array: NDArray[Any]) -> Matrix: ...
    @staticmethod
    def csr(
        data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], columns: int
    ) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...

class FeatureRows:
    def matrix(self) -> Matrix: ...
    @property
    def indptr(self) -> NDArray[numpy.int64]: ...
    @property
    def indices(self) -> NDArray[numpy.int32]: ...
    @property
    def values(self) -> NDArray[numpy.float64]: ...

class LabelRows:
    def __init__(self, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32]) -> None: ...
    @property
    def indptr(self) -> NDArray[numpy.int64]: ...
    @property
    def indices(self) -> NDArray[numpy.int32]: ...

class FeatureWeights:
    def __init__(
        self,
        features: NDArray[numpy.int32],
        weights: NDArray[Any],
        unseen: NDArray[Any] | None = None,
    ) -> None: ...
    @property
    def features(self) -> NDArray[numpy.int32]: ...
    @property
    def weights(self) -> NDArray[Any]: ...
    @property
    def unseen(self) -> NDArray[Any] | None: ...

class LabelRule:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def entropic(self) -> bool: ...
    @property
    def bound(self) -> str: ...
    @property
    def entropic_instead(self) -> str: ...
    @property
    def few_labels(self) -> bool: ...
    @property
    def interior_point(self) -> bool: ...

class BlockRule:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def paper(self) -> str: ...
    @property
    def entropic(self) -> bool: ...
    @property
    def bound(self) -> str: ...
    @property
    def worst_row_only(self) -> bool: ...

class PredtronUpdate:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def by_loss(self) -> bool: ...

def label_rules() -> tuple[LabelRule, ...]: ...
def block_rules() -> tuple[BlockRule, ...]: ...
def predtron_updates() -> tuple[PredtronUpdate, ...]: ...

class PackedWeights:
    STREAMS: Final[tuple[str, ...]] = ...

    @staticmethod
    def from_streams(
        shape: tuple[int, int], planes: int, dtype: str, streams: Sequence[NDArray[numpy.uint8]]
    ) -> PackedWeights: ...
    @overload
    @staticmethod
    def pack(
        first: NDArray[numpy.float32], second: NDArray[numpy.float32] | None = None
    ) -> PackedWeights: ...
    @overload
    @staticmethod
    def pack(
        first: NDArray[numpy.float64], second: NDArray[numpy.float64] | None = None
    ) -> PackedWeights: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def planes(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    def chunks(self, stream: int) -> list[NDArray[numpy.uint8]]: ...
    def tobytes(self) -> bytes: ...
    def unpacked(self) -> list[NDArray[Any]]: ...

class Learner:
    def weights(self) -> FeatureWeights: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def packed_state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...
    @property
    def bytes(self) -> int: ...
    @property
    def unsolved(self) -> int: ...

class PlaceArrays:
    def __init__(self, rows: int, k: int) -> None: ...
    def fill(
        self,
        *,
        labels: NDArray[numpy.int32],
        scores: NDArray[numpy.float64],
        probabilities: NDArray[numpy.float64],
        assured: NDArray[numpy.float64],
        chosen: NDArray[numpy.bool_],
        whole: NDArray[numpy.float64],
        known: NDArray[numpy.int32],
        in_runs: NDArray[numpy.bool_],
    ) -> None: ...
    def take(self) -> dict[str, Any]: ...

class Ranker32(Learner):
    @property
    def labels(self) -> int: ...
    def add_labels(self, count: int) -> None: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: NDArray[numpy.float64] | None = None,
        scores: NDArray[numpy.float32] | None = None,
        cutoffs: NDArray[numpy.float64] | None = None,
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
    ) -> None: ...
    def explain_one(
        self, indices: NDArray[Any], values: NDArray[Any], label: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], float]: ...
    def judge(
        self,
        x: Matrix,
        k: int,
        count: NDArray[numpy.int64] | None = None,
        last: NDArray[numpy.int64] | None = None,
    ) -> PlaceArrays: ...
    def judge_scores(
        self,
        scores: NDArray[numpy.float32],
        known: int,
        out: PlaceArrays,
        row: int,
        count: NDArray[numpy.int64] | None = None,
        last: NDArray[numpy.int64] | None = None,
    ) -> None: ...
    def covered(self, targets: Sequence[float]) -> list[tuple[float, float, float]]: ...
    def label_precision(self) -> NDArray[numpy.float64]: ...
    def count_mistake(self, label: int, weight: float) -> None: ...
    @property
    def has_one_label(self) -> bool: ...
    @property
    def in_runs(self) -> bool: ...
    def restart_certificate(self) -> None: ...
    def score(self, x: Matrix) -> tuple[NDArray[numpy.float32], float]: ...
    def rank(self, x: Matrix, k: int) -> NDArray[numpy.int32]: ...

class Ranker64(Learner):
    @property
    def labels(self) -> int: ...
    def add_labels(self, count: int) -> None: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: NDArray[numpy.float64] | None = None,
        scores: NDArray[numpy.float64] | None = None,
        cutoffs: NDArray[numpy.float64] | None = None,
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
    ) -> None: ...
    def explain_one(
        self, indices: NDArray[Any], values: NDArray[Any], label: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], float]: ...
    def judge(
        self,
        x: Matrix,
        k: int,
        count: NDArray[numpy.int64] | None = None,
        last: NDArray[numpy.int64] | None = None,
    ) -> PlaceArrays: ...
    def judge_scores(
        self,
        scores: NDArray[numpy.float64],
        known: int,
        out: PlaceArrays,
        row: int,
        count: NDArray[numpy.int64] | None = None,
        last: NDArray[numpy.int64] | None = None,
    ) -> None: ...
    def covered(self, targets: Sequence[float]) -> list[tuple[float, float, float]]: ...
    def label_precision(self) -> NDArray[numpy.float64]: ...
    def count_mistake(self, label: int, weight: float) -> None: ...
    @property
    def has_one_label(self) -> bool: ...
    @property
    def in_runs(self) -> bool: ...
    def restart_certificate(self) -> None: ...
    def score(self, x: Matrix) -> tuple[NDArray[numpy.float64], float]: ...
    def rank(self, x: Matrix, k: int) -> NDArray[numpy.int32]: ...

class LabelCertificate:
    @property
    def rounds(self) -> int: ...
    @property
    def earlier(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def gain(self) -> float: ...
    @property
    def curvature(self) -> float: ...
    @property
    def least_weight(self) -> float: ...
    @property
    def most_weight(self) -> float: ...
    @property
    def solver_rounds(self) -> int: ...
    @property
    def solver_iterations(self) -> int: ...
    @property
    def solver_most_iterations(self) -> int: ...
    @property
    def unsolved(self) -> int: ...
    @property
    def dual(self) -> float: ...
    @property
    def penalty(self) -> float: ...
    @property
    def average(self) -> float: ...
    @property
    def cutoff(self) -> float: ...
    @property
    def budget(self) -> float: ...
    @property
    def temperature(self) -> float: ...
    @property
    def contestant(self) -> str: ...
    @property
    def rankers(self) -> int: ...

class LabelRanker32(Ranker32):
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        temperature: float,
        average: str,
        constant: float,
        normalize: bool,
        solver: str,
        rate: float,
        n_features: int,
        one_label: str,
        probability: bool,
        relevance: str,
        working_set: bool,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> LabelCertificate: ...
    def set_one_label(self, one_label: str) -> None: ...
    def recompute_dual(self) -> float: ...

class LabelRanker64(Ranker64):
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        temperature: float,
        average: str,
        constant: float,
        normalize: bool,
        solver: str,
        rate: float,
        n_features: int,
        one_label: str,
        probability: bool,
        relevance: str,
        working_set: bool,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> LabelCertificate: ...
    def set_one_label(self, one_label: str) -> None: ...
    def recompute_dual(self) -> float: ...

@overload
def mixed(
    rankers: Sequence[tuple[LabelRanker32, Sequence[int], Sequence[int]]],
    factors: Sequence[float],
    base: tuple[LabelRanker32, Sequence[int], Sequence[int]] | None,
    labels: int,
    restart: bool,
    kind: str,
) -> dict[str, dict[str, Any]]: ...
@overload
def mixed(
    rankers: Sequence[tuple[LabelRanker64, Sequence[int], Sequence[int]]],
    factors: Sequence[float],
    base: tuple[LabelRanker64, Sequence[int], Sequence[int]] | None,
    labels: int,
    restart: bool,
    kind: str,
) -> dict[str, dict[str, Any]]: ...

class ContestantType:
    @property
    def name(self) -> str: ...
    @property
    def budget(self) -> float: ...
    @property
    def is_ranker(self) -> bool: ...

def contestant_types() -> tuple[ContestantType, ...]: ...

class Standing:
    @property
    def name(self) -> str: ...
    @property
    def running(self) -> bool: ...
    @property
    def rounds(self) -> int: ...
    @property
    def weight(self) -> float: ...
    @property
    def gain(self) -> float: ...
    @property
    def bytes(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def left(self) -> int: ...
    @property
    def winner(self) -> str: ...
    @property
    def lead(self) -> float: ...

class LastDrift:
    @property
    def since(self) -> int: ...
    @property
    def labels(self) -> list[int]: ...
    @property
    def active(self) -> bool: ...

class Race32(Ranker32):
    def __init__(
        self,
        *,
        race: Sequence[str],
        update: str,
        geometry: str,
        C: float,
        margin: float,
        temperature: float,
        average: str,
        constant: float,
        normalize: bool,
        solver: str,
        rate: float,
        n_features: int,
        one_label: str,
        probability: bool,
        relevance: str,
        working_set: bool,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> LabelCertificate: ...
    def set_one_label(self, one_label: str) -> None: ...
    def recompute_dual(self) -> float: ...
    def occurrences(self) -> NDArray[numpy.float64]: ...
    def drift(self) -> LastDrift: ...
    def standings(self) -> list[Standing]: ...

class Race64(Ranker64):
    def __init__(
        self,
        *,
        race: Sequence[str],
        update: str,
        geometry: str,
        C: float,
        margin: float,
        temperature: float,
        average: str,
        constant: float,
        normalize: bool,
        solver: str,
        rate: float,
        n_features: int,
        one_label: str,
        probability: bool,
        relevance: str,
        working_set: bool,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> LabelCertificate: ...
    def set_one_label(self, one_label: str) -> None: ...
    def recompute_dual(self) -> float: ...
    def occurrences(self) -> NDArray[numpy.float64]: ...
    def drift(self) -> LastDrift: ...
    def standings(self) -> list[Standing]: ...

class CompactRanker(Ranker32):
    def __init__(
        self, *, centred: bool, one_label: str, probability: bool, normalize: bool, constant: float
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    def certificate(self) -> LabelCertificate: ...
    @property
    def cutoff(self) -> float: ...

@overload
def compacted(ranker: Race32, dropped_share: float) -> dict[str, dict[str, Any]]: ...
@overload
def compacted(ranker: Race64, dropped_share: float) -> dict[str, dict[str, Any]]: ...
@overload
def compacted(ranker: LabelRanker32, dropped_share: float) -> dict[str, dict[str, Any]]: ...
@overload
def compacted(ranker: LabelRanker64, dropped_share: float) -> dict[str, dict[str, Any]]: ...

class BlockCertificate:
    @property
    def rounds(self) -> int: ...
    @property
    def mistakes(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def gain(self) -> float: ...
    @property
    def curvature(self) -> float: ...
    @property
    def least_weight(self) -> float: ...
    @property
    def most_weight(self) -> float: ...
    @property
    def most_sets(self) -> int: ...
    @property
    def uneven(self) -> bool: ...
    @property
    def restarted(self) -> bool: ...
    @property
    def solver_rounds(self) -> int: ...
    @property
    def solver_iterations(self) -> int: ...
    @property
    def solver_most_iterations(self) -> int: ...
    @property
    def unsolved(self) -> int: ...
    @property
    def dual(self) -> float: ...

class BlockLearner32(Learner):
    def __init__(
        self, *, update: str, geometry: str, C: float, margin: float, n_features: int
    ) -> None: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        signs: NDArray[numpy.float64],
        sizes: NDArray[numpy.int64],
        sets: NDArray[numpy.int32] | None = None,
        weights: NDArray[numpy.float64] | None = None,
    ) -> NDArray[numpy.float64]: ...
    def score(self, x: Matrix) -> NDArray[numpy.float64]: ...
    def recompute_dual(self) -> float: ...
    def certificate(self) -> BlockCertificate: ...

class BlockLearner64(Learner):
    def __init__(
        self, *, update: str, geometry: str, C: float, margin: float, n_features: int
    ) -> None: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        signs: NDArray[numpy.float64],
        sizes: NDArray[numpy.int64],
        sets: NDArray[numpy.int32] | None = None,
        weights: NDArray[numpy.float64] | None = None,
    ) -> NDArray[numpy.float64]: ...
    def score(self, x: Matrix) -> NDArray[numpy.float64]: ...
    def recompute_dual(self) -> float: ...
    def certificate(self) -> BlockCertificate: ...

class SharedCertificate:
    @property
    def rounds(self) -> int: ...
    @property
    def mistakes(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def gain(self) -> float: ...
    @property
    def curvature(self) -> float: ...
    @property
    def least_weight(self) -> float: ...
    @property
    def most_weight(self) -> float: ...
    @property
    def most_sets(self) -> int: ...
    @property
    def uneven(self) -> bool: ...
    @property
    def restarted(self) -> bool: ...
    @property
    def solver_rounds(self) -> int: ...
    @property
    def solver_iterations(self) -> int: ...
    @property
    def solver_most_iterations(self) -> int: ...
    @property
    def unsolved(self) -> int: ...
    @property
    def dual(self) -> float: ...
    @property
    def cutoff(self) -> float: ...

class SharedRanker32(Ranker32):
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        n_features: int,
        often: float = 0.2,
        seldom: float = 0.02,
        common: float = 2.0,
        rare: float = -1.0,
        seldom_of: str = "folder",
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> SharedCertificate: ...
    def finished_row(
        self, x: Matrix, row: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def finished_pairs(
        self, indices: NDArray[Any], values: NDArray[Any]
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def learn_block(
        self,
        phi: LabelBlock32,
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
        row: int = 0,
    ) -> tuple[NDArray[numpy.float32], float]: ...
    def score_block(self, phi: LabelBlock32) -> tuple[NDArray[numpy.float32], float]: ...
    def rank_block(self, phi: LabelBlock32, k: int) -> list[int]: ...
    def explain_block(
        self, phi: LabelBlock32, label: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], float]: ...
    def recompute_dual(self) -> float: ...

class LabelBlock32:
    def __init__(self, rows: Matrix) -> None: ...
    @property
    def known(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class SharedRanker64(Ranker64):
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        n_features: int,
        often: float = 0.2,
        seldom: float = 0.02,
        common: float = 2.0,
        rare: float = -1.0,
        seldom_of: str = "folder",
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> SharedCertificate: ...
    def finished_row(
        self, x: Matrix, row: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def finished_pairs(
        self, indices: NDArray[Any], values: NDArray[Any]
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def learn_block(
        self,
        phi: LabelBlock64,
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
        row: int = 0,
    ) -> tuple[NDArray[numpy.float64], float]: ...
    def score_block(self, phi: LabelBlock64) -> tuple[NDArray[numpy.float64], float]: ...
    def rank_block(self, phi: LabelBlock64, k: int) -> list[int]: ...
    def explain_block(
        self, phi: LabelBlock64, label: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], float]: ...
    def recompute_dual(self) -> float: ...

class LabelBlock64:
    def __init__(self, rows: Matrix) -> None: ...
    @property
    def known(self) -> int: ...
    @property
    def bytes(self) -> int: ...

class GradeRanker32(Ranker32):
    def __init__(self, *, update: str, C: float, margin: float, scaled: bool) -> None: ...
    def thresholds(self) -> NDArray[numpy.float64]: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> SharedCertificate: ...
    def recompute_dual(self) -> float: ...

class GradeRanker64(Ranker64):
    def __init__(self, *, update: str, C: float, margin: float, scaled: bool) -> None: ...
    def thresholds(self) -> NDArray[numpy.float64]: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> SharedCertificate: ...
    def recompute_dual(self) -> float: ...

class PartialCertificate:
    @property
    def rounds(self) -> int: ...
    @property
    def shown(self) -> int: ...
    @property
    def regret(self) -> float: ...
    @property
    def ranking_regret(self) -> float: ...
    @property
    def ranks(self) -> bool: ...
    @property
    def cutoff(self) -> float: ...
    @property
    def refactorisations(self) -> int | None: ...

class PartialRanker32(Ranker32):
    def __init__(
        self,
        *,
        miss_weight: float,
        slot_cost: str | Sequence[float],
        max_labels: int,
        ties: str,
        max_explore: int,
        loss: str | Sequence[Sequence[float]],
        radius: float,
        delta: float,
        norm_bound: float | None,
        covariance: str,
        exploration: float,
        update: str,
        width: str,
        kernel: str,
        gamma: float,
        normalize: bool,
        memory_limit: float,
        n_features: int,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    def suggest(
        self, x: Matrix, most: NDArray[numpy.int64] | None
    ) -> tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint8],
    ]: ...
    def suggest_one(
        self, indices: NDArray[Any], values: NDArray[Any], most: int
    ) -> tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint8],
    ]: ...
    def play(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: NDArray[numpy.float64] | None = None,
        most: NDArray[numpy.int64] | None = None,
    ) -> tuple[LabelRows, NDArray[numpy.uint8], NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def last_round(self) -> tuple[list[int], float, float]: ...
    def declare_features(self, count: int) -> None: ...
    def feedback(self, x: Matrix, shown: LabelRows, accepted: LabelRows) -> None: ...
    def feedback_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        shown: Sequence[int],
        accepted: Sequence[int],
    ) -> None: ...
    def predict(self, x: Matrix) -> NDArray[numpy.int64]: ...
    def certificate(self) -> PartialCertificate: ...
    def matrix(self, label: int, inverse: bool) -> NDArray[numpy.float64]: ...
    @staticmethod
    def bytes_a_label(features: float) -> float: ...

class PartialRanker64(Ranker64):
    def __init__(
        self,
        *,
        miss_weight: float,
        slot_cost: str | Sequence[float],
        max_labels: int,
        ties: str,
        max_explore: int,
        loss: str | Sequence[Sequence[float]],
        radius: float,
        delta: float,
        norm_bound: float | None,
        covariance: str,
        exploration: float,
        update: str,
        width: str,
        kernel: str,
        gamma: float,
        normalize: bool,
        memory_limit: float,
        n_features: int,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    def suggest(
        self, x: Matrix, most: NDArray[numpy.int64] | None
    ) -> tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint8],
    ]: ...
    def suggest_one(
        self, indices: NDArray[Any], values: NDArray[Any], most: int
    ) -> tuple[
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint8],
    ]: ...
    def play(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: NDArray[numpy.float64] | None = None,
        most: NDArray[numpy.int64] | None = None,
    ) -> tuple[LabelRows, NDArray[numpy.uint8], NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def last_round(self) -> tuple[list[int], float, float]: ...
    def declare_features(self, count: int) -> None: ...
    def feedback(self, x: Matrix, shown: LabelRows, accepted: LabelRows) -> None: ...
    def feedback_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        shown: Sequence[int],
        accepted: Sequence[int],
    ) -> None: ...
    def predict(self, x: Matrix) -> NDArray[numpy.int64]: ...
    def certificate(self) -> PartialCertificate: ...
    def matrix(self, label: int, inverse: bool) -> NDArray[numpy.float64]: ...
    @staticmethod
    def bytes_a_label(features: float) -> float: ...

class Game:
    def __init__(
        self, *, miss_weight: float, slot_cost: str | Sequence[float], ties: str, max_explore: int
    ) -> None: ...
    def choose(self, probabilities: Sequence[float], most: int) -> list[int]: ...
    def expected(self, shown: Sequence[int], probabilities: Sequence[float]) -> float: ...
    def losses(
        self, shown: LabelRows, relevant: LabelRows, unknown: LabelRows, slots: NDArray[numpy.int64]
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

class PredtronProblem:
    def __init__(
        self,
        *,
        kind: str,
        costs: Sequence[float] = (),
        reject: Sequence[float] = (),
        set_loss: str = "hamming",
        least_loss: float = 1.0,
        reciprocal: bool = False,
        exponent: float = 1.0,
        precision: bool = False,
        depth: int = 0,
        ties_by_score: bool = True,
    ) -> None: ...

class PredtronCertificate:
    @property
    def rounds(self) -> int: ...
    @property
    def earlier(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def radius(self) -> float: ...
    @property
    def top_grade(self) -> float: ...
    @property
    def least_step(self) -> float: ...
    @property
    def most_step(self) -> float: ...
    @property
    def least_weight(self) -> float: ...
    @property
    def most_weight(self) -> float: ...
    @property
    def least_loss(self) -> float: ...
    @property
    def dimension(self) -> float: ...
    @property
    def spread(self) -> float: ...
    @property
    def cutoff(self) -> float: ...

class Predtron32(Ranker32):
    def __init__(
        self,
        *,
        problem: PredtronProblem,
        norm: str,
        kernel: str,
        gamma: float,
        degree: float,
        budget: int,
        update: str,
        step: float,
        average: bool,
        normalize: bool,
        constant: float,
        queries: bool,
        dimension: int,
        n_features: int,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> PredtronCertificate: ...
    def probabilities(self, scores: NDArray[numpy.float32]) -> NDArray[numpy.float64]: ...
    def raw_scores(self, x: Matrix, row: int, predicting: bool) -> NDArray[numpy.float64]: ...
    def finished(
        self, x: Matrix, row: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def norm(self, x: Matrix, row: int) -> float: ...
    def count(self, norm: float, loss: float, weight: float, size: int) -> float: ...
    def observe_labels(
        self,
        predicted: NDArray[numpy.float32],
        labels_before: int,
        known: int,
        relevant: Sequence[int],
        unknown: Sequence[int],
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
        row: int = 0,
    ) -> None: ...
    def move(self, x: Matrix, row: int, direction: NDArray[numpy.float64]) -> None: ...
    def learn_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: NDArray[numpy.float64],
        norm: float,
        weight: float,
    ) -> tuple[float, NDArray[numpy.float32]]: ...
    def query_scores(
        self, x: Matrix, begin: int, end: int, predicting: bool
    ) -> NDArray[numpy.float64]: ...
    def settle_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: NDArray[numpy.float64],
        loss: float,
        direction: NDArray[numpy.float64],
        norm: float,
        weight: float,
    ) -> None: ...

class Predtron64(Ranker64):
    def __init__(
        self,
        *,
        problem: PredtronProblem,
        norm: str,
        kernel: str,
        gamma: float,
        degree: float,
        budget: int,
        update: str,
        step: float,
        average: bool,
        normalize: bool,
        constant: float,
        queries: bool,
        dimension: int,
        n_features: int,
    ) -> None: ...
    def learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: NDArray[Any],
        values: NDArray[Any],
        relevant: Sequence[int],
        unknown: Sequence[int],
        weight: float,
        stands_for: float,
        places: PlaceArrays | None,
        /,
    ) -> tuple[NDArray[Any], float]: ...
    def rank_one(self, indices: NDArray[Any], values: NDArray[Any], k: int, /) -> list[int]: ...
    def score_one(
        self, indices: NDArray[Any], values: NDArray[Any], /
    ) -> tuple[NDArray[Any], float]: ...
    @property
    def rounds(self) -> int: ...
    def select_labels(self, sources: Sequence[Sequence[int]]) -> None: ...
    def select_features(self, kept: Sequence[bool]) -> None: ...
    def certificate(self) -> PredtronCertificate: ...
    def probabilities(self, scores: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
    def raw_scores(self, x: Matrix, row: int, predicting: bool) -> NDArray[numpy.float64]: ...
    def finished(
        self, x: Matrix, row: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def norm(self, x: Matrix, row: int) -> float: ...
    def count(self, norm: float, loss: float, weight: float, size: int) -> float: ...
    def observe_labels(
        self,
        predicted: NDArray[numpy.float64],
        labels_before: int,
        known: int,
        relevant: Sequence[int],
        unknown: Sequence[int],
        stands_for: float = 1.0,
        places: PlaceArrays | None = None,
        row: int = 0,
    ) -> None: ...
    def move(self, x: Matrix, row: int, direction: NDArray[numpy.float64]) -> None: ...
    def learn_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: NDArray[numpy.float64],
        norm: float,
        weight: float,
    ) -> tuple[float, NDArray[numpy.float64]]: ...
    def query_scores(
        self, x: Matrix, begin: int, end: int, predicting: bool
    ) -> NDArray[numpy.float64]: ...
    def settle_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: NDArray[numpy.float64],
        loss: float,
        direction: NDArray[numpy.float64],
        norm: float,
        weight: float,
    ) -> None: ...

def merge_ranking(
    scores: NDArray[numpy.float64],
    relevant: NDArray[numpy.int32],
    f: NDArray[numpy.float64],
    discount: NDArray[numpy.float64],
) -> NDArray[numpy.int32]: ...

class M3LProblem:
    def __init__(
        self,
        *,
        relevant: LabelRows,
        unknown: LabelRows,
        margin_yes: NDArray[numpy.float64],
        margin_no: NDArray[numpy.float64],
        bound_yes: NDArray[numpy.float64],
        bound_no: NDArray[numpy.float64],
        row_weight: NDArray[numpy.float64] | None = None,
        prior: NDArray[numpy.float64] | None = None,
        tied: bool = False,
        cost: NDArray[numpy.float64] | None = None,
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def prior(self) -> NDArray[numpy.float64] | None: ...

class M3LSettings:
    def __init__(
        self,
        *,
        tolerance: float,
        most_passes: int,
        threads: int,
        seed: int,
        cache_bytes: int,
        constant: float = 0.0,
        smo: bool = False,
        coordinate_passes: int = 75,
        cg_steps: int = 40,
    ) -> None: ...
    def __getstate__(self) -> tuple[float, int, int, int, int, float, bool, int, int]: ...
    def __setstate__(
        self, state: tuple[float, int, int, int, int, float, bool, int, int]
    ) -> None: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def most_passes(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def cache_bytes(self) -> int: ...
    @property
    def constant(self) -> float: ...

class M3LLinearSolution:
    @property
    def dual_objective(self) -> float: ...
    @property
    def duality_gap(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def converged(self) -> bool: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def passes(self) -> int: ...
    @property
    def dual(self) -> NDArray[Any]: ...
    @property
    def weights(self) -> NDArray[Any]: ...
    @property
    def parts(self) -> NDArray[numpy.float64]: ...
    @property
    def place(self) -> NDArray[numpy.int32]: ...
    @property
    def features(self) -> NDArray[numpy.int32]: ...

class M3LKernelSolution:
    @property
    def dual_objective(self) -> float: ...
    @property
    def duality_gap(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def converged(self) -> bool: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def passes(self) -> int: ...
    @property
    def dual(self) -> NDArray[numpy.float64]: ...
    @property
    def cached_rows(self) -> int: ...

def m3l_linear32(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    start: NDArray[numpy.float32] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
    anchor: NDArray[numpy.float32] | None = None,
    blocks: tuple[int, int] | None = None,
) -> M3LLinearSolution: ...
def m3l_linear64(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    start: NDArray[numpy.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
    anchor: NDArray[numpy.float64] | None = None,
    blocks: tuple[int, int] | None = None,
) -> M3LLinearSolution: ...
def m3l_evaluate32(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    dual: NDArray[numpy.float32],
    weights: NDArray[numpy.float32],
) -> tuple[float, float, float]: ...
def m3l_evaluate64(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    dual: NDArray[numpy.float64],
    weights: NDArray[numpy.float64],
) -> tuple[float, float, float]: ...

M3L_LANES: int = 16

def m3l_kernel(
    diagonal: NDArray[numpy.float64],
    problem: M3LProblem,
    settings: M3LSettings,
    between: Callable[[NDArray[numpy.int32], NDArray[numpy.int32] | None], NDArray[numpy.float32]],
    start: NDArray[numpy.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LKernelSolution: ...
def m3l_rbf(
    x: Matrix,
    gamma: float,
    problem: M3LProblem,
    settings: M3LSettings,
    start: NDArray[numpy.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LKernelSolution: ...
def m3l_check(x: Matrix) -> None: ...

class AnswerCounts:
    def __init__(self, targets: Sequence[float], bins: int, settled: int) -> None: ...
    def count(
        self,
        places: Any,
        has_confidence: bool,
        relevant: LabelRows,
        unknown: LabelRows,
        item: int,
        out: NDArray[numpy.int64],
    ) -> None: ...
    def count_one(
        self,
        places: Any,
        has_confidence: bool,
        relevant: Sequence[int],
        unknown: Sequence[int],
        item: int,
        out: NDArray[numpy.int64],
    ) -> None: ...
    def calibration(self) -> NDArray[numpy.int64]: ...
    def labels(self) -> NDArray[numpy.int64]: ...
    def restore(self, calibration: NDArray[numpy.int64], labels: NDArray[numpy.int64]) -> None: ...

class Measures:
    def __init__(self, k: int, window: int) -> None: ...
    @property
    def k(self) -> int: ...
    @property
    def window(self) -> int: ...
    @overload
    def observe(
        self,
        scores: NDArray[numpy.float32],
        relevant: LabelRows,
        unknown: LabelRows,
        cutoffs: NDArray[numpy.float64],
    ) -> None: ...
    @overload
    def observe(
        self,
        scores: NDArray[numpy.float64],
        relevant: LabelRows,
        unknown: LabelRows,
        cutoffs: NDArray[numpy.float64],
    ) -> None: ...
    @overload
    def observe_one(
        self,
        scores: NDArray[numpy.float32],
        relevant: Sequence[int],
        unknown: Sequence[int],
        cutoff: float,
        /,
    ) -> None: ...
    @overload
    def observe_one(
        self,
        scores: NDArray[numpy.float64],
        relevant: Sequence[int],
        unknown: Sequence[int],
        cutoff: float,
        /,
    ) -> None: ...
    def totals(self) -> dict[str, float]: ...
    def recent(self) -> dict[str, float]: ...
    def per_label(self) -> NDArray[numpy.int64]: ...
    def recent_per_label(self) -> NDArray[numpy.int64]: ...
    def macro_f1(self) -> float: ...
    def recent_macro_f1(self) -> float: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

class Reading:
    def pairs(self) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

class Notes:
    def __len__(self) -> int: ...

class TextFeatures:
    def __init__(
        self,
        *,
        least_words: int,
        most_words: int,
        least_chars: int,
        most_chars: int,
        lowercase: bool,
        weighting: str,
        buckets: int,
        unit: bool,
        backoff: bool,
        name_bytes: int,
    ) -> None: ...
    def look(
        self, item: tuple[list[tuple[str, str]], list[tuple[str, float]]], match: bool = False
    ) -> Reading: ...
    def learn(self, reading: Reading) -> None: ...
    def read_many(
        self,
        items: list[tuple[list[tuple[str, str]], list[tuple[str, float]]]],
        learn: bool,
        match: bool = False,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def read_rows(self, items: list[Any], match: bool) -> FeatureRows: ...
    @property
    def can_read_ahead(self) -> bool: ...
    def read_ahead(
        self, items: list[tuple[list[tuple[str, str]], list[tuple[str, float]]]]
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], Notes]: ...
    def learn_notes(self, notes: Notes, start: int, stop: int) -> None: ...
    def describe(
        self, item: tuple[list[tuple[str, str]], list[tuple[str, float]]], match: bool = False
    ) -> list[str]: ...
    def matches(
        self, item: tuple[list[tuple[str, str]], list[tuple[str, float]]]
    ) -> list[tuple[str, str | None]]: ...
    @property
    def fields(self) -> list[tuple[str, int, int]]: ...
    def name(self, feature: int) -> str: ...
    def forget_names(self, ids: Sequence[int]) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

def number_names(
    known: dict[str, int],
    x: dict[Any, Any],
    new_names: list[str] | None,
    numbers: NDArray[numpy.int32],
    values: NDArray[numpy.float64],
    /,
) -> int: ...

class SuggestionMaker:
    def __init__(self, type: type, list: type) -> None: ...
    def make(
        self, places: PlaceArrays, names: list[Any], required: float, own: dict[Any, float]
    ) -> tuple[list[Any], list[bool]]: ...
