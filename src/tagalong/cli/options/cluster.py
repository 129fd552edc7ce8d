"""Arguments of the commands that can give work to other processes or machines."""

import argparse

from tagalong.cli.options.values import at_least_one

__all__ = ["add_cluster"]


def add_cluster(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Add the options ``--workers`` and ``--scheduler``, of which at most one may be given.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the command.
    note : str
        What else the command does then, as the end of a sentence.
    """
    group = parser.add_argument_group("workers").add_mutually_exclusive_group()
    group.add_argument(
        "--workers",
        type=at_least_one,
        metavar="N",
        help=f"give the work to N processes on this machine{note}",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="give the work to the workers of a Dask cluster, whose scheduler has this address, "
        f"such as tcp://192.0.2.7:8786{note}. Needs the package dask: pip install "
        "'tagalong[dask]'",
    )
