"""Mixtures of rankers that have learnt the parts of a stream: see `tagalong.mix`."""

from collections.abc import Hashable, Sequence
from typing import Any

from tagalong import _native as core
from tagalong.learning import model_files
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.online.native import EditableRanker

__all__ = ["mix_rankers"]


def mix_rankers(
    rankers: Sequence[LabelRanker],
    factors: Sequence[float],
    base: LabelRanker | None = None,
    features: Sequence[Sequence[int]] | None = None,
    kind: str = "ranker",
) -> LabelRanker:
    """Return the mixture of rankers; ValueError if they cannot be mixed.

    Parameters
    ----------
    rankers : sequence of LabelRanker
        The rankers, each with labels.
    factors : sequence of float
        One factor from 0 to 1 per ranker.
    base : LabelRanker, optional
        The ranker that all of them have started from.
    features : sequence of sequences of int, optional
        The numbers of each ranker's features in the mixture, those of `base` last. By default
        features are aligned by name, or have the same numbers.
    kind : str
        What the caller calls a ranker; error messages name one by kind and number.
    """
    given = [*rankers, *([] if base is None else [base])]
    whose = [f"{kind} {number}" for number in range(len(rankers))] + ["base"]
    for ranker, place in zip(given, whose, strict=False):
        if not ranker.is_started:
            raise ValueError(f"{place} has learnt nothing: leave it out")
    parts = [ranker.mixing_parts() for ranker in given]
    headers = [header for header, _ in parts]
    _check_settings(headers, whose, kind)
    _check_columns(headers, whose)
    labels = _Union([_labels(header) for header in headers], None if base is None else whose)
    names = _Union([header["names"] or [] for header in headers])
    if features is None:
        features = names.numbers
    mixed = [
        (native, numbers, of_features)
        for (_, native), numbers, of_features in zip(parts, labels.numbers, features, strict=True)
    ]
    start = mixed.pop() if base is not None else None
    restarts = [_restart(header, native) for header, native in parts]
    reason = _restart_reason(
        restarts[: len(rankers)], (0, "") if base is None else restarts[-1], kind
    )
    state = core.mixed(
        mixed,  # type: ignore[arg-type]
        list(factors),
        start,  # type: ignore[arg-type]
        len(labels.members),
        bool(reason),
        kind,
    )
    header = {
        **headers[0],
        "settings": {
            **headers[0]["settings"],
            "n_features": max(header["settings"]["n_features"] for header in headers),
        },
        "labels": [model_files.encode_label(name) for name in labels.members],
        "grows": any(header["grows"] for header in headers),
        "n_features_in": max(header["n_features_in"] or 0 for header in headers) or None,
        "names": None if headers[0]["names"] is None else names.members,
        "restarted": reason or headers[0]["restarted"],
        "numbers": state["numbers"],
    }
    return LabelRanker.from_parts(header, state["arrays"])


class _Union:
    """The members of several lists, each once, and the numbers that those of each list have.

    Parameters
    ----------
    lists : sequence of lists
        The lists; the last one comes first in the union if `whose` says that it is the base.
    whose : sequence of str, optional
        The names of the lists, the last of which must be a part of all others.
    """

    def __init__(self, lists: Sequence[list[Any]], whose: Sequence[str] | None = None):
        number: dict[Any, int] = {}
        for members in [lists[-1], *lists[:-1]] if whose else lists:
            for member in members:
                number.setdefault(member, len(number))
        self.members = list(number)
        self.numbers = [[number[member] for member in members] for members in lists]
        for members, place in zip(lists, whose or (), strict=False):
            known = set(members)
            missing = next((member for member in lists[-1] if member not in known), None)
            if missing is not None:
                raise ValueError(f"{place} has not started from base: it has no label {missing!r}")


def _labels(header: dict[str, Any]) -> list[Hashable]:
    return list(map(model_files.decode_label, header["labels"]))


def _check_settings(headers: Sequence[dict[str, Any]], whose: Sequence[str], kind: str) -> None:
    first = headers[0]["settings"]
    for header, place in zip(headers, whose, strict=False):
        settings = header["settings"]
        if settings["race"]:
            raise ValueError(
                f"{place} is a race of learners, whose contestants come and go; only single "
                "learners can be mixed: LabelRanker(race=None)"
            )
        for name in first:
            if name != "n_features" and settings[name] != first[name]:
                raise ValueError(
                    f"{kind}s must have equal settings to be mixed, but {name} is {first[name]!r} "
                    f"in {whose[0]} and {settings[name]!r} in {place}"
                )
        if header["single"] != headers[0]["single"]:
            raise ValueError(
                f"{whose[0]} and {place} differ in whether targets are one label per row"
            )
    if first["geometry"] == "entropic":
        raise ValueError(
            "rankers with geometry='entropic' cannot be mixed; those with 'euclidean' and "
            "'adaptive' can"
        )
    if first["relevance"] != "none":
        raise ValueError(
            "rankers with relevance=True cannot be mixed, as the relevances of a feature differ "
            "between them; those with relevance=False can"
        )


def _check_columns(headers: Sequence[dict[str, Any]], whose: Sequence[str]) -> None:
    """Raise ValueError if features of the same number may mean different things."""
    counted = [
        (header["n_features_in"], place)
        for header, place in zip(headers, whose, strict=False)
        if header["n_features_in"] is not None
    ]
    for count, place in counted:
        if count != counted[0][0]:
            raise ValueError(
                f"{counted[0][1]} has learnt matrices of {counted[0][0]} columns, but {place} of "
                f"{count}"
            )
    for header, place in zip(headers, whose, strict=False):
        if header["columns"] != headers[0]["columns"]:
            raise ValueError(
                f"{whose[0]} and {place} have learnt DataFrames with different columns"
            )
        if (header["names"] is None) != (headers[0]["names"] is None):
            raise ValueError(
                f"{whose[0]} and {place} cannot be mixed: one knows its features by name, the "
                "other by number"
            )


def _restart(header: dict[str, Any], native: EditableRanker) -> tuple[int, str]:
    """Return after how many rounds a ranker's certificate has started anew, and why."""
    return native.rounds - native.certificate().rounds, header["restarted"]


def _restart_reason(restarts: Sequence[tuple[int, str]], before: tuple[int, str], kind: str) -> str:
    """Return why the certificate of the mixture starts anew; empty if it does not."""
    changed = [why for rounds, why in restarts if (rounds, why) != before]
    if not changed:
        return ""
    return f"{len(restarts)} {kind}s were mixed, one of which had started anew: {changed[0]}"
