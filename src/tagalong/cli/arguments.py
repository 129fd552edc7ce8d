"""Command-line arguments that several commands share."""

import argparse

from tagalong.cli.command_parser import ArgumentGroup
from tagalong.cli.options.values import (
    at_least_one,
    buckets,
    grades,
    positive,
    race,
    seconds,
    setting,
    span,
)
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES, PREDTRON_UPDATES

__all__ = [
    "ALL_UPDATES",
    "CONTESTANTS",
    "GEOMETRIES",
    "PLOT_KINDS",
    "PROBLEMS",
    "SWITCHES",
    "UPDATES",
    "UPDATES_IN_WORDS",
    "WAIT",
    "WEIGHTINGS",
    "add_certificate",
    "add_every",
    "add_features",
    "add_learner",
    "add_measures",
    "add_model",
    "add_model_or_workspace",
    "add_output",
    "add_plot",
    "add_server",
    "add_server_access",
    "add_sources",
    "add_wait",
    "add_workspace",
]

# The update rules of the label-ranker, and those of all learners without duplicates.
UPDATES = tuple(LABEL_RULES)
ALL_UPDATES = tuple(dict.fromkeys((*LABEL_RULES, *BLOCK_RULES, *PREDTRON_UPDATES)))
_DESCRIPTIONS = {
    **{name: update.description for name, update in PREDTRON_UPDATES.items()},
    **{name: rule.description for name, rule in BLOCK_RULES.items()},
    **{name: rule.description for name, rule in LABEL_RULES.items()},
}
UPDATES_IN_WORDS = "; ".join(f"{name} {_DESCRIPTIONS[name]}" for name in ALL_UPDATES)
# Copies of names in tagalong.problems, tagalong.online.label_ranker.learner and
# tagalong.text.features, which are slow to import.
PROBLEMS = ("binary", "multiclass", "ordinal", "multilabel", "label-ranking", "subset-ranking")
GEOMETRIES = ("euclidean", "entropic", "adaptive")
WEIGHTINGS = ("binary", "count", "log", "tfidf")
CONTESTANTS = (
    "unit",
    "unit-bold",
    "unit-cautious",
    "largest",
    "largest-cautious",
    "standard",
    "standard-cautious",
    "idf",
    "one-vs-rest-unit",
    "one-vs-rest-largest",
    "one-vs-rest-standard",
    "one-vs-rest-idf",
    "bayes-idf",
)
# Copy of tagalong.evaluate.plots.KINDS.
PLOT_KINDS = (
    "accuracy",
    "coverage",
    "calibration",
    "measures",
    "labels",
    "certificate",
    "mistakes",
)
# Copy of the values of the parameter seldom_of of FolderAffinity.
SELDOM_OF = ("folder", "all")
WAIT = 10.0
SWITCHES = {"auto": "auto", "yes": True, "no": False}

Parser = argparse.ArgumentParser


