"""Base class of the label rankers: names of labels and features, label operations, persistence."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import initial_labels
from tagalong.learning.estimators import (
    columns_of,
    restart_reason,
    restore_columns,
    restored_on_error,
    texts,
)
from tagalong.learning.examples import FeatureNames
from tagalong.learning.input_types import Classes, TargetsLike
from tagalong.learning.labels import Labels, Targets, check_label, label_array, label_list
from tagalong.learning.protocols import Task
from tagalong.online.native import EditableRanker, NativeRanker
from tagalong.online.native_learner import NativeLearner, Settings

__all__ = ["LabelModel", "Settings"]


class LabelModel(NativeLearner):
    """A native learner of labels, with the names of its labels and features."""

    _labels: Labels
    _names: FeatureNames | None
    _single: bool  # whether targets have one label per row

    # Hooks for subclasses.

    def _check_batch(
        self, native: NativeRanker, matrix: core.Matrix, labels: Labels, targets: Targets
    ) -> None:
        """Raise ValueError if some row of a batch cannot be learnt. Changes nothing."""
        native.check(matrix)

    def _relabel(self, changes: Mapping[Hashable, Hashable | None]) -> None:
        """Prepare for a change of label names (None: forgotten); ValueError refuses the change."""

    def _initial_labels(self, Y: TargetsLike, classes: Classes, fitting: bool) -> Labels:
        """Return the labels of a learner that starts with these targets."""
        return initial_labels(Y, classes, fitting)

    def _growing_labels(self) -> Labels:
        """Return the labels of a learner that starts without an example."""
        return Labels(grows=True)

    # The contract: see `tagalong.learning.protocols`.

    @property
    def task(self) -> Task:
        """The kind of prediction: a ranking of all labels."""
        return "labels"

    @property
    def labels(self) -> Labels:
        """The known labels, by number and by name; empty before the start."""
        return self._labels if self.is_started else Labels()

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns."""
        self._require_start("classes_")
        # `_labels` may already have the new labels of an example that is not learnt yet.
        return label_array(self._labels.names[: self._native.labels])

    def start(self) -> None:
        """Start without an example, unless already started; labels may then appear at any time."""
        if not self.is_started:
            self._start_with(self._checked_settings(), self._growing_labels(), single=False)

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels without weights; they take part from the next round on.

        Parameters
        ----------
        labels : collection of labels
            The new labels: distinct, and none of them known already.
        """
        labels = label_list(labels, "labels")
        with restored_on_error(self):
            if not self.is_started:
                self._start_with(self._checked_settings(), Labels(), single=False)
            self._labels.extend(labels)
            self._native.add_labels(len(labels))
        return self

    def rename_label(self, old: Hashable, new: Hashable) -> None:
        """Give a label another name; nothing else changes.

        Parameters
        ----------
        old, new : label
            The current and the new name.
        """
        number = self._number(old)
        new = check_label(new, "new")
        if new == old:
            return
        if new in self._labels.number:
            raise ValueError(
                f"label {new!r} exists already; merge_labels combines two labels into one"
            )
        names = [new if i == number else name for i, name in enumerate(self._labels.names)]
        self._relabel({old: new})
        self._labels = Labels(names, self._labels.grows)

    def forget_labels(self, labels: Sequence[Hashable]) -> None:
        """Remove labels and their weights. The certificate restarts.

        Parameters
        ----------
        labels : collection of labels
            The labels to remove.
        """
        gone = {self._number(label) for label in labels}
        kept = [i for i in range(len(self._labels)) if i not in gone]
        named = ", ".join(repr(label) for label in labels)
        self._replace_labels(
            [[i] for i in kept],
            [self._labels.names[i] for i in kept],
            dict.fromkeys(labels),
            f"label {named} was forgotten",
        )

    def merge_labels(self, labels: Sequence[Hashable], into: Hashable) -> list[int]:
        """Merge labels into one, whose weights (or counts) are the sum of theirs.

        A sum keeps the evidence for each label at full strength: the merged label scores high
        whenever any of them did. The certificate restarts.

        Parameters
        ----------
        labels : collection of labels
            The labels to merge.
        into : label
            The name of the merged label. An existing label of this name is merged as well.

        Returns
        -------
        list of int
            The numbers of the merged labels before the merge.
        """
        into = check_label(into, "into")
        parts = {self._number(label) for label in labels}
        if into in self._labels.number:
            parts.add(self._labels.number[into])
        if len(parts) < 2:
            raise ValueError(f"labels must name at least two labels to merge, got {list(labels)!r}")
        first, *others = merged = sorted(parts)
        kept = [i for i in range(len(self._labels)) if i not in others]
        named = ", ".join(repr(self._labels.names[i]) for i in merged)
        self._replace_labels(
            [merged if i == first else [i] for i in kept],
            [into if i == first else self._labels.names[i] for i in kept],
            {self._labels.names[i]: into for i in merged},
            f"labels {named} were merged into {into!r}",
        )
        return merged

    # Files and copies.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        state = self._native.packed_state()
        return {**self._header(), "numbers": state["numbers"]}, state["arrays"]

    def _header(self) -> dict[str, Any]:
        """Return the header of the model file, without the numbers of the native learner."""
        return {
            "params": self.get_params(),
            "settings": self._settings,
            "labels": [model_files.encode_label(name) for name in self._labels.names],
            "grows": self._labels.grows,
            "single": self._single,
            **columns_of(self),
            "names": None if self._names is None else list(self._names.number),
            "restarted": self._restart_reason,
        }

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        self = cls(**header["params"])
        names = list(map(model_files.decode_label, header["labels"]))
        self._labels = Labels(names, parameters.flag(header["grows"], "grows"))
        if len(names) != header["numbers"]["labels"]:
            raise ValueError(
                f"it has {len(names)} labels, but weights of {header['numbers']['labels']}"
            )
        self._single = parameters.flag(header["single"], "single")
        self._restart_reason = restart_reason(header)
        restore_columns(self, header)
        self._names = self._names_in(header)
        self._restore_native(header, arrays)
        return self

    def _names_in(self, header: Mapping[str, Any]) -> FeatureNames | None:
        """Return the names of features in a file; ValueError if they contradict its columns."""
        if header["names"] is None:
            return None
        names, columns = texts(header["names"], "names"), header["columns"]
        by_number = hasattr(self, "n_features_in_") and not columns
        if len(set(names)) != len(names) or by_number or columns not in ([], names):
            raise ValueError("the names of its features are not distinct, or not its columns")
        return FeatureNames(names, grows=not columns)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self.is_started:
            # A copy of the learner must share no mutable object with it.
            copies = {"_labels": deepcopy(self._labels), "_names": deepcopy(self._names)}
            state = {**state, **copies}
        return state

    # Internals.

    def _start_with(
        self,
        settings: Settings,
        labels: Labels,
        single: bool,
        matrix: core.Matrix | None = None,
        targets: Targets | None = None,
    ) -> None:
        """Start from scratch, with a native learner that has accepted the first examples."""
        features = self.n_features or (0 if matrix is None else matrix.shape[1])
        self._check_start(settings, len(labels), features)
        settings = {**settings, "n_features": features}
        native = self._make_native(settings)
        if matrix is not None and targets is not None:
            self._check_batch(native, matrix, labels, targets)
        native.add_labels(len(labels))
        self._settings = settings
        self._labels = labels
        self._single = single
        self._restart_reason = ""
        self._names = None if matrix is None else self._column_names()
        self._native = native

    def _column_names(self) -> FeatureNames | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else FeatureNames(map(str, names), grows=False)

    def _number(self, label: Hashable) -> int:
        if label not in self.labels.number:
            raise ValueError(f"there is no label {label!r}")
        return self._labels.number[label]

    def _replace_labels(
        self,
        sources: list[list[int]],
        names: Sequence[Hashable],
        changes: Mapping[Hashable, Hashable | None],
        reason: str,
    ) -> None:
        """Replace the labels; ``sources`` lists, per new label, the old labels to sum."""

        def change(native: EditableRanker) -> None:
            self._relabel(changes)
            native.select_labels(sources)

        self._edit_weights(change, reason)
        self._labels = Labels(names, self._labels.grows)
