"""Compressed answers."""

import pytest

from tagalong.server.page.compression import accepts_gzip


@pytest.mark.parametrize(
    ("values", "accepted"),
    [
        ([b"gzip, deflate, br, zstd"], True),
        ([b"br;q=1.0, GZIP;q=0.1"], True),
        ([b"br", b"gzip"], True),
        ([b"gzip; q=0.0"], False),
        ([b"br, gzip;q=0"], False),
        ([b"x-gzip-like"], False),
        ([b"identity"], False),
        ([b""], False),
        ([], False),
    ],
)
def test_only_what_the_browser_accepts(values: list[bytes], accepted: bool) -> None:
    headers = [(b"Accept-Encoding", value) for value in values]
    assert accepts_gzip({"headers": headers}) is accepted
