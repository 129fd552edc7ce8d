"""Talks to a server of Tagalong, with the standard library only."""

from tagalong.client.client import Client
from tagalong.client.errors import (
    Conflict,
    NotFound,
    Refused,
    ServerError,
    Unauthorized,
    Unavailable,
)
from tagalong.client.patience import Timing
from tagalong.client.results import Accepted, Added, Job, ServerEvent, ServerItem

__all__ = [
    "Accepted",
    "Added",
    "Client",
    "Conflict",
    "Job",
    "NotFound",
    "Refused",
    "ServerError",
    "ServerEvent",
    "ServerItem",
    "Timing",
    "Unauthorized",
    "Unavailable",
]
