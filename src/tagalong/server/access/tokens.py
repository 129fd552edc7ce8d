"""Tokens in files of the folder that is served."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tagalong.files.lock import exclusive_lock
from tagalong.files.replacement import replacing
from tagalong.server.access.private_file import PrivateFile, read_private
from tagalong.server.access.token_records import (
    OWNER,
    TokenError,
    TokenRecord,
    digest,
    new_token,
    records_from_json,
    records_to_json,
)
from tagalong.server.access.token_store import (
    TokenStore,
    check_number,
    name_is_taken,
    no_such_token,
)

__all__ = ["FileTokens"]

_SECONDS_TO_WAIT = 10.0
# The characters that RFC 6750 allows, and enough of them that nobody can guess the token.
_OWNERS_TOKEN = re.compile(rb"[A-Za-z0-9._~+/-]{32,512}=*")


class FileTokens(TokenStore):
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

    def records(self) -> Iterable[TokenRecord]:
        """Return the facts about all tokens, the owner's among them."""
        return (self._owner_record(), *self._named().values())

    def renew(self) -> str:
        """Replace the owner's token, which ends all log-ins, and return the new one."""
        with self._locked():
            return self._write_owner()

    def _insert(self, record: TokenRecord) -> None:
        with self._locked():
            records = self._named()
            if record.name in records:
                raise name_is_taken(record.name)
            check_number(len(records))
            self._write_named({**records, record.name: record})

    def _delete(self, name: str) -> None:
        with self._locked():
            records = dict(self._named())
            if records.pop(name, None) is None:
                raise no_such_token(name, records)
            self._write_named(records)

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
