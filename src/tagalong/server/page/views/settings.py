"""The settings of a workspace, each with its meaning, and what is wrong beside its field."""

from typing import Any

from starlette.responses import Response

from tagalong.journal import RefusedError, Settings
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Record, Text
from tagalong.server.page.percent_fields import percent_of, percent_text
from tagalong.server.page.rendering import NOTICE, P, page, redirect
from tagalong.server.problems import Problem

__all__ = ["OPERATIONS"]

CHOICES: dict[str, dict[str, Any]] = {
    "labels": {"grow": "grow", "fixed": "fixed"},
    "one_label": {"auto": "auto", "one": True, "several": False},
    "content": {"text": "text", "features": "features"},
    "paused": {"no": False, "yes": True},
}
"""For each setting that is chosen the words of the form, and the values."""
LEAST_AUDIT = 0.1
_WORD = Text(most=200)
NAMES = (*CHOICES, "min_precision", "audit")
FIELDS = Record("SettingsForm", optional=dict.fromkeys(NAMES, _WORD))


def _typed(settings: Settings) -> dict[str, str]:
    """Return the settings as the form has them."""
    found = {
        name: next(word for word, value in words.items() if value == getattr(settings, name))
        for name, words in CHOICES.items()
    }
    return {
        **found,
        "min_precision": percent_text(settings.min_precision),
        "audit": percent_text(settings.audit),
    }


def _checked(typed: dict[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of a form, and for each field that is wrong what would be right."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, words in CHOICES.items():
        if typed.get(name) in words:
            values[name] = words[typed[name]]
        else:
            errors[name] = "Choose one of these."
    for name, bounds in (("min_precision", {"above": 0.0}), ("audit", {"least": LEAST_AUDIT})):
        try:
            values[name] = percent_of(typed.get(name, ""), "This", **bounds)
        except Problem as problem:
            errors[name] = f"{problem.detail}."
    return values, errors


async def show(call: Call) -> Response:
    """Show the settings."""
    async with call.workspace() as workspace:
        typed = _typed(workspace.settings)
        return await page(
            call, workspace, "settings.html", view="settings", typed=typed, errors={}, refusal=""
        )


async def change(call: Call) -> Response:
    """Change the settings that differ, or show the form again with what is wrong."""
    typed = dict(call.body)
    values, errors = _checked(typed)
    refusal = ""
    async with call.workspace() as workspace:
        if not errors:
            present = workspace.settings.to_json()
            changes = {name: value for name, value in values.items() if present[name] != value}
            if not changes:
                return redirect(call, "/settings")
            try:
                seq = await call.run(workspace.change_settings, **changes, **call.key)
                return redirect(call, "/settings", seq)
            except RefusedError as error:
                refusal = str(error)
        shown = {**dict.fromkeys(NAMES, ""), **typed}
        return await page(
            call,
            workspace,
            "settings.html",
            view="settings",
            status=422,
            typed=shown,
            errors=errors,
            refusal=refusal,
        )


OPERATIONS = (
    Operation(
        "settingsPage",
        "GET",
        f"{P}/settings",
        "Show the settings.",
        show,
        query=NOTICE,
        is_change=False,
    ),
    Operation(
        "settingsForm",
        "POST",
        f"{P}/settings",
        "Change settings.",
        change,
        body=FIELDS,
        body_media=FORM,
    ),
)
