"""``python -m experiments``: run experiments and write docs/reproduction.md from the results."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from experiments import catalogue, enron, page, runner, store
from experiments.experiment import Form
from tagalong.distributed.connection import ClusterError
from tagalong.distributed.environments import WorkerError
from tagalong.distributed.workers import WorkerLost


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen experiments and write the page; return 1 if a cell failed."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all rows, settings and repetitions")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="papers or experiments, such as p1 or p2/figure7"
    )
    parser.add_argument(
        "--enron",
        default="",
        metavar="DIR",
        help="folder with the Enron mail: CMU's maildir, or Bekkerman's flat folders",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of processes (default: number of cores)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster, whose workers compute instead of processes here",
    )
    parser.add_argument("--again", action="store_true", help="also run cells that are finished")
    parser.add_argument("--report", action="store_true", help="run nothing; only write the page")
    parser.add_argument(
        "--list", action="store_true", help="list the experiments and their results"
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs is {options.jobs}; it must be at least 1")
    if options.enron and not Path(options.enron).is_dir():
        parser.error(f"--enron is {options.enron!r}, which is not a folder")
    try:
        chosen = catalogue.experiments(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for experiment in chosen:
            print(f"{experiment.name:18} {store.state(experiment.name):34} {experiment.title}")
        return 0
    failed: list[str] = []
    if not options.report:
        if options.enron:
            # Not a setting of a cell: results do not depend on the location of the mail.
            os.environ[enron.ENRON_VARIABLE] = str(Path(options.enron).resolve())
        # Without this handler, SIGTERM would leave worker processes behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            failed = runner.run(
                chosen,
                Form(options.full),
                options.jobs,
                options.again,
                scheduler=options.scheduler,
            )
        except ClusterError as error:
            parser.error(f"--scheduler {error}")
        except (WorkerError, WorkerLost) as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            print("interrupted; the same command resumes the run", file=sys.stderr)
            return 130
    for path in page.write():
        print(os.path.relpath(path))
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
