"""Tokens: how they are made, named and recognised, wherever they are stored.

A token has 256 random bits. Therefore one round of SHA-256 protects it as well as a slow hash for
passwords would: there are too many tokens to try.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from tagalong.server.access.who import Who

__all__ = [
    "OWNER",
    "TokenError",
    "TokenRecord",
    "check_name",
    "digest",
    "matching",
    "new_token",
    "records_from_json",
    "records_to_json",
]

OWNER = "owner"
REMEMBERED = 64
_VERSION = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class TokenError(ValueError):
    """A token that cannot be made or removed, or stored tokens that cannot be used."""


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """The facts about a token that are stored. The token itself is not.

    Parameters
    ----------
    name : str
        Name of the token.
    read_only : bool
        Whether it allows no changes.
    created : datetime, optional
        When it was made, with a time zone; None if that is not known, as for the owner's token.
    sha256 : str
        SHA-256 of the token, in hexadecimal.
    """

    name: str
    read_only: bool
    created: datetime | None
    sha256: str

    def who(self) -> Who:
        """Return the holder, as a request with the token shows it."""
        return Who(self.name, self.read_only, "token")


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


@lru_cache(REMEMBERED)
def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal. That of the last tokens is remembered.

    Parameters
    ----------
    token : str
        The token, or any text that somebody sends in its place.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def matching(token: str, records: Iterable[TokenRecord]) -> TokenRecord | None:
    """Return the record of a token. The time this takes does not depend on which one it is.

    Parameters
    ----------
    token : str
        The token, or any text that somebody sends in its place.
    records : iterable of TokenRecord
        All tokens.
    """
    sent = digest(token)
    found = None
    for record in records:
        if hmac.compare_digest(record.sha256, sent):
            found = record
    return found


def check_name(name: str) -> None:
    """Raise TokenError if a token cannot have this name.

    Parameters
    ----------
    name : str
        The name.
    """
    if name == OWNER:
        raise TokenError(
            "the name 'owner' is that of the token in the file token: choose another, or replace "
            "that token with 'tagalong token renew'"
        )
    if not _NAME.fullmatch(name):
        raise TokenError(
            f"the name {name!r} of a token must have 1 to 63 characters of a-z, 0-9, '_', '.' and "
            "'-', and begin with a letter or a digit"
        )


def records_to_json(records: Iterable[TokenRecord]) -> str:
    """Return records as the text of a file.

    Parameters
    ----------
    records : iterable of TokenRecord
        Named tokens.
    """
    tokens = {
        record.name: {
            "read_only": record.read_only,
            "created": record.created.isoformat() if record.created else None,
            "sha256": record.sha256,
        }
        for record in records
    }
    return json.dumps({"version": _VERSION, "tokens": tokens}, indent=2) + "\n"


def records_from_json(text: bytes) -> dict[str, TokenRecord]:
    """Return records by name from the text of a file; TokenError if it is damaged.

    Parameters
    ----------
    text : bytes
        The text. Nothing of it is used unless all of it is sound.
    """
    try:
        saved = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenError(f"is not JSON: {error}") from error
    if not isinstance(saved, dict) or not isinstance(saved.get("tokens"), dict):
        raise TokenError('has no object "tokens"')
    if saved.get("version") != _VERSION:
        raise TokenError(
            f"has the version {saved.get('version')!r}; this version of tagalong reads {_VERSION}"
        )
    return {name: _record(name, facts) for name, facts in saved["tokens"].items()}


def _record(name: str, facts: object) -> TokenRecord:
    check_name(name)
    if not isinstance(facts, Mapping):
        raise TokenError(f"the token {name!r} must be an object")
    read_only, sha256, created = (facts.get(key) for key in ("read_only", "sha256", "created"))
    if not isinstance(read_only, bool):
        raise TokenError(f'"read_only" of the token {name!r} must be true or false')
    if not isinstance(sha256, str) or not _DIGEST.fullmatch(sha256):
        raise TokenError(f'"sha256" of the token {name!r} must be 64 hexadecimal digits')
    try:
        when = None if created is None else datetime.fromisoformat(str(created)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise TokenError(f'"created" of the token {name!r} must be a time, or null') from None
    return TokenRecord(name, read_only, when, sha256)
