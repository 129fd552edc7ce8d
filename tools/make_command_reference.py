"""Write docs/commands.md from the command-line parser.

python tools/make_command_reference.py           # write the page
python tools/make_command_reference.py --check   # fail if the page is out of date
"""

import argparse
import sys
from pathlib import Path

from tagalong.cli.errors import EXIT_CODES
from tagalong.cli.parser import COMMANDS, EXAMPLE, make_parser

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
TOOL = "tools/make_command_reference.py"


def reference() -> str:
    """Return the text of the page."""
    parser = make_parser()
    commands = _subparsers(parser)
    lines = [
        "# Commands",
        "",
        f"<!-- Written by {TOOL} from the parser. -->",
        "",
        parser.description or "",
        "",
        *(f"    {line.strip()}" for line in EXAMPLE.splitlines()[1:]),
        "",
        "Results go to standard output, everything else to standard error. With `--json` standard",
        "output contains only JSON: one document on one line, or one line per item. Output that",
        "does not go to a terminal is plain text; `NO_COLOR` switches colours off everywhere. An",
        "error message has one or two lines; `TAGALONG_DEBUG=1` adds the traceback. `tagalong`",
        "alone lists the commands on standard output, with exit code 0.",
        "",
        "Labels, words, subjects and names come from outside. Text shows their control and format",
        "characters as escapes such as `\\x1b`, in messages and in pipes too; so soft hyphens,",
        "zero-width and private-use characters and joiners inside emoji appear as escapes.",
        "JSON escapes them by its own rules, so its values are exact. Data for other programs",
        "(`convert ... -`, `suggest --to csv`, `completion`) are exact in a pipe or a file; on a",
        "terminal they are shown escaped as well.",
        "",
        "| exit code | meaning |",
        "|---:|---|",
        *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()),
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [`{name}`](#{name}) | {command.help} |" for name, command in COMMANDS.items()),
    ]
    for name, command in commands.items():
        lines += ["", f"## {name}", "", *_describe(command)]
        for action, subparser in _subparsers(command).items():
            lines += ["", f"### {name} {action}", "", *_describe(subparser)]
    return "\n".join(lines) + "\n"


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _describe(parser: argparse.ArgumentParser) -> list[str]:
    lines = [parser.description or "", ""]
    if parser.usage:
        lines += [f"    {parser.usage}", ""]
    for group in parser._action_groups:
        rows = [
            f"| {_signature(action)} | {_cell(action.help or '')} |"
            for action in group._group_actions
            if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
        ]
        if rows:
            title = {"positional arguments": "argument", "options": "option"}
            lines += [f"| {title.get(group.title or '', group.title)} | |", "|---|---|", *rows, ""]
    return lines[:-1]


def _signature(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else (action.dest or "").upper()
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"`{_cell(value)}`"
    flags = ", ".join(action.option_strings)
    return f"`{flags}`" if action.nargs == 0 else f"`{_cell(f'{flags} {value}')}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write or check the page."""
    if "--check" in sys.argv[1:]:
        if PAGE.read_text(encoding="utf-8") != reference():
            print(f"{PAGE.name} is out of date: run python {TOOL}", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
