"""A naive reader of packed weights: one number at a time, with Python integers."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["unpack_planes"]


def unpack_planes(
    streams: dict[str, bytes], rows: int, width: int, planes: int, dtype: str
) -> list[npt.NDArray[Any]]:
    """Return the planes of packed weights.

    Parameters
    ----------
    streams : dict
        The streams of bytes by name.
    rows, width, planes : int
        The shape.
    dtype : str
        ``float32`` or ``float64``.
    """
    places = dict.fromkeys(streams, 0)

    def take(name: str, count: int) -> int:
        begin = places[name]
        places[name] += count
        assert places[name] <= len(streams[name])
        return int.from_bytes(streams[name][begin : places[name]], "little")

    size = np.dtype(dtype).itemsize

    def take_number(suffix: str) -> int:
        """Return the bits of a number; the sign is the last bit of a stored one."""
        upper = take(f"exponents{suffix}", 1)
        bits = upper << 8 * (size - 1) | take(f"fractions{suffix}", size - 1)
        return bits >> 1 | (bits & 1) << (8 * size - 1)

    out = np.zeros((planes, rows, width), f"u{size}")
    for row in range(rows):
        mask = take("mask", (width + 7) // 8)
        times: list[int] = []
        for label in range(width):
            if not mask >> label & 1:
                continue
            code = take("codes", 1)
            own = int(out[0, row - 1, label]) if code & 0x80 and row else 0
            if not code & 0x80:
                own = take_number("")
            out[0, row, label] = own
            if planes == 1 or code & 0x7F == 0x7E:
                continue
            if code & 0x7F == 0x7F:
                out[1, row, label] = take_number("1")
                continue
            if code & 0x7F == len(times):
                times.append(take("times", 4))
            theta = np.array(own, f"u{size}").view(dtype)
            time = np.array(times[code & 0x7F]).astype(dtype)
            out[1, row, label] = (time * theta).view(f"u{size}")
    assert places == {name: len(data) for name, data in streams.items()}
    return [plane.view(dtype) for plane in out]