def add_output(parser: Parser) -> None:
    """Add the output options, which every command has."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="write the results to standard output as JSON only"
    )
    group.add_argument("--quiet", "-q", action="store_true", help="write only results and errors")


def add_model(
    parser: Parser, help: str = "model file, written by 'tagalong learn' or 'tagalong fit'"
) -> None:
    """Add the required option ``--model``."""
    model = parser.add_argument("--model", "-m", metavar="MODEL", required=True, help=help)
    model.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_workspace(parser: Parser | ArgumentGroup, help: str) -> None:
    """Add the option ``--workspace``."""
    workspace = parser.add_argument("--workspace", metavar="FOLDER", help=help)
    workspace.complete = {"bash": "_shtab_compgen_dirs", "zsh": "_directories"}  # type: ignore[attr-defined]


def add_server(parser: Parser | ArgumentGroup, help: str) -> None:
    """Add the option ``--server``."""
    parser.add_argument("--server", metavar="URL", help=help)


def add_server_access(parser: Parser) -> None:
    """Add the options that belong to ``--server``."""
    group = parser.add_argument_group("server")
    group.add_argument(
        "--server-workspace",
        metavar="NAME",
        help="workspace of the server (default: default)",
    )
    token = group.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with the token of the server, which 'tagalong serve DIR' keeps in DIR/token "
        "(default: the environment variable TAGALONG_TOKEN)",
    )
    token.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_model_or_workspace(parser: Parser, *, server: bool = False) -> None:
    """Add the options ``--model`` and ``--workspace``, of which one is required.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the command.
    server : bool
        Whether ``--server`` is a third one.
    """
    group = parser.add_mutually_exclusive_group(required=True)
    model = group.add_argument(
        "--model",
        "-m",
        metavar="MODEL",
        help="model file, written by 'tagalong learn' or 'tagalong fit'",
    )
    model.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]
    add_workspace(group, help="folder of a workspace, whose present model is used")
    if server:
        add_server(group, help="address of a server, such as http://127.0.0.1:8420/")


def add_wait(parser: Parser, what: str = "model") -> None:
    """Add the option ``--wait`` of the commands that change a model or a workspace."""
    parser.add_argument(
        "--wait",
        type=seconds,
        default=WAIT,
        metavar="SECONDS",
        help=f"how long to wait while another command changes the same {what} (default: "
        f"{WAIT:g} seconds)",
    )


def add_sources(parser: Parser, nargs: str = "+") -> None:
    """Add the sources to read items from."""
    sources = parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs=nargs,
        help="a file, a quoted glob pattern such as 'logs/*.csv', a mail folder, - for standard "
        "input, or a built-in stream such as pydocs: ('tagalong streams' lists them); files may "
        "be compressed",
    )
    sources.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_learner(parser: Parser) -> ArgumentGroup:
    """Add the options that set parameters of a learner, and return their group."""
    group = parser.add_argument_group("learner")
    group.add_argument(
        "--margin",
        type=float,
        metavar="M",
        help="score difference that a relevant label must have to an irrelevant one to cause no "
        "loss (default: depends on the learner and the geometry)",
    )
    group.add_argument(
        "--average",
        choices=tuple(SWITCHES),
        help="whether to predict with averaged weights: always (yes), never (no), or as long as "
        "they rank better than the current weights (auto, the default)",
    )
    group.add_argument(
        "--race",
        type=race,
        default=argparse.SUPPRESS,
        metavar="NAMES|none|auto",
        help="the learners that compete inside label-ranker: all of them, unless another option "
        "determines the learner (auto, the default); one learner (none); or a list from "
        f"{', '.join(CONTESTANTS)}",
    )
    group.add_argument(
        "--relevance",
        choices=tuple(SWITCHES),
        help="whether to learn how relevant each feature is: yes, no, or in a race only (auto, the "
        "default)",
    )
    group.add_argument(
        "--working-set",
        choices=tuple(SWITCHES),
        help="whether the update smooth moves only labels that matter in the round: yes, no, or in "
        "a race only (auto, the default)",
    )
    group.add_argument(
        "--one-label",
        action="store_true",
        help="every item has exactly one label, such as a folder or a team (default: noticed from "
        "the items)",
    )
    group.add_argument(
        "--grades",
        type=grades,
        metavar="A,B,...",
        help="the labels are grades, from the lowest to the highest: such as low,mid,high, or 1..5 "
        "for whole numbers. For the learner ordinal and for --problem ordinal; every item must "
        "have one of them",
    )
    group.add_argument(
        "--seldom-of",
        choices=SELDOM_OF,
        help="only for the learner shared: whether a word is rare in a folder if few of the "
        "folder's earlier items have it (folder, the default), or few of all earlier items (all)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="set any other parameter of the learner, for example temperature=0.1; can be given "
        "several times",
    )
    return group


def add_features(parser: Parser) -> None:
    """Add the options that control how texts become features."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--words",
        type=span,
        metavar="A,B",
        help="use runs of A to B consecutive words as features (default: 1,1)",
    )
    group.add_argument(
        "--chars",
        type=span,
        metavar="A,B",
        help="also use runs of A to B consecutive characters within a word (default: none)",
    )
    group.add_argument(
        "--weighting",
        choices=WEIGHTINGS,
        help="value of a word that occurs n times in an item: 1 (binary), n (count), 1 + log n "
        "(log, the default), or (1 + log n) times the inverse document frequency (tfidf)",
    )
    group.add_argument(
        "--buckets",
        type=buckets,
        default=argparse.SUPPRESS,
        metavar="N|grow",
        help="hash features into N buckets (default: 1048576), or let a vocabulary without "
        "collisions grow",
    )
    group.add_argument(
        "--backoff",
        choices=("yes", "no"),
        help="whether words of named fields (subject, body) are also features without the field, "
        "so that a word learnt in one field is known in all (default: yes)",
    )


def add_plot(parser: Parser) -> None:
    """Add the options that write a plot, and the option that shows the certificate."""
    parser.add_argument(
        "--plot", metavar="FILE", help=".png or .svg file to plot the measures to (default: none)"
    )
    parser.add_argument(
        "--plot-kind",
        choices=PLOT_KINDS,
        default="accuracy",
        metavar="KIND",
        help="what to plot: how often the first suggestion was right over time, and how much could "
        "be filed without asking (accuracy, the default); the share that could be filed against "
        "the share of it that is right (coverage); probabilities against shares of right "
        "suggestions (calibration); all measures over time (measures); precision and recall per "
        "label (labels); mistakes and loss with their certified bounds (certificate, also called "
        "mistakes)",
    )
    add_certificate(parser)


def add_certificate(parser: Parser) -> None:
    """Add the option ``--certificate``."""
    parser.add_argument(
        "--certificate",
        action="store_true",
        help="also show the certificate: a proven bound on the mistakes, the loss or the regret of "
        "the learner (JSON always has it)",
    )


def add_measures(parser: Parser) -> None:
    """Add the options that control the measures and how often they are shown."""
    group = parser.add_argument_group("measures")
    group.add_argument(
        "--at",
        type=at_least_one,
        default=5,
        metavar="K",
        help="number of top-ranked labels that precision@K and NDCG@K evaluate (default: 5)",
    )
    group.add_argument(
        "--window",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="number of most recent items that the recent measures cover (default: 1000)",
    )
    add_every(group)


def add_every(parser: Parser | ArgumentGroup) -> None:
    """Add the option ``--every``."""
    parser.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="seconds between two progress reports (default: 0.2 on a terminal, otherwise 5)",
    )
