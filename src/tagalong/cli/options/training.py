"""Arguments of the commands that make models, or compare how they are made."""

import argparse

from tagalong.cli import arguments as shared
from tagalong.cli.options.formats import add_reading
from tagalong.cli.options.values import names, setting, whole

__all__ = ["add_compare", "add_fit", "add_learn"]

Parser = argparse.ArgumentParser


def add_learn(parser: Parser) -> None:
    """Add the arguments of ``tagalong learn``."""
    shared.add_sources(parser, nargs="*")
    parser.add_argument(
        "--model", "-m", metavar="MODEL", help="where the model is kept; without it none is"
    )
    parser.add_argument(
        "--passes", type=whole, metavar="N", help="how often to read the sources; 1"
    )
    going_on = parser.add_mutually_exclusive_group()
    going_on.add_argument(
        "--resume",
        action="store_true",
        help="go on where a run stopped, to the same bits as if it had not; the sources and how "
        "to read them are in the model",
    )
    going_on.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="learn further items with a model that is there",
    )
    parser.add_argument("--report", metavar="FILE", help="write all figures there, as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw the run there, as .png or .svg")
    parser.add_argument(
        "--plot-kind",
        choices=("mistakes", "measures", "labels"),
        default="mistakes",
        help="what to draw: mistakes and certificate (the default), measures, or labels",
    )
    parser.add_argument(
        "--no-names", action="store_true", help="keep no words of the items in the model"
    )
    group = shared.add_learner(parser)
    group.add_argument("--learner", default=None, metavar="NAME", help="label-ranker by default")
    group.add_argument(
        "--update",
        choices=shared.ALL_UPDATES,
        help=f"how a round moves the labels: {shared.UPDATES_IN_WORDS}",
    )
    group.add_argument(
        "--problem",
        choices=shared.PROBLEMS,
        help="what predtron predicts; label-ranking by default. subset-ranking is for qid data",
    )
    group.add_argument("--geometry", choices=shared.GEOMETRIES, help="adaptive by default")
    group.add_argument("-C", type=float, help="how much a round may move; 10 by default")
    group.add_argument(
        "--slots",
        type=whole,
        metavar="S",
        help="partial: how many labels may be shown; the learner sees what of these is right",
    )
    shared.add_features(parser)
    add_reading(parser)
    shared.add_figures(parser)


def add_fit(parser: Parser) -> None:
    """Add the arguments of ``tagalong fit``."""
    shared.add_sources(parser)
    shared.add_model(parser)
    parser.add_argument(
        "--holdout",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="the share of items to measure on, and to learn probabilities from, instead of "
        "training; 0.1 by default",
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write the figures of the items held out there, as JSON"
    )
    parser.add_argument(
        "--no-names", action="store_true", help="keep no words of the items in the model"
    )
    group = parser.add_argument_group("learner")
    group.add_argument("--learner", default="m3l", metavar="NAME", help="m3l, the default")
    group.add_argument("-C", type=float, help="how much mistakes count; 1 by default")
    group.add_argument(
        "--prior", choices=("cooccurrence",), help="how labels go together; by default not known"
    )
    group.add_argument("--kernel", choices=("linear", "rbf", "poly"), help="linear by default")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="any other setting of the learner, such as tol=0.01; may be repeated",
    )
    shared.add_features(parser)
    add_reading(parser)
    shared.add_figures(parser)


def add_compare(parser: Parser) -> None:
    """Add the arguments of ``tagalong compare``."""
    shared.add_sources(parser)
    parser.add_argument(
        "--learners",
        type=names,
        metavar="A,B,...",
        help="learners, or updates of the label-ranker: single,optimal,smooth",
    )
    parser.add_argument("--paper", metavar="NAME", help="the learners of a paper: p1")
    parser.add_argument("--updates", type=names, metavar="A,B,...", help=", ".join(shared.UPDATES))
    parser.add_argument(
        "--geometries", type=names, metavar="A,B,...", help=", ".join(shared.GEOMETRIES)
    )
    parser.add_argument(
        "--C", "-C", dest="budgets", type=names, metavar="X,Y,...", help="such as 1,10"
    )
    parser.add_argument("--threads", type=whole, metavar="N", help="by default one a processor")
    parser.add_argument("--markdown", action="store_true", help="write the table in Markdown")
    shared.add_learner(parser)
    shared.add_features(parser)
    add_reading(parser)
    shared.add_figures(parser)
