"""Sparse features of texts and named values."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.examples import FeatureRows, SparseRows
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.text.rows import AnyItem, NumberedError, Row, TextItem, as_row
from tagalong.text.rows_ahead import RowsAhead, RowsAheadPart, joined_rows

__all__ = ["TextFeatures"]

WEIGHTINGS = ("binary", "count", "log", "tfidf")
MAX_NGRAM_LENGTH = 16
MAX_BUCKETS = 2**31 - 1


class TextFeatures(TransformerMixin, BaseEstimator):
    r"""Turns items (texts, fields of text, named values) into sparse features.

    A word is a run of letters, digits and marks of any script, in lower case. Scripts without
    spaces between words (Chinese, Japanese, Thai, ...) give character n-grams of length 1 to 3.
    The words of a named field are separate features ("subject:invoice"). With `backoff` they are
    also features without the field ("invoice"), which all fields and plain texts share. The feature
    of a number is its name; the feature of a category is its name and value ("priority=high").

    Parameters
    ----------
    words : (int, int), default (1, 1)
        The minimum and maximum length of word n-grams. Pairs of words, (1, 2), rarely improve
        the ranking and take ten times the memory.
    chars : (int, int), optional
        The minimum and maximum length of character n-grams within a word, useful for
        misspellings and inflected languages. By default there are no character n-grams.
    weighting : str, default "log"
        The value of a word that occurs c times in the item. ``"binary"``: 1; ``"count"``: c;
        ``"log"``: 1 + log c; ``"tfidf"``: (1 + log c) times
        :math:`1 + \log\frac{1 + n}{1 + n_w}`, where `n` is the number of items learnt so far and
        :math:`n_w` the number of those with the word. Named values are not changed.
    buckets : int or None, default 2**20
        The number of hash buckets, which bounds the memory. None means a growing vocabulary
        without collisions.
    lowercase : bool, default True
        Whether to ignore case.
    unit : bool, default False
        Whether to scale each item to Euclidean length 1. Most learners do that themselves.
    names : bool, default True
        Whether to store the names of learnt features, to show what a model has learnt. No
        computation depends on them. Explanations use the words of the explained item.
    name_memory : float, default 32
        Maximum size of the stored names in megabytes. Later words get no name.
    backoff : bool, default True
        Whether words of named fields are also features without the field, so that a word learnt in
        one field is known in all. The field with the most words in an item has features without
        the field only. Items with one text and no field name have the same features either way.

    Attributes
    ----------
    fields : tuple of str
        The fields with learnt words, most frequent first; "" is text without a field.
    n_features_out_ : int
        Number of columns of ``transform``: the buckets, or the size of the vocabulary.

    Notes
    -----
    ``read`` returns the features of one item, and with ``learn=True`` also learns its words.
    Items to be predicted are read with ``match=True``: a text whose field was never learnt is read
    as the learnt field that it most likely is (see `matches`). Other items are not changed by it.
    The names of the first 256 fields are stored even with ``names=False``.
    ``hashed`` turns an item into a `FeatureItem`, which has the numbered features only. ``read``,
    ``look``, ``read_rows`` and ``describe`` accept it in place of the item; there is nothing to
    learn from it, neither names nor fields.
    ``fit`` and ``transform`` work as in scikit-learn: a vocabulary or tf-idf must be
    fitted first, other settings need no fit. ``transform`` ignores words that are not in the
    fitted vocabulary.

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
        backoff: bool = True,
    ):
        self.words = words
        self.chars = chars
        self.weighting = weighting
        self.buckets = buckets
        self.lowercase = lowercase
        self.unit = unit
        self.names = names
        self.name_memory = name_memory
        self.backoff = backoff

    def read(
        self, item: AnyItem, learn: bool = False, match: bool = False
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return the features of one item: their numbers in ascending order, and their values.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        learn : bool
            Whether to learn its words afterwards. This does not change the result.
        match : bool
            Whether to match fields that were never learnt, for items to be predicted. An item that
            needs it cannot be learnt.
        """
        reading = self.look(item, match)
        if learn:
            self.learn(reading)
        return reading.pairs()

    def look(self, item: AnyItem, match: bool = False) -> core.Reading | FeatureItem:
        """Return the features of one item, in the form that `learn` takes.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        match : bool
            Whether to match fields that were never learnt, for items to be predicted.
        """
        if isinstance(item, FeatureItem):
            return self._checked(item)
        return self._native_features().look(self._row(item), match)

    def learn(self, reading: core.Reading | FeatureItem) -> None:
        """Learn the words of an item.

        Parameters
        ----------
        reading : Reading or FeatureItem
            The result of `look`, with nothing learnt since then. A FeatureItem has no words.
        """
        if not isinstance(reading, FeatureItem):
            self._native_features().learn(reading)

    def hashed(self, item: AnyItem, match: bool = False) -> FeatureItem:
        """Return an item as numbered features, without its words.

        The features are those of `read`. The id, the labels and the weight of an `Item` are taken
        over, its date, place and query are not.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        match : bool
            Whether to match fields that were never learnt, for items to be predicted.

        Raises
        ------
        ValueError
            If features depend on the items learnt before (see `can_read_ahead`).
        """
        if isinstance(item, FeatureItem):
            return self._checked(item)
        self._check_numbers_are_fixed()
        numbers, values = self.read(item, match=match)
        if isinstance(item, Item):
            return FeatureItem(item.id, numbers, values, item.labels, item.weight)
        return FeatureItem(numbers=numbers, values=values)

    def feature_rows(self, items: Sequence[FeatureItem]) -> SparseRows:
        """Return the features of items that are numbered features, one row per item.

        Parameters
        ----------
        items : sequence of FeatureItem
            The items, at least one.
        """
        return SparseRows.of_pairs([self._checked(item).pairs() for item in items])

    def _checked(self, item: FeatureItem) -> FeatureItem:
        """Return an item of numbered features; ValueError if they cannot be of this object."""
        self._check_numbers_are_fixed()
        size = self._native_features().size
        if len(item.numbers) and item.numbers[-1] >= size:
            raise ValueError(
                f"the item has feature {item.numbers[-1]}, but TextFeatures(buckets={size}) has "
                f"features 0 to {size - 1}: it must be hashed with the same number of buckets"
            )
        return item

    def _check_numbers_are_fixed(self) -> None:
        if not self.can_read_ahead:
            raise ValueError(
                f"TextFeatures(buckets={self.buckets}, weighting={self.weighting!r}) has no hashed "
                "items, as features depend on the items learnt before: a number of buckets and a "
                "weighting other than 'tfidf' are needed"
            )

    def read_texts(self, items: Sequence[AnyItem], most: int | None = None) -> SparseRows | None:
        """Return the features of items that consist of text only, and learn their words.

        The result is the same as of ``read`` with ``learn=True`` for one item after the other.
        Every learner accepts the feature values of texts, but may refuse a named value.

        Parameters
        ----------
        items : sequence of items
            The items.
        most : int, optional
            Maximum number of features.

        Returns
        -------
        SparseRows or None
            One row per item. None, with nothing learnt, if an item has named values, is a
            FeatureItem or is invalid, or if there could be more than ``most`` features.
        """
        if not self.stays_below(most):
            return None
        rows = self._text_rows(items)
        return None if rows is None else SparseRows(*self._native_features().read_many(rows, True))

    def stays_below(self, most: int | None) -> bool:
        """Whether there will never be more features than a learner accepts.

        Parameters
        ----------
        most : int or None
            Maximum number of features; None if there is none.
        """
        return most is None or (self.buckets is not None and self.buckets <= most)

    @property
    def can_read_ahead(self) -> bool:
        """Whether the features of an item do not depend on the items that were learnt before.

        They do with a growing vocabulary (``buckets=None``) and with ``weighting="tfidf"``.
        """
        return self._native_features().can_read_ahead

    def read_ahead(self, items: Sequence[AnyItem]) -> RowsAhead | None:
        """Return the features of items that consist of text only, for `learn_ahead`.

        Nothing is learnt. Another thread may learn other items meanwhile.

        Parameters
        ----------
        items : sequence of items
            The items.

        Returns
        -------
        RowsAhead or None
            One row per item. None if an item has named values, is a FeatureItem or is invalid.
        """
        rows = self._text_rows(items)
        if rows is None:
            return None
        indptr, indices, values, notes = self._native_features().read_ahead(rows)
        return RowsAhead(SparseRows(indptr, indices, values), notes)

    def learn_ahead(self, parts: Sequence[RowsAheadPart]) -> SparseRows:
        """Learn the words of items that were read ahead, and return their features.

        The result is the same as of `read_texts`. No name may have been forgotten since the items
        were read.

        Parameters
        ----------
        parts : sequence of RowsAheadPart
            The items, at least one, in the order in which they are learnt.
        """
        for part in parts:
            part.learn(self._native_features())
        return joined_rows(parts)

    def _text_rows(self, items: Sequence[AnyItem]) -> list[Row] | None:
        """Return items without named values as rows; None if one is invalid or has values."""
        try:
            rows = self._rows(items)
        except ValueError:
            return None
        return None if any(values for _, values in rows) else rows

    def read_rows(self, items: Sequence[AnyItem], match: bool = False) -> FeatureRows:
        """Return the features of many items, one row per item. Nothing is learnt.

        The rows have the same bits as the results of ``read``.

        Parameters
        ----------
        items : sequence of items
            The items.
        match : bool
            Whether to match fields that were never learnt, for items to be predicted.
        """
        if type(items) is not list:
            _check_collection(items)
        lowercase = self.lowercase
        try:
            rows = [
                # The native core reads a string like the row of a plain text.
                item if type(item) is str and item.isascii() else as_row(item, lowercase)
                for item in items
            ]
        except NumberedError:  # no check beforehand, which would take time for every text
            return SparseRows.of_pairs([self.read(item, match=match) for item in items])
        return self._native_features().read_rows(rows, match)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields with learnt words, most frequent first; "" is text without a field.

        Empty if more than 256 fields were learnt, or if the model file is of a version that did not
        store them; then no field is matched.
        """
        counts = self._native_features().fields
        return tuple(name for name, items, words in sorted(counts, key=lambda f: (-f[1], -f[2])))

    def matches(self, item: AnyItem) -> dict[str, str | None]:
        """Return the fields of an item that were never learnt, with what they are read as.

        Without `backoff`, a text is read as the learnt field that knows most of its words. Hashed
        features do not tell which words are known, except with ``weighting="tfidf"``: then the
        match is the field with the most words learnt. With `backoff`, the match is "", text without
        a field. It is None if no word of the text is known.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        """
        if isinstance(item, FeatureItem):
            return {}
        return dict(self._native_features().matches(self._row(item)))

    def describe(self, item: AnyItem, match: bool = False) -> list[str]:
        """Return the names of an item's features, in the order of `read`.

        Different words in the same bucket are joined, as in "invoice | flight". The names of a
        FeatureItem are the learnt ones; features without a stored name are "feature 7" etc.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item.
        match : bool
            Whether to match fields that were never learnt, for items to be predicted.
        """
        native = self._native_features()
        if isinstance(item, FeatureItem):
            numbers = self._checked(item).numbers.tolist()
            return [native.name(number) or f"feature {number}" for number in numbers]
        return native.describe(self._row(item), match)

    def name(self, feature: int) -> str:
        """Return the name of a learnt feature, or "" if it is not stored.

        Parameters
        ----------
        feature : int
            Number of the feature.
        """
        return self._native_features().name(parameters.integer(feature, "feature", 0, MAX_BUCKETS))

    def forget_names(self, features: npt.NDArray[Any]) -> None:
        """Remove the stored names of some features; learning a word again stores its name again.

        Parameters
        ----------
        features : array of int
            Numbers of the features.
        """
        self._native_features().forget_names(features.tolist())

    def fit(self, X: Iterable[TextItem], y: object = None) -> Self:
        """Forget everything and learn the words of all items.

        Parameters
        ----------
        X : iterable of items
            Each a str, a mapping or an Item.
        y : ignored
            For pipelines of scikit-learn.
        """
        rows = self._rows(X)
        self._native = self._make()
        self._native.read_many(rows, True)
        return self

    def partial_fit(self, X: Iterable[TextItem], y: object = None) -> Self:
        """Learn the words of further items.

        Parameters
        ----------
        X : iterable of items
            Each a str, a mapping or an Item.
        y : ignored
            For pipelines of scikit-learn.
        """
        rows = self._rows(X)
        self._native_features().read_many(rows, True)
        return self

    def transform(self, X: Iterable[TextItem]) -> sp.csr_array:
        """Return the features of all items as a matrix (items, features).

        Parameters
        ----------
        X : iterable of items
            Each a str, a mapping or an Item.
        """
        if "_native" not in self.__dict__ and (self.buckets is None or self.weighting == "tfidf"):
            raise NotFittedError(
                "TextFeatures with buckets=None or weighting='tfidf' must be fitted first"
            )
        native = self._native_features()
        columns = native.size
        indptr, indices, values = native.read_many(self._rows(X), False)
        matrix = sp.csr_array(
            (values, indices, indptr), shape=(len(indptr) - 1, max(columns, _columns(indices)))
        )
        return matrix[:, :columns] if matrix.shape[1] > columns else matrix

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the names of all features; features without a stored name are "feature 7" etc.

        Parameters
        ----------
        input_features : ignored
            For pipelines of scikit-learn.
        """
        native = self._native_features()
        named = (native.name(i) or f"feature {i}" for i in range(native.size))
        return np.array(list(named), dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Number of columns of ``transform``: the buckets, or the size of the vocabulary."""
        return self._native_features().size

    @property
    def size_in_bytes(self) -> int:
        """Memory of the names, the vocabulary and the counts, in bytes."""
        return self._native_features().bytes

    def _row(self, item: AnyItem) -> Row:
        return as_row(item, self.lowercase)

    def _rows(self, X: object) -> list[Row]:
        return [self._row(item) for item in _check_collection(X)]

    def _native_features(self) -> core.TextFeatures:
        if "_native" not in self.__dict__:
            self._native = self._make()
        return self._native

    def _make(self) -> core.TextFeatures:
        words = _length_range(self.words, "words")
        chars = (0, 0) if self.chars is None else _length_range(self.chars, "chars")
        buckets = 0
        if self.buckets is not None:
            buckets = parameters.integer(self.buckets, "buckets", 1, MAX_BUCKETS)
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
            backoff=parameters.flag(self.backoff, "backoff"),
            name_bytes=int(name_memory * 1e6) if self.names else 0,
        )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the header and the arrays of a model file."""
        state = self._native_features().state()
        params = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.get_params().items()
        }
        if not self.backoff:  # as in files of versions before it
            del params["backoff"]
        return {"params": params, "numbers": state["numbers"]}, state["arrays"]

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Return the object that ``to_parts`` describes.

        Parameters
        ----------
        header : dict
            Values for JSON.
        arrays : dict
            Arrays by name.
        """
        params: dict[str, Any] = {"backoff": False}
        for name, value in header["params"].items():
            params[name] = tuple(value) if isinstance(value, list) else value
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


def _check_collection(X: object) -> Iterable[Any]:
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise ValueError(f"X must be a collection of items, got {X!r}")
    return X


def _length_range(value: Any, name: str) -> tuple[int, int]:
    try:
        least, most = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shortest, longest), got {value!r}") from None
    least = parameters.integer(least, f"{name}[0]", 1, MAX_NGRAM_LENGTH)
    return least, parameters.integer(most, f"{name}[1]", least, MAX_NGRAM_LENGTH)


def _columns(indices: npt.NDArray[np.int32]) -> int:
    return int(indices.max(initial=-1)) + 1
