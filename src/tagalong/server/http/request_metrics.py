"""The figures about requests and connections that a server counts."""

from tagalong.server.http.metrics import Metrics

__all__ = ["BUCKETS", "RequestMetrics"]

# Seconds: from a suggestion out of memory to a request that is hardly answered in time.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestMetrics:
    """Counts requests by operation and status, and those that were turned away by reason.

    Parameters
    ----------
    metrics : Metrics
        The metrics of the server, to which these are added.

    Attributes
    ----------
    in_flight : int
        Number of requests that are not answered yet, event streams included.
    connections : int
        Number of open connections.
    """

    def __init__(self, metrics: Metrics):
        self.in_flight = 0
        self.connections = 0
        self._requests = metrics.counter(
            "tagalong_requests_total",
            "Requests by operation and status; status none: the client left before the answer.",
            ("operation", "status"),
        )
        self._seconds = metrics.histogram(
            "tagalong_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            BUCKETS,
            ("operation",),
        )
        self._rejected = metrics.counter(
            "tagalong_rejected_total",
            "Requests and connections that were turned away because of a limit, by reason.",
            ("reason",),
        )
        self._unlogged = metrics.counter(
            "tagalong_access_log_lost_total",
            "Lines of the access log that could not be written.",
        )
        metrics.gauge(
            "tagalong_requests_in_flight",
            "Requests that are not answered yet, event streams included.",
            lambda: [({}, self.in_flight)],
        )
        metrics.gauge("tagalong_connections", "Open connections.", lambda: [({}, self.connections)])

    def finish(self, operation: str, status: int | None, seconds: float) -> None:
        """Count a request whose answer is complete.

        Parameters
        ----------
        operation : str
            Name of the operation.
        status : int or None
            Status code of the answer; None if the client left before it.
        seconds : float
            How long it took.
        """
        self._requests.add(operation, "none" if status is None else str(status))
        self._seconds.add(seconds, operation)

    def reject(self, reason: str) -> None:
        """Count a request or a connection that is turned away.

        Parameters
        ----------
        reason : str
            The limit, such as "overload" or "head-size".
        """
        self._rejected.add(reason)

    def lose_log_lines(self, count: int) -> None:
        """Count lines of the access log that could not be written.

        Parameters
        ----------
        count : int
            Number of lines.
        """
        self._unlogged.add(by=count)
