"""Tokens in PostgreSQL, which servers share."""

from collections.abc import Iterator

import pytest

from tagalong.server.access import postgres_tokens
from tagalong.server.access.postgres_tokens import PostgresTokens
from tagalong.server.access.token_records import TokenError
from tagalong.server.access.who import Who
from tests.services.postgres import PostgresProcess


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_tokens, "SECONDS_BETWEEN_LOOKS", 0.01)


@pytest.fixture
def tokens(postgres_url: str) -> Iterator[PostgresTokens]:
    found = PostgresTokens(postgres_url)
    yield found
    found.close()


@pytest.fixture
def others(postgres_url: str, tokens: PostgresTokens) -> Iterator[PostgresTokens]:
    """The tokens as another server sees them."""
    found = PostgresTokens(postgres_url)
    yield found
    found.close()


def test_the_owner_has_a_token(tokens: PostgresTokens, others: PostgresTokens) -> None:
    owner = tokens.owner()
    assert len(owner) >= 32
    assert others.owner() == owner
    assert others.secret() == tokens.secret()
    assert others.identify(owner) == Who("owner", False, "token")
    assert others.identify("guess") is None
    assert tokens.list() == ()
    record = tokens.find("owner")
    assert record is not None
    assert record.created is None


def test_a_new_token_of_the_owner_counts_everywhere(
    tokens: PostgresTokens, others: PostgresTokens
) -> None:
    old, secret = tokens.owner(), tokens.secret()
    new = tokens.renew()
    assert new != old
    while others.owner() == old:  # until it looks again
        pass
    assert others.identify(old) is None
    assert others.identify(new) == Who("owner", False, "token")
    assert others.secret() != secret


def test_named_tokens(tokens: PostgresTokens, others: PostgresTokens) -> None:
    token = tokens.add("bea", read_only=True)
    tokens.add("ada")
    assert tokens.identify(token) == Who("bea", True, "token")
    assert [(each.name, each.read_only) for each in tokens.list()] == [
        ("ada", False),
        ("bea", True),
    ]
    while others.identify(token) is None:
        pass
    record = others.find("bea")
    assert record == tokens.find("bea")
    assert record is not None
    assert record.created is not None
    with pytest.raises(TokenError, match="there is a token 'ada' already"):
        others.add("ada")
    with pytest.raises(TokenError, match="'owner'"):
        tokens.add("owner")
    with pytest.raises(TokenError, match="no token 'eve'; named tokens: ada, bea"):
        tokens.remove("eve")
    others.remove("bea")
    while tokens.identify(token) is not None:
        pass
    assert tokens.find("bea") is None


def test_tokens_that_cannot_be_read_for_long_do_not_count(
    own_postgres_server: PostgresProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = PostgresTokens(own_postgres_server.url())
    owner = tokens.owner()
    own_postgres_server.kill()
    assert tokens.identify(owner) is not None  # for a while
    monkeypatch.setattr(postgres_tokens, "SECONDS_WITHOUT_A_LOOK", 0.0)
    with pytest.raises(TokenError, match="cannot be read"):
        tokens.identify(owner)
    monkeypatch.undo()
    own_postgres_server.start()
    assert tokens.identify(owner) is not None
    tokens.close()
