"""Items whose labels swap their meaning in the middle of the stream."""

import random

__all__ = ["SWAPPED", "SWAPPED_AT", "changing_items"]

SWAPPED_AT = 601
SWAPPED = ("travel", "work")
TOPICS = ("home", "money", *SWAPPED, "family", "garden")


def changing_items(count: int, seed: int = 1) -> list[tuple[dict[str, float], str]]:
    """Items of words about one topic each; two topics swap their labels at item ``SWAPPED_AT``.

    Parameters
    ----------
    count : int
        Number of items.
    seed : int, default 1
        Determines the words.
    """
    chance = random.Random(seed)
    swapped = dict(zip(SWAPPED, reversed(SWAPPED), strict=True))
    items = []
    for number in range(1, count + 1):
        topic = chance.choice(TOPICS)
        words = {f"{topic}{chance.randrange(25)}": 1.0 for _ in range(4)}
        words |= {f"any{chance.randrange(50)}": 1.0 for _ in range(3)}
        items.append((words, swapped.get(topic, topic) if number >= SWAPPED_AT else topic))
    return items
