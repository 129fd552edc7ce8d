"""Arguments of ``tagalong file``."""

import argparse

from tagalong.cli.arguments import WAIT, add_workspace
from tagalong.cli.options.values import names, seconds, whole

__all__ = ["add_file"]

Parser = argparse.ArgumentParser


def add_file(parser: Parser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "maildir", metavar="MAILDIR", help="the Maildir; its folders are the labels"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--dry-run",
        action="store_true",
        help="only show which messages would be moved (the default)",
    )
    mode.add_argument("--apply", action="store_true", help="move the messages and save the model")
    mode.add_argument(
        "--log",
        action="store_true",
        help="show what was moved, when and why, and what became of it (the last 1,000 messages)",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--model",
        "-m",
        metavar="MODEL",
        help="model file of this Maildir (default: model.tagalong in the Maildir)",
    )
    add_workspace(
        place,
        help="folder of a workspace to use in place of a model file (docs/journal.md): what it "
        "learns from this Maildir can be undone; it is made if it does not exist",
    )
    parser.add_argument(
        "--min-precision",
        type=float,
        default=0.95,
        metavar="P",
        help="move only messages that are sure: of those, at least this share is in the right "
        "folder (default: 0.95; 'tagalong labels set' gives a folder a target of its own)",
    )
    parser.add_argument(
        "--min-learnt",
        type=whole,
        default=50,
        metavar="N",
        help="move messages only after N messages have been learnt (default: 50)",
    )
    parser.add_argument(
        "--limit",
        type=whole,
        metavar="N",
        help="move at most N messages, the oldest first; new spot checks count too (default: no "
        "limit). With --log: show the last N entries",
    )
    parser.add_argument(
        "--audit",
        type=float,
        metavar="SHARE",
        help="leave this share of the sure messages to you as spot checks, to learn how often sure "
        "is right; with 0 there are none, and the model does not notice when its sure suggestions "
        "become worse (default: that of the model, 0.02 for a new one; at least a tenth until 200 "
        "spot checks have been answered)",
    )
    parser.add_argument(
        "--only-new",
        action="store_true",
        help="consider only messages in new/, which no mail program has opened yet",
    )
    parser.add_argument(
        "--exclude",
        type=names,
        metavar="A,B,...",
        help="folders to ignore (default: special folders such as Sent, Drafts, Trash and Junk)",
    )
    parser.add_argument(
        "--cron",
        action="store_true",
        help="for cron and timers: write nothing unless messages were moved or something failed, "
        "and succeed if another run is at work, unless it has been for more than an hour",
    )
    parser.add_argument(
        "--wait",
        type=seconds,
        metavar="SECONDS",
        help="how long to wait while another command changes the same model (default: "
        f"{WAIT:g} seconds, 0 with --cron)",
    )
    parser.add_argument(
        "--start-from",
        metavar="MODEL",
        help="model that the first run begins with, such as one of 'tagalong learn'",
    )
    parser.add_argument(
        "--no-names",
        action="store_true",
        help="store no words of the messages in a new model (suggestions stay the same)",
    )
