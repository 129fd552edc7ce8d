"""What can be written on the command line."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from tagalong import __version__
from tagalong.cli import arguments as shared
from tagalong.cli.errors import EXIT_CODES

__all__ = ["COMMANDS", "make_parser"]

Parser = argparse.ArgumentParser

EXAMPLE = """\
example:
  tagalong learn pydocs: --model docs.tagalong
  tagalong suggest --model docs.tagalong --text "Return the square root of x."
  tagalong explain --model docs.tagalong --text "Return the square root of x." --label math
  tagalong inspect docs.tagalong
"""


def _learn(parser: Parser) -> None:
    shared.add_sources(parser, nargs="*")
    parser.add_argument(
        "--model", "-m", metavar="MODEL", help="where the model is kept; without it none is"
    )
    parser.add_argument(
        "--passes", type=shared.whole, metavar="N", help="how often to read the sources; 1"
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
        type=shared.whole,
        metavar="S",
        help="partial: how many labels may be shown; the learner sees what of these is right",
    )
    shared.add_features(parser)
    shared.add_reading(parser)
    shared.add_figures(parser)


def _fit(parser: Parser) -> None:
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
        type=shared.setting,
        metavar="NAME=VALUE",
        help="any other setting of the learner, such as tol=0.01; may be repeated",
    )
    shared.add_features(parser)
    shared.add_reading(parser)
    shared.add_figures(parser)


def _suggest(parser: Parser) -> None:
    shared.add_sources(parser, nargs="*")
    shared.add_model(parser)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="the text to file, if there is no SOURCE; else the key or column of the text",
    )
    parser.add_argument(
        "-k", type=shared.whole, default=5, metavar="N", help="at most N labels an item; 5"
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
    shared.add_reading(parser, renamed={"text": None})


def _evaluate(parser: Parser) -> None:
    shared.add_sources(parser)
    shared.add_model(parser)
    parser.add_argument("--report", metavar="FILE", help="write all figures there, as JSON")
    shared.add_reading(parser)
    shared.add_figures(parser)


def _compare(parser: Parser) -> None:
    shared.add_sources(parser)
    parser.add_argument(
        "--learners",
        type=shared.names,
        metavar="A,B,...",
        help="learners, or updates of the label-ranker: single,optimal,smooth",
    )
    parser.add_argument("--paper", metavar="NAME", help="the learners of a paper: p1")
    parser.add_argument(
        "--updates", type=shared.names, metavar="A,B,...", help=", ".join(shared.UPDATES)
    )
    parser.add_argument(
        "--geometries", type=shared.names, metavar="A,B,...", help=", ".join(shared.GEOMETRIES)
    )
    parser.add_argument(
        "--C", "-C", dest="budgets", type=shared.names, metavar="X,Y,...", help="such as 1,10"
    )
    parser.add_argument(
        "--threads", type=shared.whole, metavar="N", help="by default one a processor"
    )
    parser.add_argument("--markdown", action="store_true", help="write the table in Markdown")
    shared.add_learner(parser)
    shared.add_features(parser)
    shared.add_reading(parser)
    shared.add_figures(parser)


def _file(parser: Parser) -> None:
    parser.add_argument("maildir", metavar="MAILDIR", help="a Maildir with folders in it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--dry-run",
        action="store_true",
        help="change nothing, and tell what would be moved (the default)",
    )
    what.add_argument(
        "--apply", action="store_true", help="move the messages and save what was learnt"
    )
    parser.add_argument(
        "--model",
        "-m",
        metavar="MODEL",
        help="the model of this Maildir; by default model.tagalong in it",
    )
    parser.add_argument(
        "--min-precision",
        type=float,
        default=0.95,
        metavar="P",
        help="the share of moved messages that should be right; 0.95 by default",
    )
    parser.add_argument(
        "--min-learnt",
        type=shared.whole,
        default=50,
        metavar="N",
        help="move nothing before N messages are learnt; 50 by default",
    )
    parser.add_argument(
        "--only-new", action="store_true", help="look only at messages no mail program has seen"
    )
    parser.add_argument(
        "--exclude",
        type=shared.names,
        metavar="A,B,...",
        help="folders to leave alone; by default Sent, Drafts, Trash, Junk and the like",
    )
    parser.add_argument(
        "--no-names", action="store_true", help="keep no words of the mail in a new model"
    )


def _explain(parser: Parser) -> None:
    shared.add_sources(parser, nargs="*")
    shared.add_model(parser)
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="the text to explain, if there is no SOURCE; else the key or column of the text",
    )
    parser.add_argument("--id", metavar="ID", help="which item of SOURCE; by default the first")
    parser.add_argument("--label", metavar="LABEL", help="by default the best one")
    shared.add_reading(parser, renamed={"text": None, "id": "--id-field"})


def _inspect(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument(
        "--label", action="append", default=[], metavar="LABEL", help="show its words; repeatable"
    )
    parser.add_argument(
        "--words", type=shared.whole, metavar="N", help="show N words a label; 10 with --label"
    )


def _convert(parser: Parser) -> None:
    shared.add_sources(parser)
    parser.add_argument("out", metavar="OUT", help="the file to write; - for standard output")
    shared.add_writing(parser)
    shared.add_reading(parser)


def _streams(parser: Parser) -> None:
    pass


def _completion(parser: Parser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="whose language to speak")


def _labels(parser: Parser) -> None:
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


def _prune(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model file; it is changed")
    parser.add_argument(
        "--features", type=shared.whole, required=True, metavar="N", help="how many to keep"
    )


class Command(NamedTuple):
    """One command: what it does, its arguments, and the module that runs it."""

    help: str
    add_arguments: Callable[[Parser], None]
    module: str


COMMANDS = {
    "learn": Command(
        "Learn items one after the other, each predicted before it is learnt.", _learn, "learn"
    ),
    "fit": Command(
        "Learn all items at once, with a batch learner, and measure on some held out.", _fit, "fit"
    ),
    "suggest": Command("Suggest labels for items, as JSON lines.", _suggest, "suggest"),
    "evaluate": Command(
        "Measure a model on labelled items. Nothing is learnt.", _evaluate, "evaluate"
    ),
    "compare": Command(
        "Compare learners and settings on one stream, read once.", _compare, "compare"
    ),
    "file": Command(
        "Sort the mail of a Maildir into its folders, where that is sure enough.",
        _file,
        "file_mail",
    ),
    "explain": Command("Show the words that speak for and against a label.", _explain, "explain"),
    "inspect": Command(
        "Show what is in a model: labels, sizes, settings, certificate.", _inspect, "inspect_model"
    ),
    "convert": Command("Write items in another format.", _convert, "convert"),
    "streams": Command("List the built-in streams of real data.", _streams, "list_streams"),
    "labels": Command("Rename, merge or forget labels of a model.", _labels, "labels"),
    "prune": Command("Keep the features of a model that matter most.", _prune, "prune"),
    "completion": Command(
        "Print a script that completes commands in a shell.", _completion, "completion"
    ),
}


def make_parser(only: str | None = None) -> Parser:
    """Return the parser.

    Parameters
    ----------
    only : str, optional
        Leave out the arguments of all commands but this one; all have them by default.
    """
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
    parser = Parser(
        prog="tagalong",
        description="Learns to file things under labels while you work.",
        epilog=f"{EXAMPLE}\nexit codes:\n{codes}\n\n'tagalong COMMAND --help' tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tagalong {__version__}")
    commands: Any = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=command.help[0].lower() + command.help[1:].rstrip("."),
            description=command.help,
            allow_abbrev=False,
        )
        own.set_defaults(module=command.module)
        if only in (None, name):
            command.add_arguments(own)
            if name != "labels":  # whose actions have them
                shared.add_output(own)
                own.usage = _usage(own)
    return parser


def _usage(parser: Parser) -> str:
    """Return a usage line without the options that can be left out: there are many."""
    words = [parser.prog]
    for action in parser._actions:
        if action.option_strings:
            if action.required:
                words.append(f"{action.option_strings[0]} {action.metavar}")
        elif action.choices is not None:
            words.append(f"{{{','.join(action.choices)}}}")
        else:
            name = str(action.metavar)
            ending = {"*": f"[{name} ...]", "+": f"{name} ..."}
            words.append(ending.get(str(action.nargs), name))
    return " ".join([*words, "[options]"])
