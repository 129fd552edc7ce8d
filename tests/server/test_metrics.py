"""Metrics in the text format of Prometheus."""

import math
import threading

import pytest

from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics


def test_counters():
    metrics = Metrics()
    plain = metrics.counter("a_total", "Plain.")
    labelled = metrics.counter("b_total", "With labels.", ["x", "y"])
    plain.add(by=2.5)
    labelled.add("1", "2")
    labelled.add("1", "2", by=3)
    labelled.add("1", "3")
    assert metrics.render() == (
        "# HELP a_total Plain.\n"
        "# TYPE a_total counter\n"
        "a_total 2.5\n"
        "# HELP b_total With labels.\n"
        "# TYPE b_total counter\n"
        'b_total{x="1",y="2"} 4\n'
        'b_total{x="1",y="3"} 1\n'
    )


def test_a_counter_without_labels_begins_at_zero():
    metrics = Metrics()
    metrics.counter("a_total", "Plain.")
    assert "\na_total 0\n" in metrics.render()


def test_histograms_are_cumulative_and_bounds_belong_to_their_bucket():
    metrics = Metrics()
    seconds = metrics.histogram("s", "Seconds.", (0.5, 1.0), ["op"])
    for value in (0.25, 0.5, 0.75, 8.0):
        seconds.add(value, "get")
    assert metrics.render().splitlines() == [
        "# HELP s Seconds.",
        "# TYPE s histogram",
        's_bucket{op="get",le="0.5"} 2',
        's_bucket{op="get",le="1.0"} 3',
        's_bucket{op="get",le="+Inf"} 4',
        's_sum{op="get"} 9.5',
        's_count{op="get"} 4',
    ]


def test_gauges_are_asked_when_they_are_read():
    metrics = Metrics()
    values = [({"workspace": "default"}, 1.0)]
    metrics.gauge("lag", "Lag.", lambda: values)
    assert 'lag{workspace="default"} 1.0\n' in metrics.render()
    values[:] = [({"workspace": "b"}, math.nan), ({"workspace": "c"}, -math.inf)]
    assert metrics.render().splitlines()[2:] == [
        'lag{workspace="b"} NaN',
        'lag{workspace="c"} -Inf',
    ]


def test_a_gauge_that_fails_leaves_the_others():
    metrics = Metrics()
    metrics.gauge("bad", "Bad.", lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    metrics.gauge("good", "Good.", lambda: [({}, 7)])
    assert metrics.render() == "# HELP good Good.\n# TYPE good gauge\ngood 7\n"


def test_label_values_and_help_are_escaped():
    metrics = Metrics()
    metrics.gauge("g", 'back\\slash\n"quoted"', lambda: [({"l": 'a"b\\c\nd'}, 1)])
    assert metrics.render().splitlines() == [
        '# HELP g back\\\\slash\\n"quoted"',
        "# TYPE g gauge",
        'g{l="a\\"b\\\\c\\nd"} 1',
    ]


def test_wrong_names_and_labels_are_refused():
    metrics = Metrics()
    with pytest.raises(ValueError, match="'a b' is no name"):
        metrics.counter("a b", "")
    with pytest.raises(ValueError, match="'le' is no name"):
        metrics.histogram("h", "", (1,), ["le"])
    with pytest.raises(ValueError, match="ascending"):
        metrics.histogram("h", "", (2, 1))
    counter = metrics.counter("c", "", ["x"])
    with pytest.raises(ValueError, match="the labels are"):
        counter.add()
    with pytest.raises(ValueError, match="already"):
        metrics.gauge("c", "", list)


def test_counting_in_several_threads_loses_nothing():
    metrics = Metrics()
    counter = metrics.counter("c", "", ["x"])
    histogram = metrics.histogram("h", "", (1,))

    def count() -> None:
        for _ in range(2000):
            counter.add("a")
            histogram.add(0.5)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 'c{x="a"} 8000\n' in metrics.render()
    assert "h_count 8000\n" in metrics.render()


def test_figures_of_requests():
    metrics = Metrics()
    requests = RequestMetrics(metrics)
    requests.in_flight = 2
    requests.connections = 3
    requests.finish("answerItem", 200, 0.0004)
    requests.finish("answerItem", None, 20.0)
    requests.reject("overload")
    requests.lose_log_lines(5)
    text = metrics.render()
    for line in (
        'tagalong_requests_total{operation="answerItem",status="200"} 1',
        'tagalong_requests_total{operation="answerItem",status="none"} 1',
        'tagalong_request_seconds_bucket{operation="answerItem",le="0.0005"} 1',
        'tagalong_request_seconds_bucket{operation="answerItem",le="10.0"} 1',
        'tagalong_request_seconds_bucket{operation="answerItem",le="+Inf"} 2',
        'tagalong_rejected_total{reason="overload"} 1',
        "tagalong_access_log_lost_total 5",
        "tagalong_requests_in_flight 2",
        "tagalong_connections 3",
    ):
        assert f"{line}\n" in text
