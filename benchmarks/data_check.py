"""Warn of data sets whose labels were mixed up, when they are loaded.

The reason is RCV1: until 2026-11-17 the label columns of its files were shifted from row 3,000 on,
and the first labels lay among the features. Learners adapted, and no figure looked wrong.
"""

from __future__ import annotations

import warnings
from typing import Any

from tagalong.evaluate import LabelAmongFeatures, find_data_faults

KNOWN_COPIES = {("bibtex", "TAG_statphys23"), ("bibtex-test", "TAG_statphys23")}
"""Labels that equal a feature in data sets as published: all abstracts of one conference, and no
others, contain two words."""


class FaultyData(UserWarning):
    """The labels of a data set seem to be mixed up; the message says which."""


def warn_of_faults(
    name: str,
    X: Any,
    Y: Any,
    labels: list[str],
    *,
    border: int | None = None,
    from_texts: bool = False,
) -> None:
    """Warn of labels that moved or that are among the features.

    Parameters
    ----------
    name : str
        The name of the data set.
    X, Y : matrices
        Features and relevant labels, in the order of the file.
    labels : list of str
        The names of the labels.
    border : int, optional
        The first row of the test set, if X and Y have one below the training set.
    from_texts : bool, default False
        Whether features are the words of texts. Then a word may be in the texts of one label and in
        no others without any fault.
    """
    for fault in find_data_faults(X, Y, labels=labels, border=border):
        if isinstance(fault, LabelAmongFeatures) and (
            from_texts or (name, fault.label) in KNOWN_COPIES
        ):
            continue
        parts = "" if border is None else f" (the test set begins at row {border:,})"
        warnings.warn(f"the data set {name}{parts}: {fault}", FaultyData, stacklevel=3)
