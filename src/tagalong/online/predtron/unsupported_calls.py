"""Errors for calls that a Predtron's problem does not support."""

__all__ = ["GROUP_UNSUPPORTED", "UNSUPPORTED_CALLS", "unsupported_call"]

GROUP_UNSUPPORTED = "group is for subset ranking; this learner has another problem"

_FOR_LABELS = "{call} is for problems with labels, not for {problem!r}"

UNSUPPORTED_CALLS = {
    "confidence": "confidence is for problems with one class per row, not for {given!r}",
    "watch_query": "watch_query is for subset ranking; this learner has another problem",
    "score_query": "score_query is for subset ranking; this learner has another problem",
    "watch_one": _FOR_LABELS.replace("{call}", "learn_one"),
    **dict.fromkeys(
        ("check_example", "rank_one", "score_one"),
        _FOR_LABELS.replace("{call}", "a single example"),
    ),
}
"""Messages of particular calls; all others have `_FOR_LABELS`."""


def unsupported_call(call: str, given: object, problem: object) -> ValueError:
    """Return the error for a call that the problem does not support.

    Parameters
    ----------
    call : str
        The name of the method.
    given : str or Problem
        The parameter ``problem``.
    problem : Problem
        The problem object that it denotes.
    """
    message = UNSUPPORTED_CALLS.get(call, _FOR_LABELS)
    return ValueError(message.format(call=call, given=given, problem=problem))
