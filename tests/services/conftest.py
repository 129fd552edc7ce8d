"""Fixtures of servers that tests start themselves."""

from tests.services.postgres import own_postgres_server, postgres_server, postgres_url

__all__ = ["own_postgres_server", "postgres_server", "postgres_url"]
