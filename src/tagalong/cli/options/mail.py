"""Arguments of ``tagalong file``."""

import argparse

from tagalong.cli.options.values import names, whole

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
    parser.add_argument(
        "--model",
        "-m",
        metavar="MODEL",
        help="model file of this Maildir (default: model.tagalong in the Maildir)",
    )
    parser.add_argument(
        "--min-precision",
        type=float,
        default=0.95,
        metavar="P",
        help="move a message only if its folder is right with at least this estimated probability "
        "(default: 0.95)",
    )
    parser.add_argument(
        "--min-learnt",
        type=whole,
        default=50,
        metavar="N",
        help="move messages only after N messages have been learnt (default: 50)",
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
        "--no-names",
        action="store_true",
        help="store no words of the messages in a new model (suggestions stay the same)",
    )
