"""The file of the option ``--report``."""

from tagalong.evaluate import Report
from tagalong.evaluate.query_report import QueryReport
from tagalong.printable import as_json
from tagalong.readers.writing import open_destination

__all__ = ["write_report"]


def write_report(report: Report | QueryReport, path: str, *, private: bool) -> None:
    """Write all measures to a file, as one line of JSON.

    Parameters
    ----------
    report : Report or QueryReport
        The measures.
    path : str
        The file.
    private : bool
        Whether a new file is readable by its owner only, as the labels come from mail.
    """
    with open_destination(path, private=private) as stream:
        stream.write(f"{as_json(report.to_dict())}\n".encode())
