"""docs/formats.md lists every format, extension and option of the registry."""

import re
from pathlib import Path

import pytest

from tagalong.readers import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
MAIL = re.search(r"## Mail\n.*?(?=\n## |\Z)", PAGE, re.DOTALL)
OPTIONS_OF_ALL_TEXT_FORMATS = {"encoding", "max_line"}


@pytest.mark.parametrize("name", FORMATS)
def test_page_lists_extensions(name: str) -> None:
    assert f"`{name}`" in PAGE
    for extension in FORMATS[name].extensions:
        assert extension in PAGE


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"mbox", "maildir"}))
def test_page_lists_options(name: str) -> None:
    for option in (*FORMATS[name].options, *FORMATS[name].write_options):
        if option.name in OPTIONS_OF_ALL_TEXT_FORMATS:
            assert f"`{option.name}=`" in PAGE
        elif (name, option.name) != ("tsv", "delimiter"):
            assert f"- `{option.name}`: {option.help}\n" in PAGE


def test_page_has_a_section_on_mail() -> None:
    assert MAIL is not None
