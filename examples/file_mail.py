"""File a Maildir: learn from its folders, look at the plan, move, and correct a mistake.

    python examples/file_mail.py

The script makes a small Maildir in a temporary folder, so it touches none of your mail. With your
own, the first two calls of `file_mail` are the whole program; `tagalong file` is the same as a
command.
"""

import mailbox
import random
import tempfile
from collections import Counter
from email.message import EmailMessage
from pathlib import Path

from tagalong.filing import file_mail, read_log

FOLDERS = {
    "Bank": ["invoice", "payment", "account", "transfer", "receipt", "due"],
    "Travel": ["flight", "hotel", "boarding", "gate", "ticket", "luggage"],
    "Family": ["birthday", "grandmother", "photos", "children", "dinner", "visit"],
}
EVERYDAY = ["please", "today", "regards", "attached", "friday", "thanks", "hello", "soon"]


def write_mail(topic: str, number: int, rng: random.Random) -> EmailMessage:
    """Return a mail with three words of its topic and five words that say nothing."""
    message = EmailMessage()
    message["Message-ID"] = f"<{topic}-{number}@example.org>"
    message["From"] = f"someone{number % 7}@example.org"
    words = rng.sample(FOLDERS[topic], 3)
    message["Subject"] = " ".join(words[:2])
    message.set_content(" ".join([words[2], *rng.sample(EVERYDAY, 5)]))
    return message


def make_maildir(path: Path, rng: random.Random) -> mailbox.Maildir:
    """Make a Maildir with three folders of filed mail and twelve new messages in the inbox."""
    inbox = mailbox.Maildir(path)
    folders = {topic: inbox.add_folder(topic) for topic in FOLDERS}
    for number in range(150):
        for topic, folder in folders.items():
            folder.add(write_mail(topic, number, rng))
    for number in range(200, 204):
        for topic in FOLDERS:
            inbox.add(write_mail(topic, number, rng))
    return inbox


def main() -> None:
    """Plan, apply, put one message back, run again, and show the log."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "Maildir")
        inbox = make_maildir(path, random.Random(0))

        plan = file_mail(path)  # a dry run: nothing is moved or saved
        print(f"learnt {plan.learnt} messages; of {len(inbox)} in the inbox it would move:")
        for move in plan.moves:
            print(f"  {move.subject!r} to {move.to_folder} because of {', '.join(move.why[:2])}")

        done = file_mail(path, apply=True)
        checks = done.left_by_reason.get("spot check", 0)
        print(f"moved {done.moved}; {len(inbox)} left in the inbox, {checks} of them spot checks")

        # The owner disagrees with one move and puts the message back with a mail program.
        wrong = done.moves[0]
        wrong.target.rename(wrong.source)

        later = file_mail(path, apply=True)
        left = next(message for message in later.left if message.source == wrong.source)
        print(f"rejections learnt: {later.rejected}; {wrong.subject!r} stays: {left.reason}")

        outcomes = Counter(message.outcome for message in read_log(path))
        print("what became of the messages:", dict(outcomes))


if __name__ == "__main__":
    main()
