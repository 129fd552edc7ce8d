"""Tagger and journal of a mailbox."""

from pathlib import Path

from tagalong.files.unicode_paths import unicode_path
from tagalong.learning.items import Item
from tagalong.mail.filing.decisions import Decision
from tagalong.mail.filing.journal import Journal
from tagalong.tagger import Tagger

__all__ = ["FilingModel"]


class FilingModel:
    """Tagger and journal of a mailbox in memory, as in a dry run. Subclasses save them.

    Parameters
    ----------
    path : path
        The file or the folder that they come from.
    tagger : Tagger
        The tagger.
    journal : Journal
        The journal of messages.
    """

    def __init__(self, path: Path, tagger: Tagger, journal: Journal):
        self.path = path
        self.journal = journal
        self._tagger = tagger

    @property
    def tagger(self) -> Tagger:
        """The tagger, after everything that it was taught."""
        return self._tagger

    @property
    def logs_words(self) -> bool:
        """Whether the log of moves has the words that explain them."""
        return self._tagger.features.names

    @property
    def advice_for_another_mailbox(self) -> str:
        """What to do if the messages are those of another mailbox."""
        path = unicode_path(self.path)
        return (
            "name a file of this mailbox's own with model=, which may begin with what the other "
            f"has learnt: start_from='{path}'"
        )

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

    def teach(self, item: Item, decision: Decision, old_folder: str) -> None:
        """Teach the tagger the lesson of a decision.

        Only folders that the owner chose before Tagalong had filed the message are evidence of how
        often suggestions are right.

        Parameters
        ----------
        item : Item
            The message.
        decision : Decision
            A decision with a lesson.
        old_folder : str
            Folder of the message in the journal; "" if it has no entry.
        """
        tagger, labels = self._tagger, [decision.folder]
        match decision.lesson:
            case "answer":
                # Without an audited share there is nothing that the answer could stand for.
                tagger.learn(item, labels, audited=tagger.audit > 0)
            case "refile":
                tagger.learn(item, labels, filed=True)
            case "reject":
                # The tagger may have forgotten the label since the message was filed.
                if decision.folder in tagger.labels:
                    tagger.feedback(item, shown=labels, accepted=[], filed=True)
            case "retry":
                tagger.learn(item, labels, judged=False)
            case "correct" if old_folder in tagger.labels:
                tagger.correct(item, labels, was=[old_folder])
            case "correct":  # the tagger has forgotten the old folder
                tagger.learn(item, labels, judged=False)
            case _:
                tagger.learn(item, labels)

    def note_filed(self, item: Item, folder: str, *, asked: bool = False) -> None:
        """Note that a message was filed, or is a spot check. The journal of messages has it.

        Parameters
        ----------
        item : Item
            The message.
        folder : str
            Where it was filed; for a spot check, the folder that was suggested.
        asked : bool
            Whether it is a spot check.
        """

    def save(self) -> None:
        """Save tagger and journal, if something has changed."""
