"""What a run has found and done, ready to be shown."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = ["FilingResult", "LeftAlone", "Move", "Reason", "printable_path"]

Reason: TypeAlias = Literal["unsure", "no such folder", "too young", "put back", "copy"]
MAX_ERRORS = 100


@dataclass(frozen=True, slots=True)
class Move:
    """A message that belongs in a folder.

    Parameters
    ----------
    source, target : path
        The message's file, and where it goes. The name stays the same, but for the number that
        mbsync and OfflineIMAP give a message in each folder.
    subject : str
        What the message says it is about.
    from_folder, to_folder : str
        The labels of the folders; "" is the Maildir itself, which is the inbox.
    probability : float
        How sure the tagger is.
    why : tuple of str
        The words that speak for the folder, the strongest first.
    done : bool
        Whether it has been moved; False in a dry run, and where moving failed.
    """

    source: Path
    target: Path
    subject: str
    from_folder: str
    to_folder: str
    probability: float
    why: tuple[str, ...]
    done: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "source": printable_path(self.source),
            "target": printable_path(self.target),
            "subject": self.subject,
            "from": self.from_folder,
            "to": self.to_folder,
            "probability": self.probability,
            "why": list(self.why),
            "done": self.done,
        }


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A message that stays in the inbox.

    Parameters
    ----------
    source : path
        The message's file.
    reason : str
        ``"unsure"``: no folder is likely enough; ``"no such folder"``: the likely one is not
        there, or mail is not filed into it; ``"too young"``: the model has learnt too little, and
        the message was not looked at; ``"put back"``: its owner took it out of a folder, so it is
        never filed again; ``"copy"``: another folder has it already.
    subject : str
        What the message says it is about; "" if it was not looked at.
    folder : str
        The likeliest folder; "" if there is none.
    probability : float
        How likely that is.
    """

    source: Path
    reason: Reason
    subject: str = ""
    folder: str = ""
    probability: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "source": printable_path(self.source),
            "reason": self.reason,
            "subject": self.subject,
            "folder": self.folder,
            "probability": self.probability,
        }


@dataclass(slots=True)
class FilingResult:
    """What a run has learnt, and what it has moved or would move.

    Parameters
    ----------
    model : path
        The model file.
    applied : bool
        Whether messages were moved and the model was saved; False for a dry run.
    learnt : int
        Messages whose folder was learnt.
    corrected : int
        Messages that their owner has moved from one folder to another.
    rejected : int
        Messages that Tagalong had filed and their owner has put back into the inbox.
    renamed : dict of str to str
        Folders that have got another name, by the old one.
    moves : list of Move
        What belongs in a folder.
    left : list of LeftAlone
        What stays in the inbox, and why.
    vanished : int
        Messages that were gone when their turn came.
    failed : int
        Messages and folders that could not be read or moved.
    errors : list of str
        What went wrong with the first hundred of them.
    interrupted : bool
        Whether Ctrl-C ended the run early. What was learnt until then is saved, unless it was a dry
        run; the next run goes on from there.
    """

    model: Path
    applied: bool
    learnt: int = 0
    corrected: int = 0
    rejected: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    left: list[LeftAlone] = field(default_factory=list)
    vanished: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def moved(self) -> int:
        """How many messages have been moved."""
        return sum(move.done for move in self.moves)

    @property
    def left_by_reason(self) -> dict[str, int]:
        """How many messages stay in the inbox for each reason."""
        return dict(Counter(message.reason for message in self.left))

    def fail(self, problem: str) -> None:
        """Count something that went wrong.

        Parameters
        ----------
        problem : str
            The place, and what is wrong there.
        """
        self.failed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(problem)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "model": printable_path(self.model),
            "applied": self.applied,
            "interrupted": self.interrupted,
            "learnt": self.learnt,
            "corrected": self.corrected,
            "rejected": self.rejected,
            "renamed": dict(self.renamed),
            "moved": self.moved,
            "moves": [move.to_dict() for move in self.moves],
            "left_by_reason": self.left_by_reason,
            "left": [message.to_dict() for message in self.left],
            "vanished": self.vanished,
            "failed": self.failed,
            "errors": list(self.errors),
        }


def printable_path(path: Path) -> str:
    """Return a path as valid Unicode, so that it can be printed."""
    return os.fsencode(path).decode("utf-8", "replace")
