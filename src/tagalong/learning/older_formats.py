"""Conversion of the contents of older model files to the present file format.

Only this module knows older formats. Learners read the present one, and refuse everything else.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["upgraded"]

Contents = tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]


def upgraded(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], written: int) -> Contents:
    """Return the contents of a file as the present version would have written them.

    Parameters
    ----------
    header, arrays : dict
        The contents of the file.
    written : int
        The format of the file.
    """
    if written < 2:
        header, arrays = _from_first(header, arrays)
    if written < 3:
        header, arrays = _from_second(header, arrays)
    if written < 4:
        header = _from_third(header)
    if written < 5:
        header = _from_fourth(header)
    if written < 6:
        header = _from_fifth(header)
    return header, arrays


def _from_first(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Contents:
    """Format 1 had label rankers only, whose certificates could not be restarted.

    The cut-off was stored as value, low end, width, unit, rounds and counts, without the count of
    scores below the range.
    """
    value, low, width, unit, rounds, *counts = arrays["cutoff"].tolist()
    cutoff = np.array([value, rounds, low, width, unit, *counts, 0.0])
    numbers = {"earlier": 0, **header["numbers"]}
    return {**header, "restarted": "", "numbers": numbers}, {**arrays, "cutoff": cutoff}


def _from_second(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Contents:
    """Format 2 had no confidence, which starts anew, and taggers had no audit."""
    anew: npt.NDArray[Any] = np.zeros(0)
    if header["kind"] != "Tagger":
        return header, {"confidence": anew, **arrays}
    features = header["features"]
    return {
        **header,
        "features": {**features, "params": {"backoff": False, **features["params"]}},
        "audit": {"share": 0.02},
        "min_precision": [],
    }, {"learner/confidence": anew, **arrays}


def _from_third(header: dict[str, Any]) -> dict[str, Any]:
    """Learners of format 3 had no limit that a solver could reach."""
    if "learner" in header:
        return {**header, "learner": _from_third(header["learner"])}
    if "numbers" not in header:
        return header
    numbers = header["numbers"]
    largest = abs(numbers.get("complexity", 0.0))
    return {**header, "numbers": {"unsolved": 0, "largest_complexity": largest, **numbers}}


def _from_fourth(header: dict[str, Any]) -> dict[str, Any]:
    """Every LabelRanker of format 4 was one learner, without relevances of features.

    Some of them have no settings for one label per item and for probabilities.
    """
    if "learner" in header:
        return {**header, "learner": _from_fourth(header["learner"])}
    if header["kind"] != "LabelRanker":
        return header
    one_learner: dict[str, Any] = {"relevance": "none", "race": []}
    older = {"one_label": "auto", "probability": True}
    return {
        **header,
        "params": {**header["params"], "relevance": "auto", "race": None},
        "settings": {**older, **header["settings"], **one_learner},
    }


def _from_fifth(header: dict[str, Any]) -> dict[str, Any]:
    """Every LabelRanker of format 5 moved all labels in each round."""
    if "learner" in header:
        return {**header, "learner": _from_fifth(header["learner"])}
    if header["kind"] != "LabelRanker":
        return header
    return {
        **header,
        "params": {**header["params"], "working_set": False},
        "settings": {**header["settings"], "working_set": False},
    }
