"""Mixtures of features that have seen the parts of a stream: see `tagalong.mix`."""

from collections.abc import Sequence
from operator import ge
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.text.features import TextFeatures

__all__ = ["items_seen", "mix_features"]

MOST_FIELDS = 256  # that are stored
Saved = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]


def mix_features(
    parts: Sequence[TextFeatures], base: TextFeatures | None = None
) -> tuple[TextFeatures, list[list[int]]]:
    """Return features that know the words of all parts; ValueError if their settings differ.

    Parameters
    ----------
    parts : sequence of TextFeatures
        The features of the parts of a stream.
    base : TextFeatures, optional
        The features that all of them have started from. What they know counts once.

    Returns
    -------
    features : TextFeatures
        The mixture, with the settings of the first.
    numbers : list of lists of int
        For each part, and for `base` last, the numbers of its features in the mixture; empty lists
        if the numbers are the same, as they are for hashed features.
    """
    given = [*parts, *([] if base is None else [base])]
    saved = [features.to_parts() for features in given]
    params = saved[0][0]["params"]
    for number, (header, _) in enumerate(saved):
        for name in params.keys() - {"names", "name_memory"}:
            if header["params"].get(name) != params[name]:
                raise ValueError(
                    f"taggers must have equal features to be mixed, but {name} is {params[name]!r} "
                    f"in tagger 0 and {header['params'].get(name)!r} in tagger {number}"
                )
    if base is not None:
        for number, part in enumerate(saved[:-1]):
            _check_base(part, saved[-1], f"tagger {number}")
    order = saved if base is None else [saved[-1], *saved[:-1]]  # the base numbers its words first
    place: dict[int, int] = {}
    for _, arrays in order:
        for key in arrays["keys"].tolist():
            place.setdefault(key, len(place))
    numbers = [[place[key] for key in arrays["keys"].tolist()] for _, arrays in saved]
    shares = [1] * len(parts) + ([] if base is None else [1 - len(parts)])
    header = {
        "params": params,
        "numbers": {
            "items": sum(
                share * one["numbers"]["items"]
                for share, (one, _) in zip(shares, saved, strict=True)
            ),
            **_mixed_fields([one["numbers"] for one, _ in saved], shares),
        },
    }
    mixed_arrays: dict[str, npt.NDArray[Any]] = {
        "keys": np.array(list(place), dtype=np.uint64),
        "items_with": _item_counts([arrays for _, arrays in saved], numbers, shares),
        **_mixed_names([arrays for _, arrays in saved], numbers),
    }
    return TextFeatures.from_parts(header, mixed_arrays), numbers


def items_seen(features: TextFeatures) -> int:
    """Return the number of items that features have learnt.

    Parameters
    ----------
    features : TextFeatures
        The features.
    """
    header, _ = features.to_parts()
    return int(header["numbers"]["items"])


def _check_base(part: Saved, base: Saved, place: str) -> None:
    """Raise ValueError if a part knows less than the base that it should have started from."""
    (header, arrays), (header_before, before) = part, base
    numbers, numbers_before = header["numbers"], header_before["numbers"]
    fields = {name: counts for name, *counts in numbers.get("fields", ())}
    # Items with each feature: by key, or by bucket.
    count, count_before = (
        dict(zip(each["keys"].tolist() or range(len(found)), found, strict=False))
        for each in (arrays, before)
        for found in [each["items_with"].tolist()]
    )
    if not (
        numbers["items"] >= numbers_before["items"]
        and set(before["keys"].tolist()) <= set(arrays["keys"].tolist())
        and all(count.get(key, 0) >= least for key, least in count_before.items())
        and all(
            name in fields and all(map(ge, fields[name], least))
            for name, *least in numbers_before.get("fields", ())
            if "fields" in numbers
        )
    ):
        raise ValueError(
            f"{place} has not started from base: it has seen fewer items or words than base"
        )


def _mixed_fields(parts: Sequence[dict[str, Any]], shares: Sequence[int]) -> dict[str, Any]:
    """Return the learnt fields with their counts; nothing if some part does not know them."""
    if any("fields" not in part for part in parts):
        return {}
    items: dict[str, int] = {}
    words: dict[str, int] = {}
    for part, share in zip(parts, shares, strict=True):
        for name, of_items, of_words in part["fields"]:
            items[name] = items.get(name, 0) + share * of_items
            words[name] = words.get(name, 0) + share * of_words
    if len(items) > MOST_FIELDS:
        return {}
    return {"fields": [(name, items[name], words[name]) for name in items]}


def _item_counts(
    parts: Sequence[dict[str, npt.NDArray[Any]]],
    numbers: Sequence[Sequence[int]],
    shares: Sequence[int],
) -> npt.NDArray[np.uint32]:
    """Return the number of items with each feature; empty unless the weighting needs it."""
    counts = np.zeros(0, np.int64)
    for arrays, of_part, share in zip(parts, numbers, shares, strict=True):
        found = arrays["items_with"].astype(np.int64)
        at = np.array(of_part[: len(found)] or range(len(found)), dtype=np.int64)
        size = int(at.max(initial=-1)) + 1
        counts = np.pad(counts, (0, max(0, size - len(counts))))
        counts[at] += share * found
    return counts.astype(np.uint32)


def _mixed_names(
    parts: Sequence[dict[str, npt.NDArray[Any]]], numbers: Sequence[Sequence[int]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the stored name of each feature, the first one that was given to it."""
    names: dict[int, bytes] = {}
    for arrays, of_part in zip(parts, numbers, strict=True):
        text, begin = arrays["name_text"].tobytes(), 0
        for number, end in zip(
            arrays["name_ids"].tolist(), arrays["name_ends"].tolist(), strict=True
        ):
            names.setdefault(of_part[number] if of_part else number, text[begin:end])
            begin = end
    ends = np.cumsum([len(name) for name in names.values()], dtype=np.uint32)
    return {
        "name_text": np.frombuffer(b"".join(names.values()), dtype=np.uint8),
        "name_ends": ends,
        "name_ids": np.array(list(names), dtype=np.int32),
    }
