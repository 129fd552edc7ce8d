"""The page on formats names every format, extension and option, as the registry has them."""

import re
from pathlib import Path

import pytest

from tagalong.readers import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
MAIL = re.search(r"## Mail\n.*?(?=\n## |\Z)", PAGE, re.DOTALL)
FOR_ALL_TEXT = {"encoding", "max_line"}


@pytest.mark.parametrize("name", FORMATS)
def test_extensions(name: str) -> None:
    assert f"`{name}`" in PAGE
    for extension in FORMATS[name].extensions:
        assert extension in PAGE


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"mbox", "maildir"}))
def test_options(name: str) -> None:
    for option in (*FORMATS[name].options, *FORMATS[name].write_options):
        if option.name in FOR_ALL_TEXT:
            assert f"`{option.name}=`" in PAGE
        elif (name, option.name) != ("tsv", "delimiter"):
            assert f"- `{option.name}`: {option.help}\n" in PAGE


def test_there_is_a_section_on_mail() -> None:
    assert MAIL is not None
