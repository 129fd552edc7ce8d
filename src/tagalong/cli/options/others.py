"""Arguments of the commands that need no model."""

import argparse

from tagalong.cli import arguments as shared
from tagalong.cli.options.formats import add_order, add_reading, add_writing

__all__ = ["add_completion", "add_convert", "add_streams"]

Parser = argparse.ArgumentParser


def add_convert(parser: Parser) -> None:
    """Add the arguments of ``tagalong convert``."""
    shared.add_sources(parser)
    parser.add_argument("out", metavar="OUT", help="file to write, or - for standard output")
    add_writing(parser)
    add_reading(parser)
    add_order(parser, default="file")


def add_streams(parser: Parser) -> None:
    """Add the arguments of ``tagalong streams``."""


def add_completion(parser: Parser) -> None:
    """Add the arguments of ``tagalong completion``."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="shell to complete for")
