"""Checks of the table formats that a command line asks for."""

from tagalong.cli.errors import UsageError
from tagalong.tables.formats import missing_package
from tagalong.tables.writers import TableFormat

__all__ = ["check_table_format"]


def check_table_format(format: TableFormat | None, option: str) -> None:
    """Raise UsageError if a package that the format needs is not installed.

    Parameters
    ----------
    format : str, optional
        The format.
    option : str
        The option that asks for it, for the message.
    """
    if problem := missing_package(format):
        raise UsageError(f"{option}: {problem}")
