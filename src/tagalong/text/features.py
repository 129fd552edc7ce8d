"""Texts and named values as sparse features."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.examples import SparseRows
from tagalong.text.rows import Row, as_row

__all__ = ["TextFeatures"]

WEIGHTINGS = ("binary", "count", "log", "tfidf")
LONGEST_GRAM = 16
MOST_BUCKETS = 2**31 - 1


class TextFeatures(TransformerMixin, BaseEstimator):
    r"""Turns items (texts, fields of text, named values) into sparse features.

    A word is a run of letters, digits and marks, in lower case, whatever the script. Scripts that
    put no spaces between words (Chinese, Japanese, Thai, ...) give character n-grams of 1 to 3.
    The words of a named field ("subject") are features of their own ("subject:invoice"); a
    value is a feature by its name, a category one by its name and value ("priority=high").

    Parameters
    ----------
    words : (int, int), default (1, 1)
        The shortest and longest run of words that is a feature. Pairs, (1, 2), rarely rank better
        and take ten times the memory.
    chars : (int, int), optional
        The shortest and longest character n-grams of each word, for misspellings and inflected
        languages; none by default.
    weighting : str, default "log"
        ``"binary"``: 1 for each word that occurs; ``"count"``: how often; ``"log"``: 1 + log of
        that; ``"tfidf"``: the same times :math:`1 + \log\frac{1 + n}{1 + n_w}`, where `n` items
        have been learnt so far, :math:`n_w` of them with the word. Named values stay as given.
    buckets : int or None, default 2**20
        Features are hashed into this many numbers, so that memory is bounded. None numbers words
        as they appear, without collisions, and grows.
    lowercase : bool, default True
        Whether case does not matter.
    unit : bool, default False
        Scale each item to Euclidean length 1. Learners usually do that themselves.
    names : bool, default True
        Keep the names of learnt features, so that models can be shown. Nothing that is computed
        depends on them; explanations of an item take the item's own words.
    name_memory : float, default 32
        How many megabytes names may take; words that come later stay nameless.

    Attributes
    ----------
    n_features_out_ : int
        How many features there can be so far.

    Notes
    -----
    ``read`` looks at one item, and with ``learn=True`` also notes its words. ``fit`` and
    ``transform`` are scikit-learn's: a vocabulary or tf-idf must be fitted first, the others
    need not be. Words that are not in a fitted vocabulary are left out by ``transform``.

    Examples
    --------
    >>> from tagalong.features import TextFeatures
    >>> features = TextFeatures(words=(1, 2))
    >>> features.describe("Your invoice is due")[:3]
    ['due', 'invoice', 'your']
    >>> features.transform(["Your invoice is due", "Mother's birthday"]).shape
    (2, 1048576)
    """

    def __init__(
        self,
        words: tuple[int, int] = (1, 1),
        chars: tuple[int, int] | None = None,
        weighting: str = "log",
        buckets: int | None = 2**20,
        lowercase: bool = True,
        unit: bool = False,
        names: bool = True,
        name_memory: float = 32,
    ):
        self.words = words
        self.chars = chars
        self.weighting = weighting
        self.buckets = buckets
        self.lowercase = lowercase
        self.unit = unit
        self.names = names
        self.name_memory = name_memory

    def read(
        self, item: Any, learn: bool = False
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return the features of one item: their numbers, ascending, and their values.

        Parameters
        ----------
        item : Item, str or mapping
            What to look at.
        learn : bool
            Whether to note its words, after the look. The numbers and values are the same.
        """
        reading = self.look(item)
        if learn:
            self.learn(reading)
        return reading.pairs()

    def look(self, item: Any) -> core.Reading:
        """Return the features of one item as an object that `learn` takes.

        Parameters
        ----------
        item : Item, str or mapping
            What to look at.
        """
        return self._started().look(self._row(item))

    def learn(self, reading: core.Reading) -> None:
        """Note the words of an item.

        Parameters
        ----------
        reading : Reading
            What `look` returned, with nothing learnt since.
        """
        self._started().learn(reading)

    def read_texts(self, items: Sequence[Any], most: int | None = None) -> SparseRows | None:
        """Return the features of items that are nothing but texts, and note their words.

        The same as ``read`` with ``learn=True`` for one after the other. Values of texts are
        always such that every learner takes them; those of items with named values need not be.

        Parameters
        ----------
        items : sequence of items
            What to look at.
        most : int, optional
            How many features there may be at most.

        Returns
        -------
        SparseRows or None
            One row per item. None if some item has named values or is no item,
            or if there could be too many features; nothing has been noted then.
        """
        if most is not None and (self.buckets is None or self.buckets > most):
            return None
        try:
            rows = self._rows(items)
        except ValueError:
            return None
        if any(values for _, values in rows):
            return None
        return SparseRows(*self._started().read_many(rows, True))

    def describe(self, item: Any) -> list[str]:
        """Return the names of an item's features, in the order of `read`.

        Different words that share a bucket stand together, as "invoice | flight".

        Parameters
        ----------
        item : Item, str or mapping
            What to look at.
        """
        return self._started().describe(self._row(item))

    def name(self, feature: int) -> str:
        """Return the name of a learnt feature, or "" if it was not kept.

        Parameters
        ----------
        feature : int
            Its number.
        """
        return self._started().name(parameters.integer(feature, "feature", 0, MOST_BUCKETS))

    def forget_names(self, features: npt.NDArray[Any]) -> None:
        """Forget the names of some features; they are noted again when they occur again.

        Parameters
        ----------
        features : array of int
            Their numbers.
        """
        self._started().forget_names(features.tolist())

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Forget everything and note the words of all items.

        Parameters
        ----------
        X : iterable of items
            Texts, mappings or Items.
        y : ignored
            There for pipelines.
        """
        rows = self._rows(X)
        self._native = self._make()
        self._native.read_many(rows, True)
        return self

    def partial_fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Note the words of some more items.

        Parameters
        ----------
        X : iterable of items
            Texts, mappings or Items.
        y : ignored
            There for pipelines.
        """
        rows = self._rows(X)
        self._started().read_many(rows, True)
        return self

    def transform(self, X: Iterable[Any]) -> sp.csr_array:
        """Return the features of all items, (rows, features).

        Parameters
        ----------
        X : iterable of items
            Texts, mappings or Items.
        """
        if "_native" not in self.__dict__ and (self.buckets is None or self.weighting == "tfidf"):
            raise NotFittedError("a vocabulary and tf-idf weights must be fitted first")
        native = self._started()
        columns = native.size
        indptr, indices, values = native.read_many(self._rows(X), False)
        matrix = sp.csr_array(
            (values, indices, indptr), shape=(len(indptr) - 1, max(columns, _columns(indices)))
        )
        return matrix[:, :columns] if matrix.shape[1] > columns else matrix

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of all features; those not kept are called by their numbers.

        Parameters
        ----------
        input_features : ignored
            There for pipelines.
        """
        native = self._started()
        named = (native.name(i) or f"feature {i}" for i in range(native.size))
        return np.array(list(named), dtype=object)

    @property
    def n_features_out_(self) -> int:
        """How many features there can be so far."""
        return self._started().size

    @property
    def size_in_bytes(self) -> int:
        """What the names, the vocabulary and the counts take."""
        return self._started().bytes

    def _row(self, item: Any) -> Row:
        return as_row(item, self.lowercase)

    def _rows(self, X: Any) -> list[Row]:
        if isinstance(X, str) or not isinstance(X, Iterable):
            raise ValueError(f"X must be a collection of items, got {X!r}")
        return [self._row(item) for item in X]

    def _started(self) -> core.TextFeatures:
        if "_native" not in self.__dict__:
            self._native = self._make()
        return self._native

    def _make(self) -> core.TextFeatures:
        words = _range(self.words, "words")
        chars = (0, 0) if self.chars is None else _range(self.chars, "chars")
        buckets = 0
        if self.buckets is not None:
            buckets = parameters.integer(self.buckets, "buckets", 1, MOST_BUCKETS)
        name_memory = parameters.positive(self.name_memory, "name_memory", 4000)
        return core.TextFeatures(
            least_words=words[0],
            most_words=words[1],
            least_chars=chars[0],
            most_chars=chars[1],
            lowercase=parameters.flag(self.lowercase, "lowercase"),
            weighting=parameters.choice(self.weighting, "weighting", WEIGHTINGS),
            buckets=buckets,
            unit=parameters.flag(self.unit, "unit"),
            name_bytes=int(name_memory * 1e6) if self.names else 0,
        )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the header and the arrays of a file."""
        state = self._started().state()
        params = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.get_params().items()
        }
        return {"params": params, "numbers": state["numbers"]}, state["arrays"]

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Return the model that ``to_parts`` took apart.

        Parameters
        ----------
        header : dict
            What can be said in JSON.
        arrays : dict
            Arrays by name.
        """
        params: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in header["params"].items()
        }
        self = cls(**params)
        native = self._make()
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        self._native = native
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_native" in state:
            state = {**state, "_native": self._native.state()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_native" in state:
            native = self._make()
            native.restore(state["_native"])
            self._native = native

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.buckets is None or self.weighting == "tfidf"
        return tags


def _range(value: Any, name: str) -> tuple[int, int]:
    try:
        least, most = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shortest, longest), got {value!r}") from None
    least = parameters.integer(least, f"{name}[0]", 1, LONGEST_GRAM)
    return least, parameters.integer(most, f"{name}[1]", least, LONGEST_GRAM)


def _columns(indices: npt.NDArray[np.int32]) -> int:
    return int(indices.max(initial=-1)) + 1
