"""The warning that a comma inside one label may have split it into two."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from tagalong.cli.output import Output
from tagalong.cli.run_state import Run
from tagalong.learning.items import Item
from tagalong.readers.queries import Query
from tagalong.readers.registry import FORMATS, format_of_file

__all__ = ["SeparatorWarning"]

FIRST_ITEMS = 2000
MIN_TOGETHER = 20


class SeparatorWarning:
    """Warns, once per run, that two labels of a table always occur together.

    A cell such as "Sales, EMEA" may be one label, which the separator of the labels splits.

    Parameters
    ----------
    out : Output
        Writes the warning.
    run : Run
        The sources and the reading options.
    """

    def __init__(self, out: Output, run: Run):
        self._out = out
        self._items = 0
        self._is_done = not _splits_at_commas(run)
        self._labels: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()

    def count(self, items: Iterable[Item | Query]) -> None:
        """Count the labels of further items; warn after the first 2,000."""
        if self._is_done:
            return
        for item in items:
            labels = [str(label) for label in item.labels or ()] if isinstance(item, Item) else []
            self._items += 1
            self._labels.update(labels)
            self._pairs.update(pairwise(labels))
        if self._items >= FIRST_ITEMS:
            self.show()

    def show(self) -> None:
        """Write the warning if two labels were never apart, and it has not been written yet."""
        if self._is_done:
            return
        self._is_done = True
        for (first, second), count in self._pairs.most_common():
            if count < MIN_TOGETHER:
                return
            if self._labels[first] == count == self._labels[second]:
                self._out.info(
                    f"warning: the labels {first!r} and {second!r} always occur together "
                    f"({count:,} times in the first {self._items:,} items). If "
                    f"{f'{first}, {second}'!r} is one label, learn again with --separator ''"
                )
                return


def _splits_at_commas(run: Run) -> bool:
    """Whether the items come from tables whose label cells are split at the default separator."""
    reading = run.reading
    given = {**reading.remembered.get("options", {}), **reading.options}
    if "separator" in given or "indicators" in given:
        return False
    formats = [FORMATS[reading.format]] if reading.format else map(format_of_file, reading.sources)
    return any(option.name == "delimiter" for found in formats if found for option in found.options)
