"""Fuzz the readers for a limited time: ``python -m tests.fuzz.readers --seconds 60 --seed 1``.

With the package atheris the search follows the branches that an input reaches; otherwise, or with
``--plain``, inputs are mutated at random. Every fault is saved, reported once, and makes the exit
code 1.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SECONDS_PER_INPUT = 20
LONGEST = 4096


class Runner:
    """Runs inputs and collects the faults.

    Parameters
    ----------
    targets : mapping of str to Target
        The functions under test.
    folder : path
        Folder for the inputs that show a fault.
    """

    def __init__(self, targets: Any, folder: Path):
        self.targets = targets
        self.names = sorted(targets)
        self.executions: Counter[str] = Counter()
        self.faults: dict[tuple[str, ...], Path] = {}
        self._folder = folder
        signal.signal(signal.SIGALRM, _too_slow)

    def run(self, name: str, data: bytes) -> None:
        """Run one input, within limited time."""
        self.executions[name] += 1
        signal.alarm(SECONDS_PER_INPUT)
        try:
            self.targets[name].check(data)
        except Exception as error:
            self._report(name, data, error)
        finally:
            signal.alarm(0)

    def _report(self, name: str, data: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{frame.filename}:{frame.lineno}" for frame in frames]
        fault = (name, type(error).__name__, places[-1])
        if fault in self.faults:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{name.replace(' ', '-')}-{len(self.faults)}"
        path.write_bytes(data)
        self.faults[fault] = path
        print(f"FAULT {name}: {error!r}, input in {path}", *places, sep="\n  ", flush=True)

    def report(self) -> None:
        """Print how many inputs were run."""
        for name in self.names:
            print(f"{self.executions[name]:>10,}  {name}")
        total = self.executions.total()
        print(f"{total:>10,}  executions, {len(self.faults)} faults", flush=True)


def _too_slow(signum: int, frame: object) -> None:
    raise TimeoutError(f"longer than {SECONDS_PER_INPUT} seconds")


def mutated(data: bytes, rng: random.Random, pieces: list[bytes]) -> bytes:
    """Return bytes with a few random changes."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        start = rng.randint(0, len(found))
        end = min(len(found), start + rng.choice((0, 0, 1, 2, 6, 40)))
        kind = rng.randrange(6)
        if kind == 0:
            found[start:end] = rng.randbytes(rng.randint(0, 4))
        elif kind == 1:
            found[start:end] = rng.choice(pieces)
        elif kind == 2:
            found[start:end] = found[start:end] * rng.choice((2, 3, 50))
        elif kind == 3:
            other = rng.randint(0, len(found))
            found[start:end] = found[other : other + rng.randint(0, 60)]
        elif kind == 4 and start < len(found):
            found[start] ^= 1 << rng.randrange(8)
        elif kind == 5 and rng.random() < 0.2:
            del found[start:]
    return bytes(found[:LONGEST])


def fuzz_at_random(runner: Runner, seconds: float, seed: int, pieces: list[bytes]) -> None:
    """Mutate inputs at random; mutants of mutants are kept for a while."""
    rng = random.Random(seed)
    pools = {name: [target.seed] for name, target in runner.targets.items()}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name in runner.names:
            pool = pools[name]
            data = mutated(rng.choice(pool), rng, pieces)
            runner.run(name, data)
            if rng.random() < 0.1:
                pool.append(data)
                if len(pool) > 50:
                    pool.pop(rng.randrange(1, len(pool)))


def fuzz_by_coverage(runner: Runner, seconds: float, seed: int) -> None:
    """Let atheris choose the inputs. The first byte selects the target. This does not return."""
    import atheris

    end = time.monotonic() + seconds
    corpus = tempfile.TemporaryDirectory()
    for number, name in enumerate(runner.names):
        (Path(corpus.name) / str(number)).write_bytes(bytes([number]) + runner.targets[name].seed)

    def run(data: bytes) -> None:
        if time.monotonic() > end:  # atheris would leave without a report
            runner.report()
            corpus.cleanup()
            os._exit(1 if runner.faults else 0)
        if data:
            runner.run(runner.names[data[0] % len(runner.names)], data[1:])

    settings = [f"-seed={seed}", f"-max_len={LONGEST}", "-verbosity=0", "-rss_limit_mb=0"]
    atheris.Setup([sys.argv[0], *settings, corpus.name], run)
    atheris.Fuzz()


def main() -> int:
    """Fuzz all targets and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="mutate at random")
    parser.add_argument("--failures", type=Path, default=Path("build/fuzz"))
    args = parser.parse_args()
    guided = not args.plain and find_spec("atheris") is not None
    if guided:
        import atheris

        with atheris.instrument_imports(include=["tagalong"], enable_loader_override=False):
            from tests.fuzz.targets import PIECES, TARGETS
    else:
        from tests.fuzz.targets import PIECES, TARGETS
    runner = Runner(TARGETS, args.failures)
    for name, target in TARGETS.items():
        runner.run(name, target.seed)
    if guided:
        fuzz_by_coverage(runner, args.seconds, args.seed)
    fuzz_at_random(runner, args.seconds, args.seed, PIECES)
    runner.report()
    return 1 if runner.faults else 0


if __name__ == "__main__":
    sys.exit(main())
