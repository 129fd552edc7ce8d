"""Tagger and journal of a mailbox in one model file."""

from pathlib import Path

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.model_files import ModelFileError, load
from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.model import FilingModel
from tagalong.online.compact.learner import PREDICTION_ONLY
from tagalong.tagger import Tagger

__all__ = ["ModelFile", "loaded_tagger"]

NOTES = "filing"
"""Key of the journal in the tagger's notes."""


class ModelFile(FilingModel):
    """Tagger and journal of a mailbox.

    Both are loaded from and saved to the same file, so that they are always consistent.

    Parameters
    ----------
    path : path
        Model file. If it does not exist, the model starts empty. A model without a journal is
        refused.
    names : bool
        Whether a new model stores the words of the mail.
    save : bool
        Whether `save` writes the file; False in a dry run.
    audit : float, optional
        Share of the sure messages that are spot checks; by default the model's own.
    start_from : path, optional
        Model whose tagger a new model starts with.
    """

    def __init__(
        self,
        path: Path,
        *,
        names: bool,
        save: bool,
        audit: float | None = None,
        start_from: Path | None = None,
    ):
        if start_from is not None:
            tagger, journal = _first_tagger(path, start_from, names), Journal()
        elif path.exists():
            tagger = loaded_tagger(path, names)
            journal = _journal_of(tagger, path)
        else:
            tagger, journal = Tagger(names=names), Journal()
        super().__init__(path, tagger, journal)
        self._saves = save
        self._has_new_settings = audit is not None and audit != tagger.audit
        if audit is not None:
            tagger.audit = audit

    def save(self) -> None:
        """Save tagger and journal together, by atomic replacement, if something has changed."""
        if not self._saves:
            return
        journal = self.journal.to_json()
        if self._has_new_settings or self._tagger.notes.get(NOTES) != journal:
            self._tagger.notes[NOTES] = journal
            self._tagger.save(self.path, private=True)
            self._has_new_settings = False


def loaded_tagger(path: Path, names: bool) -> Tagger:
    """Return the tagger of a model file; ModelFileError if it cannot learn from mail.

    Parameters
    ----------
    path : path
        The model file.
    names : bool
        Whether it may store the words of the mail.
    """
    tagger = load(path)
    if not isinstance(tagger, Tagger):
        raise ModelFileError(
            f"{unicode_path(path)}: the file contains a {type(tagger).__name__}, not a Tagger"
        )
    if tagger.is_compact:
        raise ModelFileError(f"{unicode_path(path)}: {PREDICTION_ONLY}")
    if not tagger.learns_online:
        raise ModelFileError(
            f"{unicode_path(path)}: the model is of the batch learner "
            f"{type(tagger.learner).__name__}, which cannot learn message by message; use a model "
            "of 'tagalong learn'"
        )
    if tagger.features.names and not names:
        raise ValueError(
            f"{unicode_path(path)}: this model stores words of the mail; delete it to learn a "
            "new model without words"
        )
    return tagger


def _first_tagger(path: Path, start_from: Path, names: bool) -> Tagger:
    """Return the tagger of another model as the first tagger of a new model."""
    in_place = path.exists() and path.samefile(start_from)
    tagger = loaded_tagger(start_from, names)
    if path.exists() and (not in_place or NOTES in tagger.notes):
        raise ValueError(
            f"{unicode_path(path)}: this model exists already, and start_from= is for the first "
            "run only; leave it out, or name a new file with model="
        )
    tagger.notes.pop(NOTES, None)
    return tagger


def _journal_of(tagger: Tagger, path: Path) -> Journal:
    if NOTES not in tagger.notes:
        name = unicode_path(path)
        raise ModelFileError(
            f"{name}: this model was not made by 'tagalong file'; name another file with model=, "
            f"or begin with what this one has learnt: start_from='{name}'"
        )
    try:
        return Journal.from_json(tagger.notes[NOTES])
    except ValueError as error:
        raise ModelFileError(f"{unicode_path(path)}: {error}") from error
