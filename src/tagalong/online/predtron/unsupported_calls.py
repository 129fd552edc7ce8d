"""What a Predtron answers to calls that do not fit its problem."""

from typing import Any

__all__ = ["GROUP_UNSUPPORTED", "UNSUPPORTED_CALLS", "unsupported_call"]

GROUP_UNSUPPORTED = "group is for subset ranking; this learner has another problem"

_FOR_LABELS = "{call} is for problems with labels, not for {problem!r}"

UNSUPPORTED_CALLS = {
    "confidence": "confidence is for problems with one class a row, not {given!r}",
    "watch_query": "watch_query is for subset ranking; this learner has another problem",
    "watch_one": _FOR_LABELS.replace("{call}", "learn_one"),
    **dict.fromkeys(
        ("check_example", "rank_one", "score_one"),
        _FOR_LABELS.replace("{call}", "a single example"),
    ),
}
"""The words for calls that only some problems have; for the others see `refusal`."""


def unsupported_call(call: str, given: Any, problem: Any) -> ValueError:
    """Return the error of a call that does not fit the problem.

    Parameters
    ----------
    call : str
        The method.
    given : str or Problem
        The problem, as the parameter has it.
    problem : Problem
        The problem itself.
    """
    words = UNSUPPORTED_CALLS.get(call, _FOR_LABELS)
    return ValueError(words.format(call=call, given=given, problem=problem))
