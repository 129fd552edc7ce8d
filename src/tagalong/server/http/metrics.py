"""Counters, gauges and histograms in the text format of Prometheus, version 0.0.4."""

import math
import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

__all__ = ["CONTENT_TYPE", "Counter", "Histogram", "Metrics", "Samples"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# The present values of a gauge: for each of them its labels and the value.
Samples: TypeAlias = Iterable[tuple[Mapping[str, str], float]]

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


class Metric(Protocol):
    """A metric that `Metrics.render` writes."""

    kind: str

    def lines(self, name: str) -> Iterator[str]:
        """Yield the samples.

        Parameters
        ----------
        name : str
            Name of the metric.
        """
        ...


M = TypeVar("M", bound=Metric)


class Metrics:
    """The metrics of a server, in the order in which they were made. All methods are thread-safe.

    Examples
    --------
    >>> metrics = Metrics()
    >>> answers = metrics.counter("answers_total", "Answers.", ["workspace"])
    >>> answers.add("default")
    >>> print(metrics.render(), end="")
    # HELP answers_total Answers.
    # TYPE answers_total counter
    answers_total{workspace="default"} 1
    """

    def __init__(self) -> None:
        self._metrics: dict[str, tuple[str, Metric]] = {}
        self._lock = threading.Lock()

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> "Counter":
        """Return a new counter.

        Parameters
        ----------
        name : str
            Its name, which ends in ``_total``.
        help : str
            One sentence about it.
        labels : sequence of str
            Names of its labels.
        """
        return self._add(name, help, Counter(labels))

    def histogram(
        self, name: str, help: str, buckets: Sequence[float], labels: Sequence[str] = ()
    ) -> "Histogram":
        """Return a new histogram.

        Parameters
        ----------
        name : str
            Its name.
        help : str
            One sentence about it.
        buckets : sequence of float
            Upper bounds of the buckets, in ascending order; the last bucket has none.
        labels : sequence of str
            Names of its labels.
        """
        return self._add(name, help, Histogram(buckets, labels))

    def gauge(self, name: str, help: str, values: Callable[[], Samples]) -> None:
        """Add a gauge, whose values are asked for whenever the metrics are read.

        Parameters
        ----------
        name : str
            Its name.
        help : str
            One sentence about it.
        values : callable
            Returns pairs of labels and value. If it raises an exception, the gauge is left out
            this time: the other metrics are still read.
        """
        self._add(name, help, _Gauge(values))

    def _add(self, name: str, help: str, metric: M) -> M:
        _check_name(name)
        with self._lock:
            if name in self._metrics:
                raise ValueError(f"there is a metric with the name {name} already")
            self._metrics[name] = help, metric
        return metric

    def render(self) -> str:
        """Return all metrics as text."""
        with self._lock:
            metrics = list(self._metrics.items())
        found: list[str] = []
        for name, (help, metric) in metrics:
            try:
                lines = list(metric.lines(name))
            except Exception:  # a workspace that is closed meanwhile, for example
                continue
            found += [f"# HELP {name} {help.translate(_HELP_ESCAPES)}"]
            found += [f"# TYPE {name} {metric.kind}", *lines]
        return "".join(f"{line}\n" for line in found)


class Counter:
    """Numbers that only grow, one for each combination of label values.

    Parameters
    ----------
    labels : sequence of str
        Names of the labels.
    """

    kind = "counter"

    def __init__(self, labels: Sequence[str] = ()):
        self._labels = _checked_labels(labels)
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0}
        self._lock = threading.Lock()

    def add(self, *labels: str, by: float = 1) -> None:
        """Count something.

        Parameters
        ----------
        labels : str
            Values of the labels.
        by : float
            The number to add.
        """
        _check_count(labels, self._labels)
        with self._lock:
            self._values[labels] = self._values.get(labels, 0) + by

    def lines(self, name: str) -> Iterator[str]:
        """Yield the samples.

        Parameters
        ----------
        name : str
            Name of the metric.
        """
        with self._lock:
            values = list(self._values.items())
        for labels, value in values:
            yield _line(name, dict(zip(self._labels, labels, strict=True)), value)


class Histogram:
    """How often values fell into each bucket, for each combination of label values.

    Parameters
    ----------
    buckets : sequence of float
        Upper bounds of the buckets, in ascending order.
    labels : sequence of str
        Names of the labels.
    """

    kind = "histogram"

    def __init__(self, buckets: Sequence[float], labels: Sequence[str] = ()):
        if list(buckets) != sorted(set(buckets)):
            raise ValueError(f"buckets must be in ascending order, got {buckets!r}")
        self._bounds = tuple(buckets)
        self._labels = _checked_labels(labels)
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()

    def add(self, value: float, *labels: str) -> None:
        """Count a value.

        Parameters
        ----------
        value : float
            The value.
        labels : str
            Values of the labels.
        """
        _check_count(labels, self._labels)
        with self._lock:
            counts = self._counts.get(labels)
            if counts is None:
                counts = self._counts[labels] = [0] * (len(self._bounds) + 1)
            counts[bisect_left(self._bounds, value)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self, name: str) -> Iterator[str]:
        """Yield the samples: cumulative buckets, sum and count.

        Parameters
        ----------
        name : str
            Name of the metric.
        """
        with self._lock:
            found = [
                (labels, list(self._counts[labels]), self._sums[labels]) for labels in self._sums
            ]
        for values, counts, total in found:
            labels = dict(zip(self._labels, values, strict=True))
            below = 0
            for bound, count in zip((*self._bounds, math.inf), counts, strict=True):
                below += count
                yield _line(f"{name}_bucket", {**labels, "le": _number(bound)}, below)
            yield _line(f"{name}_sum", labels, total)
            yield _line(f"{name}_count", labels, below)


class _Gauge:
    """Values that are computed when they are read."""

    kind = "gauge"

    def __init__(self, values: Callable[[], Samples]):
        self._values = values

    def lines(self, name: str) -> Iterator[str]:
        for labels, value in self._values():
            _checked_labels(tuple(labels))
            yield _line(name, labels, value)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {_number(value)}" if inside else f"{name} {_number(value)}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a metric: use letters, digits and underscores")


def _checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    for name in labels:
        if not _NAME.fullmatch(name) or ":" in name or name == "le":
            raise ValueError(f"{name!r} is no name of a label: use letters, digits and underscores")
    return tuple(labels)


def _check_count(values: tuple[str, ...], labels: tuple[str, ...]) -> None:
    if len(values) != len(labels):
        raise ValueError(f"the labels are {labels}, got the values {values}")
