"""Checks of the option ``--plot`` before a run starts, so that it does not fail at the end."""

from importlib.util import find_spec
from pathlib import Path

from tagalong.cli.errors import UsageError
from tagalong.cli.models import check_destination

__all__ = ["check_plot"]


def check_plot(path: str | None) -> None:
    """Raise UsageError or CommandError if a plot cannot be written to a file.

    Parameters
    ----------
    path : str, optional
        The file; None if there is no plot.
    """
    if path is None:
        return
    check_destination(path, "--plot")
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"--plot {path}: the name must end in .png or .svg")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: pip install 'tagalong[plots]'")
