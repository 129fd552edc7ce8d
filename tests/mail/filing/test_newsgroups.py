"""Filing of real texts with the defaults: 20 newsgroups as a Maildir with folders."""

import os
import random
from pathlib import Path

import pytest

from tagalong.filing import FilingResult, file_mail
from tagalong.mail.filing.maildir import Maildir
from tagalong.readers import read
from tests.mail.filing.maildirs import Mail

POSTS = Path(os.environ.get("TAGALONG_DATA", ""), "newsgroups", "20newsgroups-train.tab.xz")
LEARNT, DAY = 3000, 500  # messages in folders, and messages that arrive before each run
START = 1_600_000_000

pytestmark = pytest.mark.skipif(not POSTS.is_file(), reason=f"needs TAGALONG_DATA/{POSTS.name}")


class Owner:
    """A Maildir whose owner files every message into the folder of its newsgroup.

    The file names of the first messages are in the order of folders, as mbsync writes them when it
    fetches folder after folder. Their dates are in random order.
    """

    def __init__(self, root: Path):
        rows = read(POSTS, columns=("group", "text"), labels="group", quoting=False)
        items = list(rows)[3:]  # after three header lines
        posts = [(item.labels[0], item.text) for item in items if item.text and item.labels]
        random.Random(0).shuffle(posts)
        self.posts = posts
        self.mail = Mail(root)
        self.groups: dict[str, str] = {}
        self.next = 0
        for group in sorted({group for group, _ in posts}):
            self.mail.folder(group.replace(".", "-"))
        old = sorted(range(LEARNT), key=lambda number: posts[number][0])
        for place, number in enumerate(old):
            self.write(number, posts[number][0].replace(".", "-"), START + 10**8 + place)
        self.next = LEARNT

    def write(self, number: int, folder: str, delivered: int) -> str:
        """Write a message whose date grows with its number."""
        from email.utils import formatdate

        group, text = self.posts[number]
        name = f"{delivered}.{number}.host"
        words = str(text).split()
        (self.mail.path(folder) / "cur" / f"{name}:2,S").write_text(
            f"Message-ID: <{number}@news>\nDate: {formatdate(START + 3600 * number)}\n"
            f"Subject: {' '.join(words[:6])}\n\n{' '.join(words[6:])}\n"
        )
        self.groups[name] = group.replace(".", "-")
        return name

    def receive(self) -> None:
        """Put the messages of a day into the inbox."""
        for number in range(self.next, self.next + DAY):
            self.write(number, "", START + 2 * 10**8 + number)
        self.next += DAY

    def tidy(self) -> None:
        """File the messages of the inbox, and correct those that were filed wrongly."""
        box = Maildir(self.mail.root, ())
        for places in box.scan().messages.values():
            for message in places:
                group = self.groups[message.name.partition(":")[0]]
                if message.folder != group:
                    box.source(message).rename(self.mail.path(group) / "cur" / message.name)

    def right(self, result: FilingResult) -> int:
        """Return how many messages were moved to the right folder."""
        return sum(
            self.groups[move.source.name.partition(":")[0]] == move.to_folder
            for move in result.moves
            if move.done
        )


def test_the_defaults_file_most_mail_and_file_it_rightly(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "Mail")
    moved = right = checks = answered = 0
    for day in range(2):
        owner.receive()
        result = file_mail(owner.mail.root, apply=True)
        assert (result.failed, result.in_runs) == (0, False)
        assert result.moved > 0.4 * DAY, f"day {day}: {result.left_by_reason}"
        moved += result.moved
        right += owner.right(result)
        checks += result.left_by_reason.get("spot check", 0)
        answered += result.answered
        owner.tidy()
    # Three standard deviations below 95 % of some 600 messages.
    assert right > (0.95 - 3 * (0.95 * 0.05 / moved) ** 0.5) * moved
    assert checks > 0
    assert answered == checks - result.left_by_reason.get("spot check", 0)
