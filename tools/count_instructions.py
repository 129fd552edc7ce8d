"""Count the instructions of fixed workloads, and compare the counts with recorded ones.

    python tools/count_instructions.py            # compare; fail if a count differs too much
    python tools/count_instructions.py --write    # record the present counts

Time depends on the machine and its load; instructions depend only on the code, the compiler and the
vector width. Callgrind counts the instructions, and reports the same vector width on every machine.
The workloads are linked with the library of the installed module. The check fails if a count is
above the recorded one by more than the tolerance. It also fails if a count is below by more than
the tolerance: the lower count must be recorded, so that later growth is noticed. Counts of
different compilers are not compared.
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
"""Relative tolerance. System libraries are counted too, and differ a little between versions."""


def why_impossible() -> str | None:
    """Return why instructions cannot be counted on this machine; None if they can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    cpu = Path("/proc/cpuinfo")
    if not cpu.exists() or "avx2" not in cpu.read_text(encoding="utf-8"):
        return "this processor has no AVX2"
    return None


def core_library() -> Path:
    """Return the static library from which the installed module was linked."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = list((ROOT / "build").glob(f"{version}-*/libtagalong_core.a"))
    assert found, "the module has not been built; run make test-instructions"
    return max(found, key=lambda path: path.stat().st_mtime)


def build(jobs: int) -> Path:
    """Build the workloads and return their executable."""
    cmake = str(Path(sys.executable).with_name("cmake"))
    ninja = Path(sys.executable).with_name("ninja")
    options = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DTAGALONG_CORE={core_library()}"]
    quiet = subprocess.DEVNULL
    subprocess.run([cmake, "-S", ROOT, "-B", BUILD, *options], check=True, stdout=quiet)
    subprocess.run([cmake, "--build", BUILD, "-j", str(jobs)], check=True, stdout=quiet)
    return BUILD / "workloads"


def compiler() -> str:
    """Return name and version of the compiler that CMake found."""
    (found,) = BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")
    text = found.read_text(encoding="utf-8")
    parts = [
        re.search(rf'^set\(CMAKE_CXX_COMPILER_{name} "(.*)"\)', text, re.MULTILINE)
        for name in ("ID", "VERSION")
    ]
    return " ".join(part.group(1) for part in parts if part)


def instructions(workloads: Path, name: str) -> int:
    """Return the number of instructions per item of a workload."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=counted"]
    ran = subprocess.run(
        ["valgrind", *options, workloads, name], capture_output=True, text=True, check=True
    )
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    assert collected, f"no instruction count in the output of callgrind:\n{ran.stderr}"
    return round(int(collected.group(1)) / int(ran.stdout))


def compare(now: dict[str, int], before: dict[str, int]) -> list[str]:
    """Return one message per count that differs from the recorded one, sorted."""
    differences = []
    for name in before.keys() | now.keys():
        if name not in before or name not in now:
            where = "not recorded" if name in now else "recorded but not counted"
            differences.append(f"{name}: {where}; record the present counts (--write)")
        elif now[name] > before[name] * (1 + TOLERANCE):
            differences.append(
                f"{name}: {now[name]:,} instructions per item, {before[name]:,} recorded"
            )
        elif now[name] < before[name] * (1 - TOLERANCE):
            differences.append(
                f"{name}: only {now[name]:,} instructions per item, {before[name]:,} recorded; "
                "record the present counts (--write)"
            )
    return sorted(differences)


def table(now: dict[str, int], before: dict[str, int]) -> str:
    """Return the counts as a Markdown table."""
    lines = ["| work | instructions per item | recorded | |", "|---|--:|--:|--:|"]
    for name, count in now.items():
        old = before.get(name)
        change = "" if old is None else f"{count / old - 1:+.1%}"
        lines.append(f"| {name} | {count:,} | {'' if old is None else f'{old:,}'} | {change} |")
    return "\n".join(lines)


def main() -> int:
    """Count, and compare or record; return 1 if a count differs from the recorded one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="record the counts")
    parser.add_argument(
        "--jobs", type=int, default=2, help="number of parallel build processes (default 2)"
    )
    options = parser.parse_args()
    if (reason := why_impossible()) is not None:
        print(f"instructions cannot be counted: {reason}")
        return 0
    workloads = build(options.jobs)
    names = subprocess.run([workloads], capture_output=True, text=True, check=True).stdout
    now = {name: instructions(workloads, name) for name in names.splitlines()}
    recorded = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    print(table(now, recorded.get("instructions", {})))
    if options.write:
        content = {"compiler": compiler(), "instructions": now}
        FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return 0
    if recorded.get("compiler") != compiler():
        print(f"not compared: counted with {compiler()}, recorded with {recorded.get('compiler')}")
        return 0
    differences = compare(now, recorded["instructions"])
    print("\n".join(differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
