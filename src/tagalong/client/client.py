"""`Client`: a workspace of a server, with the verbs of `Tagger`."""

import os
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from tagalong.client.address import Address, Token, path_part
from tagalong.client.errors import ServerError
from tagalong.client.item_calls import ItemCalls
from tagalong.client.label_calls import LabelCalls
from tagalong.client.model_calls import ModelCalls
from tagalong.client.patience import Timing
from tagalong.client.transport import Transport

__all__ = ["Client"]

CONNECTIONS = 4


class Client(ItemCalls, LabelCalls, ModelCalls):
    """A workspace of a server. Several threads may use it.

    Calls that fail in a way that may pass (lost connections, 429, 502, 503 and 504) are tried
    again, until the time is over. Changes have an idempotency key, by which the server recognises
    a further try: an answer counts once.

    Parameters
    ----------
    url : str
        The address of the server, such as "http://127.0.0.1:8420/".
    token : str
        The token, which the file ``token`` of the server's folder has. It is sent to this server
        only, and no message shows it.
    workspace : str, default "default"
        The name of the workspace.
    timeout : float, default 60
        Number of seconds for one call, over all of its tries.
    ca_file : str or path, optional
        A file with the certificates of an authority of your own, for https.
    connections : int, default 4
        How many requests ``suggest_many`` has on their way at a time.
    on_wait : callable, optional
        Called with the error and a number of seconds before a call waits to be tried again.
    timing : Timing, optional
        The clock, which tests replace.

    Examples
    --------
    With a server that runs on this machine ('tagalong serve FOLDER')::

        from tagalong.client import Client

        with Client("http://127.0.0.1:8420/", token) as client:
            added = client.add("Your invoice is due on Friday")
            client.answer(added.id, ["money"])
            client.learn("Your flight to Lisbon", ["travel"])
            for suggestion in client.suggest("The invoice for your flight"):
                print(suggestion)
            undone = client.undo(client.answer(added.id, ["travel"]))
    """

    def __init__(
        self,
        url: str,
        token: str,
        workspace: str = "default",
        *,
        timeout: float = 60.0,
        ca_file: str | os.PathLike[str] | None = None,
        connections: int = CONNECTIONS,
        on_wait: Callable[[ServerError, float], None] | None = None,
        timing: Timing | None = None,
    ):
        if not timeout > 0:
            raise ValueError(f"timeout must be positive, got {timeout!r}")
        address = Address(url)
        context = ssl.create_default_context(cafile=ca_file) if address.is_secure else None
        path_part(workspace, "the name of the workspace")
        self.workspace = workspace
        self._transport = Transport(
            address,
            Token(token),
            timeout=timeout,
            context=context,
            timing=timing or Timing(),
            on_wait=on_wait,
        )
        self._helpers = ThreadPoolExecutor(connections, "tagalong-client")

    @classmethod
    def from_environment(cls, workspace: str = "default") -> Self:
        """Return a client for the server that the environment names.

        ``TAGALONG_SERVER`` is its address and ``TAGALONG_TOKEN`` the token.

        Parameters
        ----------
        workspace : str, default "default"
            The name of the workspace.
        """
        found = {}
        for name in ("TAGALONG_SERVER", "TAGALONG_TOKEN"):
            found[name] = os.environ.get(name, "").strip()
            if not found[name]:
                raise ValueError(f"the environment variable {name} is not set")
        return cls(found["TAGALONG_SERVER"], found["TAGALONG_TOKEN"], workspace)

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._transport.address.text

    def close(self) -> None:
        """Close all connections. Calls of other threads end with an error."""
        self._transport.close()
        self._helpers.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r}, workspace={self.workspace!r})"
