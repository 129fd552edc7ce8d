"""Arguments of the commands that use or change a model."""

import argparse

from tagalong.cli import arguments as shared
from tagalong.cli.options.formats import add_reading
from tagalong.cli.options.values import whole

__all__ = ["add_evaluate", "add_explain", "add_inspect", "add_labels", "add_prune", "add_suggest"]

Parser = argparse.ArgumentParser


def add_suggest(parser: Parser) -> None:
    """Add the arguments of ``tagalong suggest``."""
    shared.add_sources(parser, nargs="*")
    shared.add_model(parser)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="the text to file, if there is no SOURCE; else the key or column of the text",
    )
    parser.add_argument(
        "-k", type=whole, default=5, metavar="N", help="at most N labels an item; 5"
    )
    parser.add_argument(
        "--min-precision",
        type=float,
        default=0.95,
        metavar="P",
        help="the share of suggestions called sure that should be right; 0.95",
    )
    parser.add_argument(
        "--only-sure", action="store_true", help="leave out suggestions that are not sure"
    )
    add_reading(parser, renamed={"text": None})


def add_evaluate(parser: Parser) -> None:
    """Add the arguments of ``tagalong evaluate``."""
    shared.add_sources(parser)
    shared.add_model(parser)
    parser.add_argument("--report", metavar="FILE", help="write all figures there, as JSON")
    add_reading(parser)
    shared.add_figures(parser)


def add_explain(parser: Parser) -> None:
    """Add the arguments of ``tagalong explain``."""
    shared.add_sources(parser, nargs="*")
    shared.add_model(parser)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="the text to explain, if there is no SOURCE; else the key or column of the text",
    )
    parser.add_argument("--id", metavar="ID", help="which item of SOURCE; by default the first")
    parser.add_argument("--label", metavar="LABEL", help="by default the best one")
    add_reading(parser, renamed={"text": None, "id": "--id-field"})


def add_inspect(parser: Parser) -> None:
    """Add the arguments of ``tagalong inspect``."""
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument(
        "--label", action="append", default=[], metavar="LABEL", help="show its words; repeatable"
    )
    parser.add_argument(
        "--words", type=whole, metavar="N", help="show N words a label; 10 with --label"
    )


def add_labels(parser: Parser) -> None:
    """Add the arguments of ``tagalong labels``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    rename = actions.add_parser(
        "rename", help="give a label another name", description="Give a label another name."
    )
    merge = actions.add_parser(
        "merge", help="make one label of several", description="Make one label of several."
    )
    forget = actions.add_parser(
        "forget", help="take labels away", description="Take labels away, with what was learnt."
    )
    for action in (rename, merge, forget):
        action.add_argument("model", metavar="MODEL", help="a model file; it is changed")
    rename.add_argument("old", metavar="OLD", help="its name so far")
    rename.add_argument("new", metavar="NEW", help="its name from now on")
    merge.add_argument("labels", metavar="LABEL", nargs="+", help="which ones")
    merge.add_argument("--into", metavar="LABEL", required=True, help="the name of the new one")
    forget.add_argument("labels", metavar="LABEL", nargs="+", help="which ones")
    for action in (rename, merge, forget):
        shared.add_output(action)


def add_prune(parser: Parser) -> None:
    """Add the arguments of ``tagalong prune``."""
    parser.add_argument("model", metavar="MODEL", help="a model file; it is changed")
    parser.add_argument(
        "--features", type=whole, required=True, metavar="N", help="how many to keep"
    )
