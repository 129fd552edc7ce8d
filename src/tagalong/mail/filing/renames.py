"""Folders that their owner has given another name."""

from collections import Counter

from tagalong.mail.filing.journal import Journal
from tagalong.mail.filing.mailbox import Snapshot

__all__ = ["find_renamed_folders"]


def find_renamed_folders(labels: set[str], journal: Journal, snapshot: Snapshot) -> dict[str, str]:
    """Return folders that have got another name, by the old one.

    A folder that is no longer there counts as renamed if one new folder has at least half of its
    messages, and no other folder has any.

    Parameters
    ----------
    labels : set of str
        The labels so far.
    journal : Journal
        Where messages were.
    snapshot : Snapshot
        Where they are.
    """
    sizes: Counter[str] = Counter()
    places: dict[str, Counter[str]] = {}
    for key, entry in journal.present.items():
        if entry.folder in snapshot.folders or entry.folder not in labels:
            continue
        sizes[entry.folder] += 1
        place = snapshot.place(key, entry).folder if key in snapshot.messages else ""
        if place in snapshot.ordinary:
            places.setdefault(entry.folder, Counter())[place] += 1
    found = {
        old: new
        for old, counts in places.items()
        for new, count in counts.items()
        if len(counts) == 1 and 2 * count >= sizes[old]
        if new not in labels
    }
    # Two folders that became one are a merger, which is learnt message by message.
    heirs = Counter(found.values())
    return {old: new for old, new in found.items() if heirs[new] == 1}
