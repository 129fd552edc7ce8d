"""Warn of data sets whose labels were mixed up, when they are loaded.

The reason is RCV1: until 2026-11-17 the label columns of its files were shifted from row 3,000 on,
and the first labels lay among the features. Learners adapted, and no figure looked wrong.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

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

    Without a border, faults that begin at some row are found: shifted label columns, and features
    that are copies of labels. With one, the two parts are compared, which finds a test set with
    other columns, and each part is searched alone, which finds faults inside it. See
    `tagalong.evaluate.find_data_faults` for what can escape.

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


def warn_of_grades(name: str, X: Any, grades: Any, *, border: int | None = None) -> None:
    """Warn if a feature of documents is a copy of their grades, or of "at least grade g".

    Moved labels need ten labels or more, so nothing can be said about the grades themselves.
    """
    reached = np.unique(grades)[1:]
    labels = [f"at least grade {grade:g}" for grade in reached]
    Y = np.asarray(grades)[:, np.newaxis] >= reached
    # In a sparse matrix, a feature occurs where it is not 0: where grades are, if it is a copy.
    warn_of_faults(name, sp.csr_array(X), Y, labels, border=border)
