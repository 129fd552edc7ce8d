"""The random share of sure items that a person is asked about nevertheless.

What a tagger files by itself is no evidence that it was right. Therefore a share of the sure items
is left to a person, and the answers to these stand for all others.
"""

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

from tagalong import parameters
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item
from tagalong.text.rows import AnyItem

__all__ = ["Audit"]

EARLY_SHARE = 0.1
ENOUGH_ANSWERS = 200
LEAST_SHARE = 0.001
MOST_ITEMS = 10.0


class Audit:
    """Decides which items are asked, by a hash, so that suggesting stays repeatable.

    Parameters
    ----------
    share : float
        Share of the sure items to ask about; 0 for none. Until there are 200 answers to such
        items, it is at least a tenth.
    seed : int
        Seed of the hash.
    answers : int
        Number of answers to audited items so far.
    """

    def __init__(self, share: float, seed: int = 0, answers: int = 0):
        self.share = parameters.real(share, "audit")
        if self.share != 0 and not LEAST_SHARE <= self.share <= 1:
            raise ValueError(f"audit must be 0 or from {LEAST_SHARE:g} to 1, got {share!r}")
        self.seed = parameters.integer(seed, "audit seed", 0)
        self.answers = parameters.integer(answers, "audit answers", 0)
        self._started_hash = hashlib.blake2b(f"{self.seed}\0".encode(), digest_size=8)

    @property
    def current_share(self) -> float:
        """The share of the sure items that are asked at present."""
        if self.share == 0 or self.answers >= ENOUGH_ANSWERS:
            return self.share
        return max(self.share, EARLY_SHARE)

    def asks(self, item: AnyItem) -> bool:
        """Return whether to ask about an item even if it is sure.

        Parameters
        ----------
        item : Item, FeatureItem, str or mapping
            The item; its id decides, or its content if it has none.
        """
        started = self._started_hash.copy()
        started.update(_key(item).encode(errors="surrogatepass"))
        return int.from_bytes(started.digest()) < self.current_share * 2.0**64

    @property
    def items_per_answer(self) -> float:
        """The number of sure items that the next answer to an audited item stands for.

        At most ten, which is cautious: a few answers of large weight would decide by chance.
        """
        share = self.current_share
        return min(1 / share, MOST_ITEMS) if share else 1.0

    @property
    def weight_of_mistakes(self) -> float:
        """The weight of the correction of a filed item in the precision of its label.

        Of the items that were filed rightly only the audited ones are counted, so a correction
        counts like that share; fully if there is no audit.
        """
        return self.current_share or 1.0

    def count_answer(self) -> None:
        """Count an answer to an audited item."""
        self.answers += 1

    def __reduce__(self) -> tuple[type["Audit"], tuple[float, int, int]]:
        return type(self), (self.share, self.seed, self.answers)  # a hash cannot be pickled

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the constructor as JSON values."""
        return {"share": self.share, "seed": self.seed, "answers": self.answers}


def _key(item: AnyItem) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Item):
        if item.id:
            return f"id\0{item.id}"
        if isinstance(item.text, str) and not item.features:  # as the encoder writes it, sooner
            return f'{{"features": {{}}, "text": {encode_basestring_ascii(item.text)}}}'
        return _key({"text": item.text, "features": dict(item.features)})
    if isinstance(item, FeatureItem):
        if item.id:
            return f"id\0{item.id}"
        return _key({"numbers": item.numbers.tolist(), "values": item.values.tolist()})
    return _ENCODER.encode(item)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return str(value)


_ENCODER = json.JSONEncoder(sort_keys=True, default=_plain)
