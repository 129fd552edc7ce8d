"""Arguments of the command that files mail."""

import argparse

from tagalong.cli.options.values import names, whole

__all__ = ["add_file"]

Parser = argparse.ArgumentParser


def add_file(parser: Parser) -> None:
    """Add the arguments of ``tagalong file``."""
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
        type=whole,
        default=50,
        metavar="N",
        help="move nothing before N messages are learnt; 50 by default",
    )
    parser.add_argument(
        "--only-new", action="store_true", help="look only at messages no mail program has seen"
    )
    parser.add_argument(
        "--exclude",
        type=names,
        metavar="A,B,...",
        help="folders to leave alone; by default Sent, Drafts, Trash, Junk and the like",
    )
    parser.add_argument(
        "--no-names", action="store_true", help="keep no words of the mail in a new model"
    )
