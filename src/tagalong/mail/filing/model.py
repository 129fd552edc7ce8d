"""Tagger and journal of a mailbox, saved in one model file."""

from pathlib import Path

from tagalong.learning.model_files import ModelFileError, load
from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.results import printable_path
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
        Model file. If it does not exist, the model starts empty.
    names : bool
        Whether a new model stores the words of the mail.
    save : bool
        Whether `save` writes the file; False in a dry run.
    """

    def __init__(self, path: Path, *, names: bool, save: bool):
        self._path = path
        self._saves = save
        self.tagger = _loaded(path, names) if path.exists() else Tagger(names=names)
        self.journal = _journal_of(self.tagger, path)

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
        """Save tagger and journal together, by atomic replacement, if the journal has changed."""
        if not self._saves:
            return
        journal = self.journal.to_json()
        if self.tagger.notes.get(NOTES) != journal:
            self.tagger.notes[NOTES] = journal
            self.tagger.save(self._path)


def _loaded(path: Path, names: bool) -> Tagger:
    tagger = load(path)
    if not isinstance(tagger, Tagger):
        raise ModelFileError(
            f"{printable_path(path)}: the file contains a {type(tagger).__name__}, not a Tagger"
        )
    if tagger.features.names and not names:
        raise ValueError(
            f"{printable_path(path)}: this model stores words of the mail; delete it to learn a "
            "new model without words"
        )
    return tagger


def _journal_of(tagger: Tagger, path: Path) -> Journal:
    if NOTES not in tagger.notes:
        return Journal()
    try:
        return Journal.from_json(tagger.notes[NOTES])
    except ValueError as error:
        raise ModelFileError(f"{printable_path(path)}: {error}") from error
