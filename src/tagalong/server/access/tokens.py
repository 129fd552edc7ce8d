"""Where tokens are stored: the protocol of a store, and files in the folder that is served."""

import hmac
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from tagalong.files.lock import exclusive_lock
from tagalong.files.replacement import replacing
from tagalong.server.access.private_file import PrivateFile, read_private
from tagalong.server.access.token_records import (
    OWNER,
    TokenError,
    TokenRecord,
    check_name,
    digest,
    matching,
    new_token,
    records_from_json,
    records_to_json,
)
from tagalong.server.access.who import Who

__all__ = ["FileTokens", "TokenError", "TokenRecord", "TokenStore"]

_SECONDS_TO_WAIT = 10.0
_MAX_NAMED = 1000  # every request is compared with all of them
# The characters that RFC 6750 allows, and enough of them that nobody can guess the token.
_OWNERS_TOKEN = re.compile(rb"[A-Za-z0-9._~+/-]{32,512}=*")


class TokenStore(Protocol):
    """The owner's token and the named ones.

    The methods are called in the event loop and must return at once. A store that is far away
    keeps a copy and renews it in the background. A store that cannot be read raises TokenError or
    OSError; then nobody has access.
    """

    def owner(self) -> str:
        """Return the owner's token. It is made when it is needed for the first time."""

    def secret(self) -> bytes:
        """Return a key that follows from the owner's token. It signs log-ins."""

    def identify(self, token: str) -> Who | None:
        """Return who holds a token; None if it is not, or no longer, a token."""

    def find(self, name: str) -> TokenRecord | None:
        """Return the facts about the token with a name, also "owner"; None if there is none."""

    def list(self) -> tuple[TokenRecord, ...]:
        """Return the named tokens, in the order of their names."""

    def add(self, name: str, read_only: bool = False) -> str:
        """Make a named token and return it; TokenError if the name is taken or not allowed."""

    def remove(self, name: str) -> None:
        """Remove a named token; TokenError if there is none."""

    def renew(self) -> str:
        """Replace the owner's token, which ends all log-ins, and return the new one."""


class FileTokens:
    """Tokens in two files of a folder, of which only the owner of the folder may read any.

    ``token`` holds the owner's token, ``tokens.json`` the hashes of the named ones. Every request
    looks whether they have changed, so that a change by another process counts at once.

    Parameters
    ----------
    folder : str or path
        The folder that is served. It must exist before a token is made.
    on_problem : callable, optional
        Called with a sentence about a problem that was solved: others could read a file.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, on_problem: Callable[[str], None] | None = None
    ):
        self._owner_path = Path(folder) / "token"
        self._named_path = Path(folder) / "tokens.json"
        report = on_problem or (lambda problem: None)
        self._owner_file = PrivateFile(self._owner_path, report)
        self._named_file = PrivateFile(self._named_path, report)
        # The owner's token in the last contents of its file, with its record.
        self._owner: tuple[bytes, str, TokenRecord] | None = None
        # The last contents of tokens.json, and the records in it.
        self._parsed: tuple[bytes | None, dict[str, TokenRecord]] = (None, {})

    def owner(self) -> str:
        """Return the owner's token. It is made when it is needed for the first time."""
        token = self._read_owner()
        if token is not None:
            return token
        with self._locked():
            # Another process may have made it meanwhile.
            return self._read_owner() or self._write_owner()

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
        record = matching(token, (self._owner_record(), *self._named().values()))
        return record.who() if record else None

    def find(self, name: str) -> TokenRecord | None:
        """Return the facts about the token with a name, also "owner"; None if there is none.

        Parameters
        ----------
        name : str
            Any text.
        """
        return self._owner_record() if name == OWNER else self._named().get(name)

    def list(self) -> tuple[TokenRecord, ...]:
        """Return the named tokens, in the order of their names."""
        return tuple(record for _, record in sorted(self._named().items()))

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
        with self._locked():
            records = self._named()
            if name in records:
                raise TokenError(
                    f"there is a token {name!r} already: choose another name, or remove it first"
                )
            if len(records) >= _MAX_NAMED:
                raise TokenError(
                    f"there are {_MAX_NAMED:,} named tokens already: remove some first"
                )
            token = new_token()
            now = datetime.now(UTC).replace(microsecond=0)
            record = TokenRecord(name, read_only, now, digest(token))
            self._write_named({**records, name: record})
        return token

    def remove(self, name: str) -> None:
        """Remove a named token; TokenError if there is none.

        Parameters
        ----------
        name : str
            Its name.
        """
        check_name(name)
        with self._locked():
            records = dict(self._named())
            if records.pop(name, None) is None:
                names = ", ".join(sorted(records)) or "none"
                raise TokenError(f"there is no token {name!r}; named tokens: {names}")
            self._write_named(records)

    def renew(self) -> str:
        """Replace the owner's token, which ends all log-ins, and return the new one."""
        with self._locked():
            return self._write_owner()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with exclusive_lock(
            self._named_path, command="tagalong token", wait=_SECONDS_TO_WAIT, what="list of tokens"
        ):
            yield

    def _read_owner(self) -> str | None:
        contents = self._owner_file.read()
        if contents is None:
            return None
        if self._owner is None or contents != self._owner[0]:
            token = self._checked_owner(contents)
            self._owner = contents, token, TokenRecord(OWNER, False, None, digest(token))
        return self._owner[1]

    def _checked_owner(self, contents: bytes) -> str:
        token = contents.strip()
        if not _OWNERS_TOKEN.fullmatch(token):
            raise TokenError(
                f"{self._owner_path}: must hold one token of at least 32 characters of A-Z, a-z, "
                "0-9 and '._~+/-'; 'tagalong token renew' writes a new one"
            )
        return token.decode()

    def _owner_record(self) -> TokenRecord:
        token = self.owner()
        if self._owner is not None and token == self._owner[1]:
            return self._owner[2]
        return TokenRecord(OWNER, False, None, digest(token))

    def _write_owner(self) -> str:
        token = new_token()
        _write_private(self._owner_path, f"{token}\n")
        return token

    def _named(self) -> dict[str, TokenRecord]:
        contents = self._named_file.read()
        if contents is None:
            return {}
        known, records = self._parsed
        if contents != known:
            try:
                records = records_from_json(contents)
            except TokenError as error:
                raise TokenError(f"{self._named_path}: {error}") from error
            self._parsed = contents, records
        return records

    def _write_named(self, records: dict[str, TokenRecord]) -> None:
        _write_private(self._named_path, records_to_json(records.values()))


def _write_private(path: Path, text: str) -> None:
    """Replace a file in one step. Only its owner may read the new one."""
    read_private(path, lambda problem: None)  # the new file gets the mode of the old one
    with replacing(path, private=True) as file:
        file.write(text.encode())
