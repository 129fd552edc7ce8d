"""Those who watch a workspace: streams of events, kept open or taken up again and again."""

import http.client
import json
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from tagalong.client import Client, Timing
from tagalong.client.event_stream import messages
from tests.services.load import LONGEST_WAIT
from tests.timeouts import TIMEOUT


class Watcher:
    """Reads the stream of events of the default workspace in a thread, until an event arrives.

    Parameters
    ----------
    url, token : str
        The server.
    events_per_connection : int, optional
        After so many events the connection is closed, and the stream is taken up again with the
        header Last-Event-ID; by default it stays open.
    """

    def __init__(self, url: str, token: str, events_per_connection: int | None = None):
        self._address = urlsplit(url).netloc
        self._token = token
        self._per_connection = events_per_connection
        self._last: int | None = None
        self._changed = threading.Condition()
        self.events: list[dict[str, Any]] = []
        self.connections = 0
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def ids(self) -> list[int]:
        return [event["seq"] for event in self.events]

    def _run(self) -> None:
        try:
            while not self._has_all():
                self._read()
        except BaseException as error:
            self._error = error

    def _has_all(self) -> bool:
        with self._changed:
            return self._last is not None and bool(self.events) and self.ids[-1] >= self._last

    def _read(self) -> None:
        """Read one stream to its end, or until there were enough events."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "text/event-stream"}
        if self.events:
            headers["Last-Event-ID"] = str(self.ids[-1])
        connection = http.client.HTTPConnection(self._address, timeout=TIMEOUT)
        try:
            # The header beats the parameter.
            connection.request("GET", "/api/v1/workspaces/default/events?after=1", headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200
            self.connections += 1
            count = 0
            for message in messages(iter(lambda: answer.read1(1 << 16), b"")):
                if message is None:
                    continue
                assert message.has_id
                with self._changed:
                    self.events.append(json.loads(message.data))
                    assert int(message.id) == self.ids[-1] == 1 + len(self.events)  # one by one
                count += 1
                if count == self._per_connection or self._has_all():
                    return
        finally:
            connection.close()

    def expect(self, last: int) -> None:
        """Say which event, that has not happened yet, is the last one."""
        with self._changed:
            self._last = last

    def finish(self) -> None:
        """Wait until the last event has arrived."""
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), f"{self.ids[-1:]} of {self._last} events have arrived"
        if self._error is not None:
            raise self._error


class Follower:
    """Follows the events of the default workspace with a client, which comes back after a crash.

    Parameters
    ----------
    url, token : str
        The server.
    """

    def __init__(self, url: str, token: str):
        timing = Timing(sleep=lambda seconds: time.sleep(min(seconds, LONGEST_WAIT)))
        self._client = Client(url, token, timeout=TIMEOUT, timing=timing)
        self.ids: list[int | None] = []
        self._last = 0
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for event in self._client.events(after=1):
                self.ids.append(event.seq)
                if event.seq == self._last:
                    return
        except BaseException as error:
            self._error = error

    def finish(self, last: int) -> None:
        """Add an item, which becomes the last event, and wait until that has arrived."""
        with self._client as client:
            self._last = last
            assert client.add("the last one", id="last").seq == last
            self._thread.join(TIMEOUT)
        if self._error is not None:
            raise self._error
        assert not self._thread.is_alive(), f"{self.ids[-1:]} of {last} events have arrived"
