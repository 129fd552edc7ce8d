"""Count the instructions of fixed pieces of work, and compare them with the counts on file.

    python tools/count_instructions.py            # compare; fails where a count has grown
    python tools/count_instructions.py --write    # put the counts of now on file

Time depends on the machine and what else it does; instructions depend on the code, the compiler
and the vector width. Callgrind counts them, and shows every program the same vector width. The
workloads are linked with the library that the installed module was made of. A count that is more
than the tolerance above the one on file fails; one that far below asks for a new file, so that
later growth is noticed. With another compiler than that of the file nothing can be said.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "workloads"
FILE = ROOT / "benchmarks" / "instructions.json"
TOLERANCE = 0.03
"""Libraries of the system take part, and differ a little between its versions."""


def hindrance() -> str | None:
    """Return why nothing can be counted here, or None."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    cpu = Path("/proc/cpuinfo")
    if not cpu.exists() or "avx2" not in cpu.read_text(encoding="utf-8"):
        return "this processor has no AVX2"
    return None


def core() -> Path:
    """Return the library that the installed module was made of."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = list((ROOT / "build").glob(f"{version}-*/libtagalong_core.a"))
    assert found, "the module has not been built yet: make test-instructions does it"
    return max(found, key=lambda path: path.stat().st_mtime)


def build(jobs: int) -> Path:
    """Return the workloads' executable, built."""
    cmake = str(Path(sys.executable).with_name("cmake"))
    ninja = Path(sys.executable).with_name("ninja")
    options = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DTAGALONG_CORE={core()}"]
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([cmake, "-S", ROOT, "-B", BUILD, *options], **quiet)
    subprocess.run([cmake, "--build", BUILD, "-j", str(jobs)], **quiet)
    return BUILD / "workloads"


def compiler() -> str:
    """Return the compiler of the build and its version, as CMake found them."""
    (found,) = BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")
    text = found.read_text(encoding="utf-8")
    parts = [
        re.search(rf'^set\(CMAKE_CXX_COMPILER_{name} "(.*)"\)', text, re.MULTILINE)
        for name in ("ID", "VERSION")
    ]
    return " ".join(part.group(1) for part in parts if part)


def instructions(workloads: Path, name: str) -> int:
    """Return how many instructions an item of a workload takes."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=counted"]
    ran = subprocess.run(
        ["valgrind", *options, workloads, name], capture_output=True, text=True, check=True
    )
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    assert collected, f"callgrind said nothing of what it collected:\n{ran.stderr}"
    return round(int(collected.group(1)) / int(ran.stdout))


def compare(now: dict[str, int], before: dict[str, int]) -> list[str]:
    """Return what is wrong with the counts, one line each."""
    wrong = []
    for name in before.keys() | now.keys():
        if name not in before or name not in now:
            where = "on file" if name in before else "counted"
            wrong.append(f"{name}: only {where}; put the counts of now on file")
        elif now[name] > before[name] * (1 + TOLERANCE):
            wrong.append(f"{name}: {now[name]:,} instructions an item, {before[name]:,} on file")
        elif now[name] < before[name] * (1 - TOLERANCE):
            wrong.append(
                f"{name}: {now[name]:,} instructions an item, only; {before[name]:,} on file: "
                "put the counts of now there"
            )
    return sorted(wrong)


def table(now: dict[str, int], before: dict[str, int]) -> str:
    """Return the counts as Markdown."""
    lines = ["| work | instructions an item | on file | |", "|---|--:|--:|--:|"]
    for name, count in now.items():
        old = before.get(name)
        change = "" if old is None else f"{count / old - 1:+.1%}"
        lines.append(f"| {name} | {count:,} | {'' if old is None else f'{old:,}'} | {change} |")
    return "\n".join(lines)


def main() -> int:
    """Count, and compare or write; 1 where a count is not what is on file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the counts on file")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the build (default 2)")
    options = parser.parse_args()
    if (reason := hindrance()) is not None:
        print(f"instructions are not counted: {reason}")
        return 0
    workloads = build(options.jobs)
    names = subprocess.run([workloads], capture_output=True, text=True, check=True).stdout
    now = {name: instructions(workloads, name) for name in names.splitlines()}
    filed = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    print(table(now, filed.get("instructions", {})))
    if options.write:
        content = {"compiler": compiler(), "instructions": now}
        FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return 0
    if filed.get("compiler") != compiler():
        print(f"not compared: counted with {compiler()}, on file with {filed.get('compiler')}")
        return 0
    wrong = compare(now, filed["instructions"])
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
