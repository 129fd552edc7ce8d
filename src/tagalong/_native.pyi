"""Types of the native core."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

class InputError(ValueError): ...

def vector_width() -> str: ...

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
    def entropic_instead(self) -> str: ...
    @property
    def bound(self) -> str: ...
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

class Matrix:
    @staticmethod
    def dense(array: npt.NDArray[Any]) -> Matrix: ...
    @staticmethod
    def csr(
        data: npt.NDArray[Any],
        indices: npt.NDArray[Any],
        indptr: npt.NDArray[Any],
        columns: int,
    ) -> Matrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...

class LabelRows:
    def __init__(self, indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]) -> None: ...
    @property
    def indptr(self) -> npt.NDArray[np.int64]: ...
    @property
    def indices(self) -> npt.NDArray[np.int32]: ...

class LabelRanker32:
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
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def add_labels(self, count: int) -> None: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: npt.NDArray[np.float64] | None = None,
        scores: npt.NDArray[Any] | None = None,
        cutoffs: npt.NDArray[np.float64] | None = None,
    ) -> None: ...
    def learn_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        weight: float,
    ) -> None: ...
    def predict_then_learn_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        weight: float,
    ) -> tuple[npt.NDArray[Any], float]: ...
    def explain_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any], label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]: ...
    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]: ...
    def restart_certificate(self) -> None: ...
    def rank_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any], k: int
    ) -> list[int]: ...
    def score_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], float]: ...
    def score(self, x: Matrix) -> tuple[npt.NDArray[Any], float]: ...
    def rank(self, x: Matrix, k: int) -> npt.NDArray[np.int32]: ...
    def certificate(self) -> dict[str, Any]: ...
    def recompute_dual(self) -> float: ...
    def weights(self) -> dict[str, npt.NDArray[Any]]: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

class LabelRanker64(LabelRanker32): ...

class BlockLearner32:
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        n_features: int,
    ) -> None: ...
    @property
    def bytes(self) -> int: ...
    def check(self, x: Matrix) -> None: ...
    def learn(
        self,
        x: Matrix,
        signs: npt.NDArray[np.float64],
        sizes: npt.NDArray[np.int64],
        sets: npt.NDArray[np.int32] | None,
        weights: npt.NDArray[np.float64] | None,
    ) -> npt.NDArray[np.float64]: ...
    def score(self, x: Matrix) -> npt.NDArray[np.float64]: ...
    def weights(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any], float]: ...
    def certificate(self) -> dict[str, Any]: ...
    def recompute_dual(self) -> float: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

class BlockLearner64(BlockLearner32): ...

class LabelBlock32:
    def __init__(self, rows: Matrix) -> None: ...
    @property
    def bytes(self) -> int: ...

class LabelBlock64(LabelBlock32): ...

class SharedRanker32(LabelRanker32):
    def __init__(
        self,
        *,
        update: str,
        geometry: str,
        C: float,
        margin: float,
        n_features: int,
        often: float = ...,
        seldom: float = ...,
        common: float = ...,
        rare: float = ...,
    ) -> None: ...
    def finished_row(
        self, x: Matrix, i: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
    def finished_pairs(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
    def learn_block(
        self, phi: LabelBlock32, relevant: list[int], unknown: list[int], weight: float
    ) -> tuple[npt.NDArray[Any], float]: ...
    def score_block(self, phi: LabelBlock32) -> tuple[npt.NDArray[Any], float]: ...
    def rank_block(self, phi: LabelBlock32, k: int) -> list[int]: ...
    def explain_block(
        self, phi: LabelBlock32, label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]: ...

class SharedRanker64(SharedRanker32): ...

class PartialRanker32(LabelRanker32):
    def __init__(
        self,
        *,
        miss_weight: float,
        slot_cost: str | list[float],
        max_labels: int,
        ties: str,
        max_explore: int,
        loss: str,
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
    @staticmethod
    def bytes_a_label(features: float) -> float: ...
    def declare_features(self, count: int) -> None: ...
    def suggest(self, x: Matrix, most: int) -> tuple[npt.NDArray[Any], ...]: ...
    def suggest_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any], most: int
    ) -> tuple[npt.NDArray[Any], ...]: ...
    def play(
        self,
        x: Matrix,
        relevant: LabelRows,
        unknown: LabelRows,
        weights: npt.NDArray[np.float64] | None = None,
        most: int = 0,
    ) -> tuple[
        LabelRows, npt.NDArray[np.uint8], npt.NDArray[np.float64], npt.NDArray[np.float64]
    ]: ...
    def last_round(self) -> tuple[list[int], float, float]: ...
    def feedback(self, x: Matrix, shown: LabelRows, accepted: LabelRows) -> None: ...
    def feedback_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        shown: list[int],
        accepted: list[int],
    ) -> None: ...
    def predict(self, x: Matrix) -> npt.NDArray[np.int64]: ...
    def matrix(self, label: int, inverse: bool) -> npt.NDArray[np.float64]: ...

class PartialRanker64(PartialRanker32): ...

class Game:
    def __init__(
        self,
        *,
        miss_weight: float,
        slot_cost: str | list[float],
        ties: str,
        max_explore: int,
    ) -> None: ...
    def choose(self, probabilities: list[float], most: int) -> list[int]: ...
    def expected(self, shown: list[int], probabilities: list[float]) -> float: ...
    def losses(
        self,
        shown: LabelRows,
        relevant: LabelRows,
        unknown: LabelRows,
        slots: npt.NDArray[np.int64],
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...

class PredtronProblem:
    def __init__(
        self,
        *,
        kind: str,
        costs: list[float] = ...,
        reject: list[float] = ...,
        set_loss: str = ...,
        least_loss: float = ...,
        reciprocal: bool = ...,
        exponent: float = ...,
        precision: bool = ...,
        depth: int = ...,
        ties_by_score: bool = ...,
    ) -> None: ...

class Predtron32(LabelRanker32):
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
    def raw_scores(self, x: Matrix, row: int, predicting: bool) -> npt.NDArray[np.float64]: ...
    def finished(
        self, x: Matrix, row: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
    def norm(self, x: Matrix, row: int) -> float: ...
    def count(self, norm: float, loss: float, weight: float, size: int) -> float: ...
    def observe(
        self, predicted: npt.NDArray[Any], relevant: list[int], unknown: list[int]
    ) -> None: ...
    def move(self, x: Matrix, row: int, direction: npt.NDArray[np.float64]) -> None: ...
    def learn_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: npt.NDArray[np.float64],
        norm: float,
        weight: float,
    ) -> tuple[float, npt.NDArray[Any]]: ...
    def query_scores(
        self, x: Matrix, begin: int, end: int, predicting: bool
    ) -> npt.NDArray[np.float64]: ...
    def settle_query(
        self,
        x: Matrix,
        begin: int,
        end: int,
        grades: npt.NDArray[np.float64],
        loss: float,
        direction: npt.NDArray[np.float64],
        norm: float,
        weight: float,
    ) -> None: ...

class Predtron64(Predtron32): ...

def merge_ranking(
    scores: npt.NDArray[np.float64],
    relevant: npt.NDArray[np.int32],
    f: npt.NDArray[np.float64],
    discount: npt.NDArray[np.float64],
) -> npt.NDArray[np.int32]: ...

class Measures:
    def __init__(self, k: int, window: int) -> None: ...
    @property
    def k(self) -> int: ...
    @property
    def window(self) -> int: ...
    def observe(
        self,
        scores: npt.NDArray[Any],
        relevant: LabelRows,
        unknown: LabelRows,
        cutoffs: npt.NDArray[np.float64],
    ) -> None: ...
    def observe_one(
        self,
        scores: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        cutoff: float,
    ) -> None: ...
    def totals(self) -> dict[str, float]: ...
    def recent(self) -> dict[str, float]: ...
    def per_label(self) -> npt.NDArray[np.int64]: ...
    def recent_per_label(self) -> npt.NDArray[np.int64]: ...
    def macro_f1(self) -> float: ...
    def recent_macro_f1(self) -> float: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

class Reading:
    def pairs(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...

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
        name_bytes: int,
    ) -> None: ...
    def look(self, item: tuple[list[tuple[str, str]], list[tuple[str, float]]]) -> Reading: ...
    def learn(self, reading: Reading) -> None: ...
    def read_many(
        self, items: list[tuple[list[tuple[str, str]], list[tuple[str, float]]]], learn: bool
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
    def describe(
        self, item: tuple[list[tuple[str, str]], list[tuple[str, float]]]
    ) -> list[str]: ...
    def name(self, feature: int) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def state(self) -> dict[str, dict[str, Any]]: ...
    def restore(self, state: dict[str, dict[str, Any]]) -> None: ...

def m3l_check(x: Matrix) -> None: ...

class M3LProblem:
    def __init__(
        self,
        *,
        relevant: LabelRows,
        unknown: LabelRows,
        margin_yes: npt.NDArray[np.float64],
        margin_no: npt.NDArray[np.float64],
        bound_yes: npt.NDArray[np.float64],
        bound_no: npt.NDArray[np.float64],
        row_weight: npt.NDArray[np.float64] | None = None,
        prior: npt.NDArray[np.float64] | None = None,
        tied: bool = False,
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def prior(self) -> npt.NDArray[np.float64] | None: ...

class M3LSettings:
    def __init__(
        self, *, tolerance: float, most_passes: int, threads: int, seed: int, cache_bytes: int
    ) -> None: ...
    @property
    def tolerance(self) -> float: ...

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
    def dual(self) -> npt.NDArray[Any]: ...
    @property
    def weights(self) -> npt.NDArray[Any]: ...
    @property
    def place(self) -> npt.NDArray[np.int32]: ...
    @property
    def features(self) -> npt.NDArray[np.int32]: ...

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
    def dual(self) -> npt.NDArray[Any]: ...
    @property
    def cached_rows(self) -> int: ...

def m3l_linear32(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    start: npt.NDArray[np.float32] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LLinearSolution: ...
def m3l_linear64(
    x: Matrix,
    problem: M3LProblem,
    settings: M3LSettings,
    start: npt.NDArray[np.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LLinearSolution: ...
def m3l_kernel(
    diagonal: npt.NDArray[np.float64],
    problem: M3LProblem,
    settings: M3LSettings,
    between: Callable[
        [npt.NDArray[np.int32], npt.NDArray[np.int32] | None], npt.NDArray[np.float32]
    ],
    start: npt.NDArray[np.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LKernelSolution: ...
def m3l_rbf(
    x: Matrix,
    gamma: float,
    problem: M3LProblem,
    settings: M3LSettings,
    start: npt.NDArray[np.float64] | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> M3LKernelSolution: ...
