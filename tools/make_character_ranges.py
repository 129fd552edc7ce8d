"""Write cpp/text/character_ranges.inc from Python's Unicode database.

Run ``python tools/make_character_ranges.py`` to change to a newer Unicode version. The ranges
define word boundaries: a model learnt with other ranges may have other features for some texts.
"""

import sys
import unicodedata
from itertools import groupby
from pathlib import Path

TARGET = Path(__file__).parent.parent / "cpp" / "text" / "character_ranges.inc"

# Unicode blocks of scripts that are written without spaces between words.
SPACELESS = [
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x3005, 0x3007),  # ideographic iteration and closing marks, zero
    (0x3040, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar, extended B
    (0xAA60, 0xAADF),  # Myanmar, extended A; Tai Viet
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFF9F),  # Katakana, half width
    (0x1AFF0, 0x1B16F),  # kana supplements
    (0x20000, 0x3FFFF),  # Han, extensions B and later
]


def kind(point: int) -> str:
    """Return the class of a code point in word splitting: "word", "spaceless" or "other"."""
    category = unicodedata.category(chr(point))
    if category[0] not in "LMN":
        return "other"
    if category[0] != "N" and any(first <= point <= last for first, last in SPACELESS):
        return "spaceless"
    return "word"


def main() -> None:
    """Write the ranges, one per line."""
    lines = [f"// Unicode {unicodedata.unidata_version}; made by tools/make_character_ranges.py."]
    for found, run in groupby(range(0x80, sys.maxunicode + 1), key=kind):
        points = list(run)
        if found != "other":
            lines.append(f"{{0x{points[0]:X}, 0x{points[-1]:X}, Character::{found}}},")
    TARGET.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
