"""Base classes of the learners: fitted state, saving, pickling."""

import os
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters
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

    def _checked_settings(self) -> dict[str, Any]:
        """Validate the parameters and return them as settings of the native learner."""
        raise NotImplementedError

    def _make_native(self, settings: dict[str, Any]) -> Any:
        """Return a new native learner with these settings."""
        raise NotImplementedError

    def _params_with(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters from which the settings follow, for settings of a file."""
        names = self.get_params(deep=False).keys() & settings.keys() - {"n_features"}
        return {name: settings[name] for name in names}

    def check_parameters(self) -> None:
        """Raise ValueError for the first invalid parameter."""
        self._checked_settings()

    def _restore_native(self, header: dict[str, Any], arrays: model_files.Arrays) -> None:
        """Make the native learner from the contents of a file; ValueError if they are invalid.

        The settings need not follow from the present parameters, which a user can change after the
        start. They are valid if they follow from some valid parameters.
        """
        self.check_parameters()
        settings = header["settings"]
        features = parameters.integer(settings["n_features"], "n_features", 0, 2**31)
        same = type(self)(**{**self.get_params(deep=False), **self._params_with(settings)})
        possible = {**same._checked_settings(), "n_features": features}
        for name, value in settings.items():
            if name not in possible or possible[name] != value:
                raise ValueError(f"no parameters have the setting {name}={value!r}")
        columns = getattr(self, "n_features_in_", features)
        if features not in (0, columns):
            raise ValueError(f"it began with {features} features, but has {columns} columns")
        native = self._make_native(settings)
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        self._native, self._settings = native, settings

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_native": self._native.state()} if self.is_started else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if self.is_started:
            native = self._make_native(self._settings)
            native.restore(state["_native"])
            self._native = native
