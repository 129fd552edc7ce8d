"""Tagger and journal of a mailbox, saved in one model file."""

from pathlib import Path

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.model_files import ModelFileError, load
from tagalong.mail.filing.journal import Journal
from tagalong.online.compact.learner import PREDICTION_ONLY
from tagalong.tagger import Tagger

__all__ = ["FilingModel"]

NOTES = "filing"
"""Key of the journal in the tagger's notes."""


class FilingModel:
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
        self.path = path
        self._saves = save
        if start_from is not None:
            self.tagger = _first_tagger(path, start_from, names)
            self.journal = Journal()
        elif path.exists():
            self.tagger = _loaded(path, names)
            self.journal = _journal_of(self.tagger, path)
        else:
            self.tagger = Tagger(names=names)
            self.journal = Journal()
        self._has_new_settings = audit is not None and audit != self.tagger.audit
        if audit is not None:
            self.tagger.audit = audit

    @property
    def learnt(self) -> int:
        """Number of messages learnt."""
        # The certificate also counts items learnt outside of filing, but may have been restarted.
        return max(self.tagger.certificate_.rounds, self.journal.learnt)

    def rename_folder(self, old: str, new: str) -> None:
        """Rename a folder in the tagger and the journal.

        Parameters
        ----------
        old, new : str
            Old and new label of the folder.
        """
        self.tagger.rename_label(old, new)
        self.journal.rename_folder(old, new)

    def save(self) -> None:
        """Save tagger and journal together, by atomic replacement, if something has changed."""
        if not self._saves:
            return
        journal = self.journal.to_json()
        if self._has_new_settings or self.tagger.notes.get(NOTES) != journal:
            self.tagger.notes[NOTES] = journal
            self.tagger.save(self.path, private=True)
            self._has_new_settings = False


def _loaded(path: Path, names: bool) -> Tagger:
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
    tagger = _loaded(start_from, names)
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
