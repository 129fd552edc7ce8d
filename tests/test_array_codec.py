"""Arrays are restored from model files to the bit, and invalid streams are refused."""

import zlib
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tagalong import _native as core
from tagalong.learning.array_codec import decode_arrays, encode_array
from tests.reference.packed_rows import unpack_planes

SPECIAL = {
    "float32": [0, 0x80000000, 1, 0x80000001, 0x7F800000, 0x7FC00001, 0xFFC12345, 0x3F800000],
    "float64": [0, 1 << 63, 1, 0x7FF0 << 48, 0x7FF8 << 48 | 5, 0xFFF8 << 48, 0x3FF0 << 48],
}
"""Bits of zeros of both signs, denormal numbers, infinity, NaNs and 1."""


@st.composite
def planes(draw: st.DrawFn) -> list[npt.NDArray[Any]]:
    """One or two planes of sparse numbers; some of the second one are multiples of the first."""
    dtype = draw(st.sampled_from(["float32", "float64"]))
    rows, width = draw(st.integers(0, 9)), draw(st.integers(0, 70))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    word = f"u{np.dtype(dtype).itemsize}"

    def plane() -> npt.NDArray[Any]:
        numbers = random.normal(size=(rows, width)).astype(dtype).view(word)
        special = random.choice(np.array(SPECIAL[dtype], dtype=word), size=(rows, width))
        out = np.where(random.random((rows, width)) < 0.1, special, numbers)
        out[random.random((rows, width)) < draw(st.sampled_from([0.0, 0.5, 0.95]))] = 0
        for row in range(1, rows):
            if random.random() < 0.4:
                out[row] = np.where(random.random(width) < 0.7, out[row - 1], out[row])
        return out

    first = plane()
    if draw(st.booleans()):
        return [first.view(dtype)]
    times = random.integers(0, draw(st.sampled_from([3, 300, 2**32])), size=(rows, width))
    with np.errstate(all="ignore"):
        multiples = (times.astype(dtype) * first.view(dtype)).view(word)
    second = np.where(random.random((rows, width)) < 0.6, multiples, plane())
    return [first.view(dtype), second.view(dtype)]


def bits(array: npt.NDArray[Any]) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def streams_of(packed: core.PackedWeights) -> dict[str, bytes]:
    names = enumerate(core.PackedWeights.STREAMS)
    return {name: b"".join(bytes(c) for c in packed.chunks(i)) for i, name in names}


@settings(max_examples=150)
@given(planes())
def test_packed_planes_are_restored_to_the_bit(found: list[npt.NDArray[Any]]) -> None:
    packed = core.PackedWeights.pack(*found)
    assert list(map(bits, packed.unpacked())) == list(map(bits, found))
    rows, width = packed.shape
    naive = unpack_planes(streams_of(packed), rows, width, packed.planes, packed.dtype)
    assert list(map(bits, naive)) == list(map(bits, found))


