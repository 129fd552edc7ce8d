"""Load model files with random changes and valid checksums, and use what was loaded.

A changed file is either refused with ModelFileError, or its model answers and learns without an
error. Nothing crashes the interpreter and nothing hangs.

    python -m tests.fuzz.models --seconds 60           # random changes for a minute
    python -m tests.fuzz.models --cases 100000         # as many files
    python -m tests.fuzz.models --only race            # changes of files with this word in the name
    python -m tests.fuzz.models --seed 3 --case 512    # one of them again, with its traceback

Each case follows from the seed and its number alone. A second process loads the files, so that the
first one can report a crash or a hang and go on with the next case.
"""

import argparse
import collections
import faulthandler
import io
import multiprocessing
import multiprocessing.connection
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np

import tagalong
from tagalong import ModelFileError, Tagger
from tagalong.cli.errors import CommandError
from tagalong.cli.main import main as run_command
from tagalong.cli.run_state import Run
from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.model_file import NOTES
from tests.fuzz.model_mutations import Contents, mutated
from tests.fuzz.model_seeds import seeds
from tests.fuzz.model_use import use
from tests.model_files import forge
from tests.online.custom_features import Affinity

GOOD = ("refused", "used", "overflowed")
"""Outcomes that are no fault. Huge but finite weights may give infinite scores."""
MOST_FAULTS = 100
HANGS_AFTER = 30.0  # seconds for one file, which takes some milliseconds


def changed_contents(originals: dict[str, Contents], seed: int, case: int) -> tuple[str, Contents]:
    """Return the name of a case's original file, and its changed contents."""
    random = np.random.default_rng([seed, case])
    name = sorted(originals)[int(random.integers(len(originals)))]
    return name, mutated(originals[name], random)


def loaded(path: Path, contents: Contents) -> Any:
    """Load a file, with custom features if it says that it needs them."""
    own = contents[0].get("own_features") is not None
    return tagalong.load(path, features=Affinity() if own else None)


def outcome(path: Path, contents: Contents) -> str:
    """Load a changed file and use the model; return one of `GOOD` or the error."""
    forge(path, *contents)
    try:
        model = loaded(path, contents)
    except ModelFileError:
        return "refused"
    except Exception as error:
        return f"load raised {described(error)}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(model)
            if isinstance(model, Tagger):
                inspect(path, model)
    except OverflowError:
        return "overflowed"
    except Exception as error:
        return f"use raised {described(error)}"
    return "used"


def inspect(path: Path, tagger: Tagger) -> None:
    """Run the command that prints all of a model, and read the notes of other commands."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        run_command(["inspect", str(path), "--words", "2"])
    if "this is a bug" in errors.getvalue():
        raise RuntimeError(errors.getvalue())
    with suppress(CommandError):
        Run.from_notes(tagger, str(path))
    if NOTES in tagger.notes:
        with suppress(ValueError):
            Journal.from_json(tagger.notes[NOTES])


def described(error: Exception) -> str:
    """Return an error with the innermost line of code that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} at {where}: {str(error)[:150]}"


class Worker:
    """A process that runs cases one after the other, from a given one on.

    Parameters
    ----------
    seed, first : int
        The seed, and the number of the first case.
    """

    def __init__(self, seed: int, first: int) -> None:
        here, there = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=run_cases, args=(there, seed, first), daemon=True)
        self._process.start()
        there.close()
        self._outcomes = here

    def next_outcome(self) -> tuple[str, str]:
        """Return the name and the outcome of the next case; a crash or a hang is an outcome."""
        try:
            if self._outcomes.poll(HANGS_AFTER):
                found: tuple[str, str] = self._outcomes.recv()
                return found
        except EOFError:
            self._process.join()
            return "", f"crashed with exit status {self._process.exitcode}"
        self.stop()
        return "", f"hung for {HANGS_AFTER:.0f} s"

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


ORIGINALS: dict[str, Contents] = {}
"""The sound files; made once, before the first worker starts."""


def run_cases(outcomes: Any, seed: int, first: int) -> None:
    """Send the outcome of every case from the first one on, until the process is stopped."""
    with tempfile.TemporaryDirectory(prefix="tagalong-fuzz-") as folder:
        case = first
        while True:
            name, contents = changed_contents(ORIGINALS, seed, case)
            outcomes.send((name, outcome(Path(folder) / "model.tagalong", contents)))
            case += 1


def fuzz(seed: int, cases: int, seconds: float) -> dict[str, list[int]]:
    """Run cases until a number or a time is reached; return the case numbers by outcome."""
    found: dict[str, list[int]] = collections.defaultdict(list)
    end = time.monotonic() + seconds
    worker = Worker(seed, 0)
    for case in range(cases):
        name, result = worker.next_outcome()
        if result.startswith(("crashed", "hung")):
            worker.stop()
            worker = Worker(seed, case + 1)
            name, _ = changed_contents(ORIGINALS, seed, case)
        found[result if result in GOOD else f"{name}: {result}"].append(case)
        if len(found) > MOST_FAULTS or time.monotonic() > end:
            break
    worker.stop()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--cases", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--case", type=int, help="run one case here, with its traceback")
    parser.add_argument("--only", default="", help="files whose names contain this word")
    arguments = parser.parse_args()
    ORIGINALS.update({n: c for n, c in seeds().items() if arguments.only in n})
    if arguments.case is not None:
        return run_one(arguments.seed, arguments.case)
    found = fuzz(arguments.seed, arguments.cases, arguments.seconds)
    total = sum(map(len, found.values()))
    counts = ", ".join(f"{len(found.pop(good, [])):,} {good}" for good in GOOD)
    print(f"seed {arguments.seed}: {total:,} changed files: {counts}; {len(found)} kinds of faults")
    for result, cases in sorted(found.items()):
        print(f"  case {cases[0]} and {len(cases) - 1} more: {result}")
    return 1 if found else 0


def differences(before: Any, now: Any, place: str = "header") -> Iterator[str]:
    """Yield the changed fields of a header."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}, key=str):
            yield from differences(before.get(key), now.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from differences(old, new, f"{place}[{i}]")
    elif repr(before) != repr(now):
        yield f"{place} is {now!r}, was {before!r}"


def run_one(seed: int, case: int) -> int:
    """Run one case in this process, without catching errors."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    name, (header, arrays) = changed_contents(ORIGINALS, seed, case)
    before_header, before = ORIGINALS[name]
    print(name)
    for change in differences(before_header, header):
        print(f"  {change}"[:300])
    for key in sorted({*arrays, *before}):
        if key not in arrays or repr(arrays[key].tolist()) != repr(before[key].tolist()):
            print(f"  array {key}: {arrays.get(key)!r}, was {before.get(key)!r}"[:1000])
    with tempfile.TemporaryDirectory(prefix="tagalong-fuzz-") as folder:
        path = Path(folder) / "model.tagalong"
        forge(path, header, arrays)
        use(loaded(path, (header, arrays)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
