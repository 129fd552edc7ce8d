"""Result of a filing run: moves, messages left in the inbox, counts and errors."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tagalong.files.unicode_paths import unicode_path

__all__ = ["FilingResult", "LeftAlone", "Move", "Reason"]

Reason: TypeAlias = Literal[
    "unsure", "spot check", "never", "limit", "no such folder", "too young", "put back", "copy"
]
MAX_ERRORS = 100


@dataclass(frozen=True, slots=True)
class Move:
    """Move of a message from the inbox to a folder.

    Parameters
    ----------
    source, target : path
        Path of the message before and after the move. The file name stays the same, except for the
        UID that mbsync and OfflineIMAP add in each folder.
    subject : str
        Subject of the message.
    from_folder, to_folder : str
        Labels of the folders; "" is the Maildir itself, which is the inbox.
    probability : float
        Probability of the folder.
    why : tuple of str
        Words with the largest contribution to the folder's score, largest first.
    done : bool
        Whether the message has been moved; False in a dry run, or if the move failed.
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
        """Return the fields as JSON values."""
        return {
            "source": unicode_path(self.source),
            "target": unicode_path(self.target),
            "subject": self.subject,
            "from": self.from_folder,
            "to": self.to_folder,
            "probability": self.probability,
            "why": list(self.why),
            "done": self.done,
        }


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """Message that stays in the inbox.

    Parameters
    ----------
    source : path
        Path of the message.
    reason : str
        ``"unsure"``: no folder is probable enough; ``"spot check"``: the model is sure, but the
        owner is asked all the same, so that the model learns how often it is right; ``"never"``:
        the most probable folder is one that mail is never filed into; ``"limit"``: the run has
        planned as many moves and new spot checks as it may; ``"no such folder"``: the most
        probable folder does not exist, cannot be read, or mail is not filed into it; ``"too
        young"``: the model has learnt too few messages, and this one was not read; ``"put back"``:
        the owner took the message out of a folder, so it is never filed again; ``"copy"``: another
        folder has the same message.
    subject : str
        Subject of the message; "" if it was not read.
    folder : str
        Most probable folder; "" if there is none.
    probability : float
        Probability of that folder; 0 if the message was not read.
    """

    source: Path
    reason: Reason
    subject: str = ""
    folder: str = ""
    probability: float = 0.0

    @property
    def is_new_check(self) -> bool:
        """Whether this run has made the message a spot check; an earlier one gives no number."""
        return self.reason == "spot check" and self.probability > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "source": unicode_path(self.source),
            "reason": self.reason,
            "subject": self.subject,
            "folder": self.folder,
            "probability": self.probability,
        }


@dataclass(slots=True)
class FilingResult:
    """Result of a filing run.

    Parameters
    ----------
    model : path
        Model file.
    applied : bool
        Whether messages were moved and the model was saved; False in a dry run.
    learnt : int
        Number of messages whose folder was learnt.
    learnt_before : int
        Number of messages that the model had learnt in earlier runs.
    answered : int
        Number of those that were learnt now that were spot checks.
    corrected : int
        Number of messages that the owner has moved from one folder to another.
    rejected : int
        Number of messages that Tagalong had filed and the owner has put back into the inbox.
    renamed : dict of str to str
        New names of renamed folders by old name.
    moves : list of Move
        Moves that were made, or would be made in a dry run.
    left : list of LeftAlone
        Messages that stay in the inbox, with the reason.
    moves_at : dict of float to int
        Number of messages that a run with this `min_precision` would move, without a limit. Only
        dry runs count them.
    in_runs : bool
        Whether the learnt messages came in long runs of one folder, so that no message is sure.
    vanished : int
        Number of messages that disappeared during the run.
    failed : int
        Number of messages and folders that could not be read or moved.
    errors : list of str
        Messages of the first 100 failures.
    links : list of str
        Paths of symbolic links to messages and folders, which are not followed.
    interrupted : bool
        Whether Ctrl-C ended the run early. Unless it is a dry run, everything learnt before is
        saved, and the next run continues from there.
    """

    model: Path
    applied: bool
    learnt: int = 0
    learnt_before: int = 0
    answered: int = 0
    corrected: int = 0
    rejected: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    left: list[LeftAlone] = field(default_factory=list)
    moves_at: dict[float, int] = field(default_factory=dict)
    in_runs: bool = False
    vanished: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def moved(self) -> int:
        """Number of messages moved."""
        return sum(move.done for move in self.moves)

    @property
    def left_by_reason(self) -> dict[str, int]:
        """Number of messages that stay in the inbox, by reason."""
        return dict(Counter(message.reason for message in self.left))

    def fail(self, problem: str) -> None:
        """Count a failure.

        Parameters
        ----------
        problem : str
            Path and description of the failure.
        """
        self.failed += 1
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(problem)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "model": unicode_path(self.model),
            "applied": self.applied,
            "interrupted": self.interrupted,
            "learnt": self.learnt,
            "learnt_before": self.learnt_before,
            "answered": self.answered,
            "corrected": self.corrected,
            "rejected": self.rejected,
            "renamed": dict(self.renamed),
            "moved": self.moved,
            "moves": [move.to_dict() for move in self.moves],
            "left_by_reason": self.left_by_reason,
            "left": [message.to_dict() for message in self.left],
            "moves_at": [
                {"min_precision": target, "moves": count} for target, count in self.moves_at.items()
            ],
            "in_runs": self.in_runs,
            "vanished": self.vanished,
            "failed": self.failed,
            "errors": list(self.errors),
            "links": list(self.links),
        }
