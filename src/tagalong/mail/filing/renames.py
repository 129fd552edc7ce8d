"""Detection of folders that the owner has renamed."""

from collections import Counter

from tagalong.mail.filing.journal import Journal, is_within
from tagalong.mail.filing.mailbox import Snapshot

__all__ = ["find_renamed_folders"]


def find_renamed_folders(labels: set[str], journal: Journal, snapshot: Snapshot) -> dict[str, str]:
    """Return the new names of renamed folders by old name.

    A missing folder counts as renamed if a single new folder has at least half of its messages,
    and no other ordinary folder has any of them.

    Parameters
    ----------
    labels : set of str
        Labels that the tagger knows.
    journal : Journal
        Journal with the last folder of each message.
    snapshot : Snapshot
        Present locations of the messages.
    """
    sizes: Counter[str] = Counter()
    places: dict[str, Counter[str]] = {}
    for key, entry in journal.present.items():
        if entry.folder in snapshot.folders or entry.folder not in labels:
            continue
        if entry.state == "asked" or is_within(entry.folder, snapshot.unread):
            continue  # The message is in the inbox, or its folder cannot be read.
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
    # If two folders became one, they were merged, not renamed: each message is learnt again.
    sources = Counter(found.values())
    return {old: new for old, new in found.items() if sources[new] == 1}
