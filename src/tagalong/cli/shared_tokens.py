"""Tokens in a database that servers share. It is slow to import."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from tagalong.cli.errors import CommandError
from tagalong.journal import JournalError
from tagalong.server.access.postgres_tokens import PostgresTokens

__all__ = ["shared_tokens"]


@contextmanager
def shared_tokens(url: str) -> Iterator[PostgresTokens]:
    """Open the tokens in a database; CommandError if it cannot be used.

    Parameters
    ----------
    url : str
        The database, as for ``serve --journal``.
    """
    try:
        with closing(PostgresTokens(url)) as tokens:
            yield tokens
    except JournalError as error:
        raise CommandError(str(error)) from error
