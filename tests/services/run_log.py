"""A plugin of pytest that writes every result to a file at once, as runs may be killed.

``--run-log FILE`` names the file.
"""

import time
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-log", type=Path, help="file for a line per test, and for its failure")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--run-log")
    if path is not None and not hasattr(config, "workerinput"):  # no worker of pytest-xdist
        path.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(RunLog(path))


class RunLog:
    """Writes results to a file.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path: Path):
        self._path = path
        path.write_text("")

    def _write(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(f"begins {nodeid}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            words = f"{report.outcome} {report.nodeid} ({report.when}, {report.duration:.1f} s)"
            self._write(words)
        if report.failed:
            self._write(
                f"{report.longreprtext}\n{report.caplog}{report.capstdout}{report.capstderr}"
            )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        counts = {name: len(each) for name, each in terminalreporter.stats.items() if name}
        self._write(f"ended: {counts}")
