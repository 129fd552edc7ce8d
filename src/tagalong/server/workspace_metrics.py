"""Figures of the open workspaces, for operators."""

from collections.abc import Callable, Iterator, Mapping

from tagalong.evaluate.answers import Answers
from tagalong.journal import Workspace
from tagalong.server.http.metrics import Metrics

__all__ = ["add_workspace_metrics"]

TARGET = 0.95


def add_workspace_metrics(metrics: Metrics, loaded: Callable[[], Mapping[str, Workspace]]) -> None:
    """Add the figures of the workspaces that are in memory.

    Parameters
    ----------
    metrics : Metrics
        The figures of the server.
    loaded : callable
        Returns the workspaces by name.
    """

    def gauge(name: str, help: str, value: Callable[[Workspace], float]) -> None:
        def samples() -> Iterator[tuple[dict[str, str], float]]:
            for workspace, each in loaded().items():
                yield {"workspace": workspace}, value(each)

        metrics.gauge(name, help, samples)

    def items() -> Iterator[tuple[dict[str, str], float]]:
        for workspace, each in loaded().items():
            for state, count in each.stats().items.items():
                yield {"workspace": workspace, "state": state}, count

    gauge("tagalong_events", "Events in the journal.", lambda each: each.stats().events)
    metrics.gauge("tagalong_items", "Items by state.", items)
    gauge("tagalong_labels", "Labels of the model.", lambda each: each.stats().labels)
    gauge(
        "tagalong_journal_lag",
        "Events that the model has not followed yet.",
        lambda each: each.stats().lag,
    )
    gauge("tagalong_model_bytes", "Memory of the model.", lambda each: each.stats().model_bytes)
    gauge(
        "tagalong_refused_answers",
        "Answers that the learner could not learn.",
        lambda each: each.stats().refused,
    )
    gauge(
        "tagalong_answers",
        "First answers, each with a prediction before.",
        lambda each: each.report().items,
    )
    gauge(
        "tagalong_recent_accuracy",
        "Share of the recent first suggestions that were right.",
        lambda each: _recent(each).accuracy,
    )
    gauge(
        "tagalong_recent_sure_share",
        "Share of the recent items that could be filed at 95 %.",
        lambda each: _recent(each).at(TARGET).share,
    )
    gauge(
        "tagalong_recent_sure_precision",
        "Share of them that was right.",
        lambda each: _recent(each).at(TARGET).precision,
    )


def _recent(workspace: Workspace) -> Answers:
    return workspace.report().coverage.recent
