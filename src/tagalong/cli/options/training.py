"""Arguments of the commands that train models: learn, fit and compare."""

import argparse

from tagalong.cli import arguments as shared
from tagalong.cli.options.cluster import add_cluster
from tagalong.cli.options.formats import add_order, add_reading
from tagalong.cli.options.values import names, setting, whole

__all__ = ["add_compare", "add_fit", "add_learn"]

Parser = argparse.ArgumentParser


def add_learn(parser: Parser) -> None:
    """Add the arguments of ``tagalong learn``."""
    shared.add_sources(parser, nargs="*")
    parser.add_argument(
        "--model", "-m", metavar="MODEL", help="file to save the model to (default: do not save)"
    )
    shared.add_workspace(
        parser,
        help="folder of a workspace to learn into (docs/journal.md): every item is on the disk "
        "before the next is read, and can be undone; it is made if it does not exist",
    )
    shared.add_server(
        parser,
        help="address of a server to learn into, such as http://127.0.0.1:8420/; items that are "
        "there already are not learnt again",
    )
    parser.add_argument(
        "--passes", type=whole, metavar="N", help="read the sources N times (default: once)"
    )
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--resume",
        action="store_true",
        help="finish the interrupted run of --model; the result is the same to the bit as without "
        "the interruption. SOURCE and the reading options are taken from the model",
    )
    start.add_argument(
        "--continue",
        dest="continue_run",
        action="store_true",
        help="start a new run with the existing model instead of an empty one",
    )
    start.add_argument(
        "--force", action="store_true", help="replace the file of --model if it already exists"
    )
    shared.add_wait(parser)
    parser.add_argument(
        "--report", metavar="FILE", help="JSON file to write all measures to (default: none)"
    )
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help=".csv, .jsonl or .parquet file to write the suggestions for each item before it was "
        "learnt to, with the columns of 'suggest --to', its labels, and whether the first "
        "suggestion was right (default: none). A resumed run continues the file",
    )
    shared.add_plot(parser)
    parser.add_argument(
        "--no-names",
        action="store_true",
        help="store no words of the items in the model (suggestions stay the same)",
    )
    group = shared.add_learner(parser)
    group.add_argument(
        "--learner",
        default=None,
        metavar="NAME",
        help="learner: label-ranker (the default), shared, ordinal, partial or predtron",
    )
    group.add_argument(
        "--update",
        choices=shared.ALL_UPDATES,
        help=f"how the weights change after an item: {shared.UPDATES_IN_WORDS}",
    )
    group.add_argument(
        "--problem",
        choices=shared.PROBLEMS,
        help="only for the learner predtron: the prediction problem (default: label-ranking). "
        "subset-ranking ranks the documents of a query and needs items with a query id (qid); "
        "ordinal needs --grades",
    )
    group.add_argument(
        "--geometry",
        choices=shared.GEOMETRIES,
        help="geometry of the weights: additive updates (euclidean), multiplicative updates "
        "(entropic), or additive updates with one step size per feature (adaptive); the default "
        "depends on the learner, label-ranker uses adaptive",
    )
    group.add_argument(
        "-C",
        type=float,
        help="upper limit of the step that one item can cause (default: depends on the learner, "
        "10 for label-ranker)",
    )
    group.add_argument(
        "--slots",
        type=whole,
        metavar="S",
        help="only for the learner partial: show at most S labels per item; the learner learns "
        "only which of these are right (default: no limit)",
    )
    shared.add_features(parser)
    shared.add_server_access(parser)
    add_reading(parser)
    add_order(parser, default="auto")
    shared.add_measures(parser)


def add_fit(parser: Parser) -> None:
    """Add the arguments of ``tagalong fit``."""
    shared.add_sources(parser)
    shared.add_model(parser, help="file to save the model to; an existing file is replaced")
    shared.add_wait(parser)
    parser.add_argument(
        "--holdout",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="share of the items that is not used for training: one half of them calibrates the "
        "probabilities, the other half measures the model (default: 0.1)",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="JSON file to write the measures on the held-out items to (default: none)",
    )
    parser.add_argument(
        "--no-names",
        action="store_true",
        help="store no words of the items in the model (suggestions stay the same)",
    )
    group = parser.add_argument_group("learner")
    group.add_argument(
        "--learner", default="m3l", metavar="NAME", help="batch learner: m3l (the only one)"
    )
    group.add_argument(
        "-C", type=float, help="weight of the loss against the regularisation term (default: 1)"
    )
    group.add_argument(
        "--prior",
        choices=("cooccurrence",),
        help="prior knowledge about the labels: how often they occur together in the training "
        "items (cooccurrence); by default labels are learnt independently",
    )
    group.add_argument(
        "--kernel", choices=("linear", "rbf", "poly"), help="kernel function (default: linear)"
    )
    group.add_argument(
        "--constant",
        type=float,
        metavar="VALUE",
        help="value of a constant feature, whose weights are the labels' intercepts; only for the "
        "linear kernel (default: 0, no constant feature)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="set any other parameter of the learner, for example tol=0.01; can be given several "
        "times",
    )
    shared.add_features(parser)
    add_reading(parser)
    add_order(parser, default="file")
    shared.add_measures(parser)


def add_compare(parser: Parser) -> None:
    """Add the arguments of ``tagalong compare``."""
    shared.add_sources(parser)
    parser.add_argument(
        "--learners",
        type=names,
        metavar="A,B,...",
        help="learners to compare: label-ranker, shared, ordinal, partial, predtron, or the name "
        "of an update rule, which stands for label-ranker with that rule. The learner of 'tagalong "
        "learn' without options is always included",
    )
    parser.add_argument(
        "--paper",
        metavar="NAME",
        help="compare the learners of a paper as published: p1 (docs/label-ranker.md) or p2 "
        "(docs/simultaneous-projections.md)",
    )
    parser.add_argument(
        "--updates",
        type=names,
        metavar="A,B,...",
        help=f"compare label-ranker with these update rules: {', '.join(shared.UPDATES)}",
    )
    parser.add_argument(
        "--geometries",
        type=names,
        metavar="A,B,...",
        help=f"compare every learner in each of these geometries: {', '.join(shared.GEOMETRIES)}",
    )
    parser.add_argument(
        "--C",
        "-C",
        dest="step_limits",
        type=names,
        metavar="X,Y,...",
        help="compare every learner with each of these values of C, the upper limit of the step "
        "that one item can cause; for example 1,10",
    )
    parser.add_argument(
        "--threads",
        type=whole,
        metavar="N",
        help="number of threads (default: one per learner, at most one per processor)",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="write the table of results in Markdown"
    )
    shared.add_learner(parser)
    shared.add_features(parser)
    add_reading(parser)
    add_order(parser, default="auto")
    add_cluster(parser, ", one learner per task; every worker reads the items itself")
    shared.add_measures(parser)
