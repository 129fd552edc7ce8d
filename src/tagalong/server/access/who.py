"""Who makes a request."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Who"]


@dataclass(frozen=True, slots=True)
class Who:
    """The holder of a token, by whom a request is made.

    Parameters
    ----------
    name : str
        Name of the token; "owner" for the owner's token.
    read_only : bool
        Whether the token allows no changes.
    via : str
        "token" if the request has the token itself, "cookie" if the holder has logged in with it.
    """

    name: str
    read_only: bool
    via: Literal["token", "cookie"]
