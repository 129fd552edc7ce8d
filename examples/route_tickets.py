"""Route support tickets to teams: suggest, learn from the answer, show progress, keep the model.

    python examples/route_tickets.py

Each ticket is ranked before it is learnt, as in real use, so the printed accuracy is that of
suggestions a person would have seen. The second half of the stream brings a team that did not
exist before.
"""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tagalong
from tagalong import Item, Tagger

TEAMS = {
    "billing": ["invoice", "refund", "charged", "card", "vat"],
    "accounts": ["password", "login", "locked", "reset", "email"],
    "hardware": ["screen", "battery", "keyboard", "noise", "broken"],
    "mobile": ["android", "app", "crash", "update", "notification"],
}
EVERYDAY = ["my", "please", "help", "since", "yesterday", "customer", "urgent", "again"]


def tickets(number: int, seed: int = 0) -> Iterator[Item]:
    """Yield tickets with a title, a body, a priority, and the team that solved each."""
    rng = random.Random(seed)
    for i in range(number):
        teams = sorted(TEAMS) if i >= number // 2 else sorted(set(TEAMS) - {"mobile"})
        team = rng.choice(teams)
        title = " ".join(rng.sample(TEAMS[team], 2))
        body = " ".join([rng.choice(TEAMS[team]), *rng.sample(EVERYDAY, 4)])
        priority = rng.choice(["low", "high"])
        yield Item(str(i), {"title": title, "": body}, {"priority": priority}, (team,))


def main() -> None:
    """Learn 600 tickets and print how often the first suggestion was right, by the hundred."""
    tagger = Tagger()
    right = 0
    for count, ticket in enumerate(tickets(600), start=1):
        suggestions = tagger.suggest(ticket, k=1)
        right += bool(suggestions) and suggestions[0].label in (ticket.labels or ())
        tagger.learn(ticket)
        if count % 100 == 0:
            print(f"tickets {count - 99:3} to {count}: first suggestion right in {right} of 100")
            right = 0

    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "tickets.tagalong")
        tagger.save(path)
        loaded = tagalong.load(path)
        question = Item(text={"title": "app crash", "": "since the last update"})
        for suggestion in loaded.suggest(question, k=2):
            print(f"{suggestion.label}: {suggestion.probability:.0%}")
        print("because of", loaded.explain(question, "mobile").speaks_for[0][0])


if __name__ == "__main__":
    main()
