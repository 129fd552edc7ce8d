"""``python -m experiments``: run experiments, and write docs/reproduction.md from the results."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from experiments import catalogue, enron, page, runner
from experiments.experiment import Form


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all rows, settings and repetitions")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="such as p1, or p2/figure7")
    parser.add_argument(
        "--enron",
        default="",
        metavar="DIR",
        help="Enron mail: the maildir of CMU's archive, or Bekkerman's flat folders",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (cores)")
    parser.add_argument("--again", action="store_true", help="run finished cells anew")
    parser.add_argument("--report", action="store_true", help="only write the page")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs is {options.jobs}; it takes at least 1")
    if options.enron and not Path(options.enron).is_dir():
        parser.error(f"--enron is {options.enron}; there is no such folder")
    try:
        chosen = catalogue.experiments(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for experiment in chosen:
            print(f"{experiment.name:14} {experiment.title}")
        return 0
    failed: list[str] = []
    if not options.report:
        if options.enron:
            # Not a setting of a cell: results do not depend on where somebody keeps his mail.
            os.environ[enron.VARIABLE] = str(Path(options.enron).resolve())
        # Workers of a process that is ended by a signal would be left behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            failed = runner.run(chosen, Form(options.full), options.jobs, options.again)
        except KeyboardInterrupt:
            print("interrupted: the same command goes on from here", file=sys.stderr)
            return 130
    for path in page.write():
        print(os.path.relpath(path))
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