def stored(name: str, array: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the descriptions in a file that has one array."""
    parts, description = encode_array(name, array)
    descriptions = {part.name: part.description for part in parts if part.description}
    if description:
        descriptions[name] = description
    found = {}
    for part in parts:
        data = np.frombuffer(b"".join(bytes(piece) for piece in part.pieces()), np.uint8)
        assert len(data) <= part.most
        found[part.name] = data if part.shape is None else data.view(part.dtype).reshape(part.shape)
    return found, descriptions


def decoded(found: dict[str, Any], descriptions: dict[str, Any]) -> dict[str, Any]:
    return decode_arrays(descriptions, sorted(found), found.__getitem__)


@settings(max_examples=50)
@given(planes())
def test_packed_weights_go_through_a_file(found: list[npt.NDArray[Any]]) -> None:
    packed = core.PackedWeights.pack(*found)
    restored = decoded(*stored("theta", packed))["theta"]
    assert list(map(bits, restored.unpacked())) == list(map(bits, found))


TYPES = [np.bool_, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


@settings(max_examples=100)
@given(st.sampled_from(TYPES).flatmap(lambda t: arrays_of.arrays(t, arrays_of.array_shapes())))
def test_arrays_are_restored_to_the_bit(array: npt.NDArray[Any]) -> None:
    for each in (array, np.tile(array.reshape(-1), 200), array[:0]):
        assert bits(decoded(*stored("a", each))["a"]) == bits(np.ascontiguousarray(each))


@pytest.mark.parametrize("count", [2**16 - 1, 2**16, 2**16 + 1, 3 * 2**16 + 5])
def test_arrays_of_several_blocks(count: int) -> None:
    array = np.arange(count, dtype=np.float64)
    found, descriptions = stored("a", array)
    assert found["a"].nbytes < array.nbytes / 3
    assert bits(decoded(found, descriptions)["a"]) == bits(array)


@pytest.mark.parametrize("count", [3, 300])
def test_numbers_of_either_byte_order_are_restored(count: int) -> None:
    array = np.arange(count, dtype=">f8")
    assert bits(decoded(*stored("a", array))["a"]) == bits(array.astype("<f8"))


def test_an_array_without_dimensions_is_restored() -> None:
    array = np.array(1.5)
    assert bits(decoded(*stored("a", array))["a"]) == bits(array)


def test_random_numbers_are_stored_as_they_are() -> None:
    array = np.random.default_rng(0).integers(0, 2**63, 1000)
    found, descriptions = stored("a", array)
    assert not descriptions
    assert bits(found["a"]) == bits(array)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"shape": [10**12]}, "longer than its stream can be"),
        ({"shape": [2**20, 2**27]}, "longer than its stream can be"),
        ({"shape": [1001]}, "shorter than it claims"),
        ({"shape": [999]}, "longer than it claims"),
        ({"shape": [0]}, "longer than it claims"),
        ({"shape": [-1]}, "invalid description"),
        ({"shape": [1000.0]}, "invalid description"),
        ({"shape": [True]}, "invalid description"),
        ({"shape": 1000}, "invalid description"),
        ({"shape": [2**60]}, "invalid description"),
        ({"dtype": "object"}, "invalid description"),
        ({"dtype": "V8"}, "invalid description"),
        ({"dtype": ["int64"]}, "invalid description"),
        ({"dtype": "int32"}, "longer than it claims"),
        ({"more": 1}, "invalid description"),
    ],
)
def test_false_descriptions_are_refused(change: dict[str, Any], problem: str) -> None:
    found, descriptions = stored("a", np.arange(1000))
    with pytest.raises(ValueError, match=problem):
        decoded(found, {"a": {**descriptions["a"], **change}})


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (lambda data: data[:-1], "shorter than it claims"),
        (lambda data: data[: len(data) // 2], "shorter than it claims"),
        (lambda data: data[:0], "longer than its stream can be"),
        (lambda data: np.append(data, np.uint8(0)), "bytes after its end"),
        (lambda data: np.append(data, data), "bytes after its end"),
        (lambda data: data[::-1].copy(), "cannot be decompressed"),
        (lambda data: data.astype(np.int32), "not a stream of bytes"),
        (lambda data: data.reshape(1, -1), "not a stream of bytes"),
        (lambda data: np.append(data[:-1], data[-1] ^ 1), "cannot be decompressed"),
    ],
)
def test_damaged_streams_are_refused(stream: Any, problem: str) -> None:
    found, descriptions = stored("a", np.arange(1000))
    with pytest.raises(ValueError, match=problem):
        decoded({"a": stream(found["a"])}, descriptions)


def test_no_more_than_the_stated_length_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of zeros that is a thousand times as long as its description says."""
    bomb = np.frombuffer(zlib.compress(bytes(10**8), 9), np.uint8)
    produced: list[bytes] = []
    real = zlib.decompressobj

    class Counted:
        def __init__(self) -> None:
            self._real = real()

        def decompress(self, data: Any, most: int) -> bytes:
            produced.append(self._real.decompress(data, most))
            return produced[-1]

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    monkeypatch.setattr(zlib, "decompressobj", Counted)
    with pytest.raises(ValueError, match="longer than it claims"):
        decoded({"a": bomb}, {"a": {"dtype": "uint8", "shape": [10**5]}})
    assert sum(map(len, produced)) == 10**5 + 1


def test_every_change_of_packed_streams_is_refused_or_harmless() -> None:
    """Lengths that do not fit are refused; other bytes give other numbers."""
    random = np.random.default_rng(1)
    first = random.normal(size=(20, 30)).astype(np.float32)
    first[random.random(first.shape) < 0.6] = 0
    second = (np.float32(7) * first).astype(np.float32)
    second[random.random(first.shape) < 0.2] += 1
    packed = core.PackedWeights.pack(first, second)
    streams = {name: np.frombuffer(s, np.uint8) for name, s in streams_of(packed).items()}

    def unpack(changed: dict[str, Any], shape: Any = (20, 30), planes: int = 2) -> Any:
        data = [changed[name] for name in core.PackedWeights.STREAMS]
        return core.PackedWeights.from_streams(shape, planes, "float32", data).unpacked()

    assert bits(unpack(streams)[1]) == bits(second)
    for name, stream in streams.items():
        for changed in (stream[:-1], np.append(stream, stream[:1])):
            with pytest.raises(ValueError, match="packed weights"):
                unpack({**streams, name: changed})
    for shape, count in (((19, 30), 2), ((21, 30), 2), ((20, 22), 2), ((2**40, 2**40), 2)):
        with pytest.raises(ValueError, match="packed weights"):
            unpack(streams, shape, count)
    for shape, count in (((20, 29), 2), ((20, 30), 1), ((20, 30), 3)):
        with pytest.raises(ValueError, match="packed weights"):
            unpack(streams, shape, count)
    for _ in range(500):
        name = str(random.choice(["mask", "codes", "times", "exponents"]))
        changed = streams[name].copy()
        changed[random.integers(len(changed))] ^= random.integers(1, 256)
        with suppress(core.InputError):  # other errors, and crashes, fail the test
            unpack({**streams, name: changed})


def test_packed_weights_are_complete() -> None:
    found, descriptions = stored("theta", core.PackedWeights.pack(np.ones((3, 4))))
    for name in found:
        with pytest.raises(ValueError, match=r"incomplete|does not have"):
            decoded({key: found[key] for key in found if key != name}, descriptions)
    with pytest.raises(ValueError, match="both packed and not"):
        decoded({**found, "theta": np.ones((3, 4))}, descriptions)
    with pytest.raises(ValueError, match="does not have"):
        decoded(found, {**descriptions, "other": {"dtype": "uint8", "shape": [1]}})
    for planes in (0, 3, True, 1.0, None, "2"):
        changed = {**descriptions["theta"], "planes": planes}
        with pytest.raises(ValueError, match="invalid description"):
            decoded(found, {**descriptions, "theta": changed})
