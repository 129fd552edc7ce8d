"""Base classes of the learners: fitted state, saving, pickling."""

import os
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tagalong.learning import model_files

__all__ = ["Fitted", "NativeModel"]


class Fitted(BaseEstimator):
    """Base class of all learners. A learner has started once its `_fitted_attribute` exists."""

    _fitted_attribute: ClassVar[str]

    def save(self, path: str | os.PathLike[str], *, private: bool = False) -> None:
        """Write the learner to a file; `tagalong.load` reads it.

        Parameters
        ----------
        path : str or path
            The file to write. An existing file is replaced atomically and keeps its mode; a
            symbolic link stays a link.
        private : bool, default False
            Whether a new file is readable by its owner only. Otherwise the umask decides.
        """
        self._require_fit()
        model_files.save(self, path, private=private)

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a model file."""
        raise NotImplementedError

    @property
    def is_started(self) -> bool:
        """Whether the learner has labels or weights: learnt, loaded, or declared."""
        return self._fitted_attribute in self.__dict__

    def _require_fit(self) -> None:
        check_is_fitted(self)

    def _require_start(self, name: str) -> None:
        # AttributeError: hasattr() must be False before the learner has started.
        if not self.is_started:
            raise AttributeError(f"{name} does not exist before the learner has learnt something")

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_started


class NativeModel(Fitted):
    """Base class of learners whose weights are in a native object; copies do not share it."""

    _fitted_attribute = "_native"
    _native: Any
    _settings: dict[str, Any]

    def _make_native(self, settings: dict[str, Any]) -> Any:
        """Return a new native learner with these settings."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_native": self._native.state()} if self.is_started else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.is_started:
            native = self._make_native(self._settings)
            native.restore(state["_native"])
            self._native = native
