"""Common parts of all stores of tokens: `tokens` has files, `postgres_tokens` a table."""

import hmac
from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime

from tagalong.server.access.token_records import (
    OWNER,
    TokenError,
    TokenRecord,
    check_name,
    digest,
    matching,
    new_token,
)
from tagalong.server.access.who import Who

__all__ = ["TokenStore", "check_number", "name_is_taken", "no_such_token"]

_MAX_NAMED = 1000  # every request is compared with all of them


class TokenStore(ABC):
    """The owner's token and the named ones.

    All methods but `add`, `remove` and `renew` are called in the event loop and must return at
    once. A store that is far away keeps a copy and renews it in the background. A store that cannot
    be read raises TokenError or OSError; then nobody has access.
    """

    @abstractmethod
    def owner(self) -> str:
        """Return the owner's token. It is made when it is needed for the first time."""

    @abstractmethod
    def records(self) -> Iterable[TokenRecord]:
        """Return the facts about all tokens, the owner's among them."""

    @abstractmethod
    def renew(self) -> str:
        """Replace the owner's token, which ends all log-ins, and return the new one."""

    @abstractmethod
    def _insert(self, record: TokenRecord) -> None:
        """Store a named token; TokenError if the name is taken or there are too many."""

    @abstractmethod
    def _delete(self, name: str) -> None:
        """Remove a named token; TokenError if there is none."""

    def secret(self) -> bytes:
        """Return a key that follows from the owner's token. It signs log-ins."""
        return hmac.digest(self.owner().encode(), b"tagalong log-ins", "sha256")

    def identify(self, token: str) -> Who | None:
        """Return who holds a token; None if it is not, or no longer, a token.

        Parameters
        ----------
        token : str
            Any text.
        """
        record = matching(token, self.records())
        return record.who() if record else None

    def find(self, name: str) -> TokenRecord | None:
        """Return the facts about the token with a name, also "owner"; None if there is none.

        Parameters
        ----------
        name : str
            Any text.
        """
        return next((record for record in self.records() if record.name == name), None)

    def list(self) -> tuple[TokenRecord, ...]:
        """Return the named tokens, in the order of their names."""
        named = (record for record in self.records() if record.name != OWNER)
        return tuple(sorted(named, key=lambda record: record.name))

    def add(self, name: str, read_only: bool = False) -> str:
        """Make a named token and return it; TokenError if the name is taken or not allowed.

        Parameters
        ----------
        name : str
            Its name: 1 to 63 characters of a-z, 0-9, "_", "." and "-"; not "owner".
        read_only : bool
            Whether it allows no changes.
        """
        check_name(name)
        token = new_token()
        now = datetime.now(UTC).replace(microsecond=0)
        self._insert(TokenRecord(name, read_only, now, digest(token)))
        return token

    def remove(self, name: str) -> None:
        """Remove a named token; TokenError if there is none.

        Parameters
        ----------
        name : str
            Its name.
        """
        check_name(name)
        self._delete(name)


def check_number(named: int) -> None:
    """Raise TokenError if there may be no further token beside this number of named ones."""
    if named >= _MAX_NAMED:
        raise TokenError(f"there are {_MAX_NAMED:,} named tokens already: remove some first")


def name_is_taken(name: str) -> TokenError:
    """Return the error for a name that another token has."""
    return TokenError(f"there is a token {name!r} already: choose another name, or remove it first")


def no_such_token(name: str, others: Iterable[str]) -> TokenError:
    """Return the error for a token that is not there."""
    names = ", ".join(sorted(each for each in others if each != OWNER)) or "none"
    return TokenError(f"there is no token {name!r}; named tokens: {names}")
