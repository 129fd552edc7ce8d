"""Arguments that several commands share."""

import argparse
from typing import Any

from tagalong.cli.options.values import buckets, positive, setting, span, whole
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES, PREDTRON_UPDATES

__all__ = [
    "ALL_UPDATES",
    "AVERAGES",
    "GEOMETRIES",
    "PROBLEMS",
    "UPDATES",
    "UPDATES_IN_WORDS",
    "WEIGHTINGS",
    "add_features",
    "add_figures",
    "add_learner",
    "add_model",
    "add_output",
    "add_sources",
]

# Of the label-ranker, and of all learners: names that several have are there once.
UPDATES = tuple(LABEL_RULES)
ALL_UPDATES = tuple(dict.fromkeys((*LABEL_RULES, *BLOCK_RULES, *PREDTRON_UPDATES)))
_DESCRIPTIONS = {
    **{name: update.description for name, update in PREDTRON_UPDATES.items()},
    **{name: rule.description for name, rule in BLOCK_RULES.items()},
    **{name: rule.description for name, rule in LABEL_RULES.items()},
}
UPDATES_IN_WORDS = "; ".join(f"{name} {_DESCRIPTIONS[name]}" for name in ALL_UPDATES)
# As in tagalong.online.label_ranker.learner and tagalong.text.features, which take long to import.
# Of tagalong.problems; levels that appear one by one have no order.
PROBLEMS = ("binary", "multiclass", "multilabel", "label-ranking", "subset-ranking")
GEOMETRIES = ("euclidean", "entropic", "adaptive")
WEIGHTINGS = ("binary", "count", "log", "tfidf")
AVERAGES = {"auto": "auto", "yes": True, "no": False}

Parser = argparse.ArgumentParser


def add_output(parser: Parser) -> None:
    """Add what every command takes."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="write JSON to standard output, and nothing else"
    )
    group.add_argument(
        "--quiet", "-q", action="store_true", help="say nothing but results and errors"
    )


def add_model(parser: Parser, help: str = "a model file that learn has written") -> None:
    """Add the model that a command asks."""
    model = parser.add_argument("--model", "-m", metavar="MODEL", required=True, help=help)
    model.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_sources(parser: Parser, nargs: str = "+") -> None:
    """Add the sources that a command reads."""
    sources = parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs=nargs,
        help="a file, a glob in quotes, a folder of mail, - for standard input, or a built-in "
        "stream such as pydocs:; files may be compressed",
    )
    sources.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}  # type: ignore[attr-defined]


def add_learner(parser: Parser) -> Any:
    """Add the settings of a learner, and return their group."""
    group = parser.add_argument_group("learner")
    group.add_argument("--margin", type=float, metavar="M", help="by how much to rank apart")
    group.add_argument("--average", choices=tuple(AVERAGES), help="predict with averaged weights")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="any other setting of the learner, such as temperature=0.1; may be repeated",
    )
    return group


def add_features(parser: Parser) -> None:
    """Add how texts become features."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--words", type=span, metavar="A,B", help="runs of words from A to B; 1,1 by default"
    )
    group.add_argument(
        "--chars", type=span, metavar="A,B", help="character n-grams of words; none by default"
    )
    group.add_argument("--weighting", choices=WEIGHTINGS, help="log by default")
    group.add_argument(
        "--buckets",
        type=buckets,
        default=argparse.SUPPRESS,
        metavar="N|grow",
        help="hash features into N numbers (2**20 by default), or let a vocabulary grow",
    )


def add_figures(parser: Parser) -> None:
    """Add what is measured and how often it is shown."""
    group = parser.add_argument_group("figures")
    group.add_argument(
        "--at", type=whole, default=5, metavar="K", help="K of precision@K and NDCG@K; 5 by default"
    )
    group.add_argument(
        "--window",
        type=whole,
        default=1000,
        metavar="N",
        help="how many of the last items the recent figures look at; 1000 by default",
    )
    group.add_argument(
        "--every",
        type=positive,
        metavar="SECONDS",
        help="how often to show figures; by default 5, on a terminal 0.2",
    )
