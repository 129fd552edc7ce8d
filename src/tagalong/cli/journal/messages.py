"""Messages that the actions share: errors in the words of the command line, and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tagalong.cli.errors import CommandError
from tagalong.cli.live import Live
from tagalong.journal import JournalError
from tagalong.journal.storage import is_url, storage_of

__all__ = ["counted", "journal_errors", "percent_shown", "place_name"]


@contextmanager
def journal_errors() -> Iterator[None]:
    """Turn errors of a workspace into errors of the command."""
    try:
        yield
    except JournalError as error:
        raise CommandError(str(error)) from error


def percent_shown(live: Live, what: str) -> Callable[[int, int], None]:
    """Return a function that shows how much of some work is done.

    Parameters
    ----------
    live : Live
        The display.
    what : str
        The work, for example "verified".
    """

    def show(done: int, total: int) -> None:
        if live.is_due():
            share = f"{100 * done // max(total, 1)} %"
            live.show([what], [[share]], f"{what} {share}")

    return show


def counted(count: int, noun: str) -> str:
    """Return "1 event", "2 events" and so on.

    Parameters
    ----------
    count : int
        The number.
    noun : str
        The word for one.
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def place_name(place: str) -> str:
    """Return the name of a workspace as it is shown: a URL without its password.

    Parameters
    ----------
    place : str
        The folder or the URL.
    """
    return storage_of(place).name if is_url(place) else place
