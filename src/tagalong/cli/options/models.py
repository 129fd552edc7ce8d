"""Arguments of the commands that use or change a model."""

import argparse
from typing import Any

from tagalong.cli import arguments as shared
from tagalong.cli.options.cluster import add_cluster
from tagalong.cli.options.formats import add_reading
from tagalong.cli.options.values import at_least_one, precision, size, whole

__all__ = [
    "add_evaluate",
    "add_explain",
    "add_export",
    "add_inspect",
    "add_labels",
    "add_prune",
    "add_suggest",
]

Parser = argparse.ArgumentParser


def add_suggest(parser: Parser) -> None:
    """Add the arguments of ``tagalong suggest``."""
    shared.add_sources(parser, nargs="*")
    shared.add_model_or_workspace(parser, server=True)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="without SOURCE: the text to suggest labels for. With SOURCE: the key or column "
        "that holds the text",
    )
    parser.add_argument(
        "-k",
        type=at_least_one,
        default=5,
        metavar="N",
        help="suggest at most N labels per item (default: 5)",
    )
    parser.add_argument(
        "--min-precision",
        type=precision,
        metavar="P",
        help="mark suggestions as sure so that this share of all marked ones is right (default: "
        "0.95); a label with its own target keeps it, see 'tagalong labels set'",
    )
    parser.add_argument(
        "--only-sure",
        action="store_true",
        help="write only suggestions that are marked as sure; items without any stay, empty",
    )
    _add_table(parser)
    add_cluster(
        parser,
        ", and write one file per SOURCE, or part of a large file of JSON lines, into the folder "
        "--out; the same command continues a run that was interrupted",
    )
    parser.add_argument(
        "--shard-size",
        type=size,
        default=64 << 20,
        metavar="BYTES",
        help="with --workers or --scheduler: size of the parts of a large file of JSON lines, in "
        "bytes, or with k, M or G (default: 64M)",
    )
    shared.add_every(parser)
    shared.add_server_access(parser)
    add_reading(parser, renamed={"text": None})
    names = ("min_precision", "only_sure", "to", "exact", "bom", "shard_size")
    flags = {name: f"--{name.replace('_', '-')}" for name in names} | {"k": "-k"}
    parser.set_defaults(reading_flags=parser.get_default("reading_flags") | flags)


def _add_table(parser: Parser) -> None:
    """Add the options that write suggestions as a table."""
    group = parser.add_argument_group("table")
    group.add_argument(
        "--to",
        choices=("csv", "jsonl", "parquet"),
        help="write a table with one row per item and the columns id, label_1, probability_1, "
        "sure_1, label_2, ... up to -k, then chosen (number of labels that belong to the answer), "
        "whole (probability that exactly these are right), known (number of known features) and "
        "audited (ask about this item, even if it is sure). Default: the format of the ending "
        ".csv or .parquet of --out, otherwise one line of nested JSON per item",
    )
    out = group.add_argument(
        "--out",
        metavar="FILE",
        help="file to write to instead of standard output; may end in .gz, .xz, .bz2 or .zst. An "
        "existing file is replaced when the new one is complete; items that arrive one by one "
        "are written at once. With --workers or --scheduler: the folder to write to",
    )
    out.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]
    group.add_argument(
        "--exact",
        action="store_true",
        help="CSV: write texts as they are. By default an apostrophe is put in front of ids and "
        "labels that a spreadsheet would take for formulas, such as =A1",
    )
    group.add_argument(
        "--bom",
        action="store_true",
        help="CSV: begin with a byte order mark, so that Excel opens the file as UTF-8",
    )


def add_evaluate(parser: Parser) -> None:
    """Add the arguments of ``tagalong evaluate``."""
    shared.add_sources(parser)
    shared.add_model_or_workspace(parser)
    parser.add_argument(
        "--report", metavar="FILE", help="JSON file to write all measures to (default: none)"
    )
    shared.add_plot(parser)
    add_reading(parser)
    shared.add_measures(parser)


def add_explain(parser: Parser) -> None:
    """Add the arguments of ``tagalong explain``."""
    shared.add_sources(parser, nargs="*")
    shared.add_model_or_workspace(parser)
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
    _add_labels_list(actions)
    _add_labels_set(actions)
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
        action.add_argument("model", metavar="MODEL", help="model file or workspace to change")
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
        shared.add_wait(action)
        shared.add_output(action)


def _add_labels_list(actions: Any) -> None:
    listed = actions.add_parser(
        "list",
        help="show the labels with their frequency and their own targets",
        description="Show the labels: how many items each has, how many items ago the last one "
        "was, and the label's own target.",
    )
    listed.add_argument("model", metavar="MODEL", help="model file or workspace to read")
    listed.add_argument(
        "--sort",
        choices=("items", "last", "name"),
        default="items",
        help="order of the labels: most items first (items, the default), longest unused first "
        "(last), or by name",
    )
    shared.add_output(listed)


def _add_labels_set(actions: Any) -> None:
    target = actions.add_parser(
        "set",
        help="set how precise labels must be to be marked sure",
        description="Set how precise labels must be to be marked sure, or that they never are. "
        "The labels' own target applies in 'suggest' and 'file', whatever their --min-precision "
        "is.",
    )
    target.add_argument("model", metavar="MODEL", help="model file or workspace to change")
    target.add_argument("labels", metavar="LABEL", nargs="+", help="labels to set the target of")
    value = target.add_mutually_exclusive_group(required=True)
    value.add_argument(
        "--min-precision",
        type=precision,
        metavar="P",
        help="mark the labels as sure so that this share of the marked ones is right",
    )
    value.add_argument("--never", action="store_true", help="never mark the labels as sure")
    value.add_argument("--default", action="store_true", help="remove the labels' own target again")
    shared.add_wait(target)
    shared.add_output(target)


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
    shared.add_wait(parser)


def add_export(parser: Parser) -> None:
    """Add the arguments of ``tagalong export``."""
    parser.add_argument("model", metavar="MODEL", help="model file of a label-ranker")
    parser.add_argument(
        "--compact",
        action="store_true",
        required=True,
        help="drop small weights and round the others: a twentieth of the size or less, for "
        "predictions only",
    )
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="file to write the compact model to"
    )
    shared.add_wait(parser)
