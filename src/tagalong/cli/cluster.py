"""The workers that a command line names."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tagalong.cli.errors import CommandError
from tagalong.cli.output import Output

if TYPE_CHECKING:
    from tagalong.distributed.workers import Workers

__all__ = ["cluster_flag", "has_workers", "workers_of_arguments"]


def has_workers(args: argparse.Namespace) -> bool:
    """Whether a command line has ``--workers`` or ``--scheduler``.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    """
    return args.workers is not None or args.scheduler is not None


def cluster_flag(args: argparse.Namespace) -> str:
    """Return the option that names the workers, for messages.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    """
    return "--workers" if args.scheduler is None else "--scheduler"


@contextmanager
def workers_of_arguments(args: argparse.Namespace, out: Output) -> Iterator["Workers"]:
    """Return the workers that a command line names, as a context.

    Parameters
    ----------
    args : Namespace
        The parsed command line. CommandError if its cluster cannot be used, or is lost.
    out : Output
        Says that the command waits for workers.
    """
    from tagalong.distributed.connection import ClusterError, opened_workers
    from tagalong.distributed.workers import WorkerLost

    try:
        with opened_workers(args.workers, args.scheduler, out.info) as workers:
            yield workers
    except ClusterError as error:
        raise CommandError(f"--scheduler {error}") from error
    except WorkerLost as error:
        raise CommandError(f"{cluster_flag(args)}: {error}") from error
