"""The model of a mailbox and its journal, which are saved in one file."""

from pathlib import Path

from tagalong.learning.model_files import ModelFileError, load
from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.results import printable_path
from tagalong.tagger import Tagger

__all__ = ["FilingModel"]

NOTES = "filing"
"""The entry of a tagger's notes that keeps the journal."""


class FilingModel:
    """A tagger and the journal of the messages that it has met.

    They are read from and written to one file together, so that they always agree.

    Parameters
    ----------
    path : path
        The model file. If there is none, the model begins empty.
    names : bool
        Whether a new model keeps the words of the mail.
    save : bool
        Whether `save` writes the file; a dry run does not.
    """

    def __init__(self, path: Path, *, names: bool, save: bool):
        self._path = path
        self._saves = save
        self.tagger = _loaded(path, names) if path.exists() else Tagger(names=names)
        self.journal = _journal_of(self.tagger, path)

    @property
    def learnt(self) -> int:
        """How many messages have been learnt."""
        # The certificate counts what was learnt elsewhere too, but it may have been restarted.
        return max(self.tagger.certificate_.rounds, self.journal.learnt)

    def rename_folder(self, old: str, new: str) -> None:
        """Give a folder another name.

        Parameters
        ----------
        old, new : str
            Its label so far, and from now on.
        """
        self.tagger.rename_label(old, new)
        self.journal.rename_folder(old, new)

    def save(self) -> None:
        """Write model and journal together and at once, if the journal has changed."""
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
            f"{printable_path(path)}: has a {type(tagger).__name__}; a Tagger is needed"
        )
    if tagger.features.names and not names:
        raise ValueError(
            f"{printable_path(path)}: this model keeps words of the mail; to have one that does not, "
            "remove it and learn anew"
        )
    return tagger


def _journal_of(tagger: Tagger, path: Path) -> Journal:
    if NOTES not in tagger.notes:
        return Journal()
    try:
        return Journal.from_json(tagger.notes[NOTES])
    except ValueError as error:
        raise ModelFileError(f"{printable_path(path)}: {error}") from error
