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
        help="without SOURCE: the text to suggest labels for. With SOURCE: the key or column "
        "that holds the text",
    )
    parser.add_argument(
        "-k",
        type=whole,
        default=5,
        metavar="N",
        help="suggest at most N labels per item (default: 5)",
    )
    parser.add_argument(
        "--min-precision",
        type=float,
        default=0.95,
        metavar="P",
        help="mark a suggestion as sure if it is right with at least this estimated probability "
        "(default: 0.95)",
    )
    parser.add_argument(
        "--only-sure", action="store_true", help="show only suggestions that are marked as sure"
    )
    add_reading(parser, renamed={"text": None})


def add_evaluate(parser: Parser) -> None:
    """Add the arguments of ``tagalong evaluate``."""
    shared.add_sources(parser)
    shared.add_model(parser)
    parser.add_argument(
        "--report", metavar="FILE", help="JSON file to write all measures to (default: none)"
    )
    shared.add_plot(parser)
    add_reading(parser)
    shared.add_measures(parser)


def add_explain(parser: Parser) -> None:
    """Add the arguments of ``tagalong explain``."""
    shared.add_sources(parser, nargs="*")
    shared.add_model(parser)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="without SOURCE: the text to explain. With SOURCE: the key or column that holds "
        "the text",
    )
    parser.add_argument(
        "--id", metavar="ID", help="id of the item of SOURCE to explain (default: the first item)"
    )
    parser.add_argument(
        "--label", metavar="LABEL", help="label to explain (default: the one with the best score)"
    )
    add_reading(parser, renamed={"text": None, "id": "--id-field"})


def add_inspect(parser: Parser) -> None:
    """Add the arguments of ``tagalong inspect``."""
    parser.add_argument("model", metavar="MODEL", help="model file to show")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="LABEL",
        help="show the words with the largest weights for this label; can be given several times",
    )
    parser.add_argument(
        "--words",
        type=whole,
        metavar="N",
        help="show N words per label, for all labels if there is no --label (default: 10 with "
        "--label, otherwise none)",
    )
    shared.add_certificate(parser)


def add_labels(parser: Parser) -> None:
    """Add the arguments of ``tagalong labels``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    rename = actions.add_parser(
        "rename", help="change the name of a label", description="Change the name of a label."
    )
    merge = actions.add_parser(
        "merge", help="merge labels into one", description="Merge two or more labels into one."
    )
    forget = actions.add_parser(
        "forget",
        help="remove labels and their weights",
        description="Remove labels and their weights.",
    )
    for action in (rename, merge, forget):
        action.add_argument("model", metavar="MODEL", help="model file to change")
    rename.add_argument("old", metavar="OLD", help="present name of the label")
    rename.add_argument("new", metavar="NEW", help="new name of the label")
    merge.add_argument("labels", metavar="LABEL", nargs="+", help="labels to merge")
    merge.add_argument(
        "--into",
        metavar="LABEL",
        required=True,
        help="name of the merged label: a new name, or one of the labels of the model",
    )
    forget.add_argument("labels", metavar="LABEL", nargs="+", help="labels to remove")
    for action in (rename, merge, forget):
        shared.add_output(action)


def add_prune(parser: Parser) -> None:
    """Add the arguments of ``tagalong prune``."""
    parser.add_argument("model", metavar="MODEL", help="model file to change")
    parser.add_argument(
        "--features",
        type=whole,
        required=True,
        metavar="N",
        help="number of features to keep: those with the longest weight vectors",
    )
