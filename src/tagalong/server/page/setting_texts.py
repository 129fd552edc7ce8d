"""Settings of a workspace as words for people."""

from collections.abc import Mapping
from typing import Any

__all__ = ["settings_text"]

_WORDS: Mapping[str, Mapping[Any, str]] = {
    "labels": {"grow": "answers may bring new labels", "fixed": "answers bring no new labels"},
    "one_label": {
        "auto": "labels per item follow from the answers",
        True: "one label per item",
        False: "several labels per item",
    },
    "content": {"text": "the text of items is kept", "features": "no text of items is kept"},
    "paused": {True: "nothing is filed without asking", False: "what is sure may be filed"},
}


def settings_text(changes: Mapping[str, Any]) -> str:
    """Return new values of settings as one sentence.

    Parameters
    ----------
    changes : mapping of str to object
        The values by name.
    """
    return "Settings: " + ", ".join(_text(name, value) for name, value in changes.items())


def _text(name: str, value: Any) -> str:
    if name == "min_precision":
        return f"{100 * value:.10g} % have to be right"
    if name == "audit":
        return f"spot checks of {100 * value:.10g} %"
    return _WORDS.get(name, {}).get(value, f"{name} is {value}")
