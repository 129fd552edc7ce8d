"""Records of the log: what a filing run did with a message, when and why."""

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

__all__ = ["Act", "LogRecord"]

Act: TypeAlias = Literal["moved", "asked"]


@dataclass(frozen=True, slots=True)
class LogRecord:
    """Move of a message, or spot check of a message that was left in the inbox.

    What became of the message is not part of the record, since it follows from the folder that the
    message is in now.

    Parameters
    ----------
    folder : str
        Folder that the message was moved to; for a spot check, the folder that was suggested.
    time : int
        Time of the run, in seconds since 1970.
    act : str
        ``"moved"``, or ``"asked"`` for a spot check.
    probability : float
        Probability of the folder at that time.
    min_precision : float
        Target precision of the run.
    why : tuple of str
        Words with the largest contribution to the folder's score; none if the model stores no
        words.
    """

    folder: str
    time: int
    act: Act
    probability: float
    min_precision: float
    why: tuple[str, ...] = ()

    def pack(self) -> list[Any]:
        """Return all fields but the folder as JSON values."""
        return [self.time, self.act, self.probability, self.min_precision, *self.why]

    @classmethod
    def unpack(cls, folder: str, parts: list[Any]) -> Self:
        """Return the record from the result of `pack`; raise ValueError if it is invalid.

        Parameters
        ----------
        folder : str
            The folder.
        parts : list
            Result of `pack`.
        """
        time, act, probability, min_precision, *why = parts
        if act not in ("moved", "asked"):
            raise ValueError(f"no such act: {act!r}")
        return cls(
            folder, int(time), act, float(probability), float(min_precision), tuple(map(str, why))
        )
