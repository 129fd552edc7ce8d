"""Run clang-tidy over everything that a build compiles, and print each finding once.

    .venv/bin/python tools/clang_tidy.py --build build/clang-tidy

Files are compiled in groups, so a header is seen in several groups and its findings repeat.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
FINDING = re.compile(r"^(?P<place>\S+:\d+:\d+): (?:warning|error): ")


def compiled_files(build: Path) -> list[str]:
    """Return the project's files, and groups of files, in the build's list of compilations."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return [command["file"] for command in commands if "nanobind-static" not in command["output"]]


def findings(output: str) -> list[str]:
    """Return the findings in clang-tidy's output, each with the lines that explain it."""
    found: list[str] = []
    for line in output.splitlines():
        if FINDING.match(line):
            found.append(line)
        elif found and line:
            found[-1] += "\n" + line
    return found


def check(file: str, build: Path) -> tuple[int, str]:
    """Run clang-tidy on one file and return its exit code and output."""
    command = [str(Path(sys.executable).with_name("clang-tidy")), "--quiet", "-p", str(build)]
    config = f"--config-file={ROOT / '.clang-tidy'}"
    ran = subprocess.run([*command, config, file], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout or ran.stderr


def main() -> int:
    """Check all files and return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="folder that cmake configured")
    parser.add_argument("--jobs", type=int, default=1, help="how many files to check at a time")
    options = parser.parse_args()
    files = compiled_files(options.build)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda file: check(file, options.build), files))
    seen: dict[str, str] = {}
    for code, output in results:
        found = findings(output)
        if code != 0 and not found:
            seen[output] = output
        for finding in found:
            seen.setdefault(finding.partition("\n")[0], finding)
    print("\n".join(seen.values()) or f"clang-tidy: nothing found in {len(files)} files")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
