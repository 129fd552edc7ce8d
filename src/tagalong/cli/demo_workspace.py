"""A workspace for a first look: part of the Python documentation, with some items left open."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tagalong.cli.output import Output
from tagalong.journal import Workspace
from tagalong.readers.pydocs import read_pydocs

__all__ = ["demo_workspace"]

LEARNT = 2000
OPEN = 50
_AT_ONCE = 500


@contextmanager
def demo_workspace(out: Output, learnt: int = LEARNT, open: int = OPEN) -> Iterator[Path]:
    """Make a temporary workspace, which is removed at the end of the block.

    Parameters
    ----------
    out : Output
        Says what is being learnt.
    learnt : int
        Number of items to learn.
    open : int
        Number of items without labels, for the user to answer.
    """
    with TemporaryDirectory(prefix="tagalong-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        out.info(f"learning {learnt:,} items of the Python documentation, leaving {open} open")
        items = read_pydocs()
        with Workspace(folder, command="tagalong serve") as workspace:
            taught = islice(items, learnt)
            while batch := list(islice(taught, _AT_ONCE)):
                workspace.add_many(batch, source="pydocs", actor="demo")
            left = [replace(item, labels=None) for item in islice(items, open)]
            workspace.add_many(left, source="pydocs", actor="demo")
        yield folder
