# SPDX-License-Identifier: MIT
"""Valid files made wrong: bytes, words, numbers and lines changed, cut, doubled, put elsewhere.

In: the bytes of a file. Out: other bytes, decided by the generator alone, so that an input that
breaks something can be made again from its number.
"""

import io
import re
import zipfile
from collections.abc import Callable

import numpy as np

HEAD = 300
"""Half of all changes hit this many bytes at the beginning: there the format is."""
WORDS = re.compile(rb"[^\s,:{}\[\]]+")
ODD_WORDS = (
    b"", b"0", b"-1", b"1", b"x", b"nan", b"-inf", b"1e400", b"1e-400", b"9" * 30, b"0x10", b"1_0",
    b"null", b"true", b"~", b"list", b"#", b"\xff\xfe", b"\x00", b"\x1c", b"\xe2\x80\xa8", b"../..",
    b"!!python/object/apply:os.system", b"&a", b"*a", b"[", b"{", b"- ", b"'",
    b"18446744073709551615", b"-9223372036854775809", b"4294967296", b"2147483648",
)  # fmt: skip
ODD_NUMBERS = (0, 1, -1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**62, -(2**63))

Mutation = Callable[[bytes, np.random.Generator], bytes]


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with one to four things wrong."""
    if data[:4] == b"PK\x03\x04" and rng.random() < 0.7:
        return _inside_zip(data, rng)
    for _ in range(int(rng.integers(1, 5))):
        data = MUTATIONS[int(rng.integers(len(MUTATIONS)))](data, rng)
    return data


def _place(data: bytes, rng: np.random.Generator) -> int:
    """Somewhere in a file, as often in its head as anywhere."""
    size = min(HEAD, len(data)) if rng.random() < 0.5 else len(data)
    return int(rng.integers(size + 1))


def _other_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if out else 0):
        out[min(_place(data, rng), len(out) - 1)] = int(rng.integers(256))
    return bytes(out)


def _flipped_bit(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    if out:
        out[min(_place(data, rng), len(out) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _cut_off(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _piece_gone(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + data[start + int(rng.integers(1, 65)) :]


def _piece_added(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + rng.bytes(int(rng.integers(1, 65))) + data[start:]


def _piece_doubled(data: bytes, rng: np.random.Generator) -> bytes:
    start, source = _place(data, rng), _place(data, rng)
    return data[:start] + data[source : source + int(rng.integers(1, 257))] + data[start:]


def _odd_number(data: bytes, rng: np.random.Generator) -> bytes:
    size = int(rng.choice([1, 2, 4, 8]))
    number = int(ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))]) % 256**size
    order = "little" if rng.random() < 0.8 else "big"
    start = _place(data, rng)
    return data[:start] + number.to_bytes(size, order) + data[start + size :]


def _odd_word(data: bytes, rng: np.random.Generator) -> bytes:
    words = list(WORDS.finditer(data[: 20 * HEAD]))
    if not words:
        return data
    word = words[int(rng.integers(len(words)))]
    others = [*ODD_WORDS, words[int(rng.integers(len(words)))].group()]
    return data[: word.start()] + others[int(rng.integers(len(others)))] + data[word.end() :]


def _lines_elsewhere(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    taken = lines.pop(int(rng.integers(len(lines))))
    lines.insert(int(rng.integers(len(lines) + 1)), taken)
    if rng.random() < 0.5:
        lines.insert(int(rng.integers(len(lines) + 1)), taken)
    return b"\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    _other_bytes, _flipped_bit, _cut_off, _piece_gone, _piece_added, _piece_doubled, _odd_number,
    _odd_word, _odd_word, _lines_elsewhere,
)  # fmt: skip


def _inside_zip(data: bytes, rng: np.random.Generator) -> bytes:
    """A zip file whose sums are right, with one member made wrong, renamed, or left out."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        members = {name: source.read(name) for name in source.namelist()}
    chosen = list(members)[int(rng.integers(len(members)))]
    kind = rng.random()
    if kind < 0.1:
        del members[chosen]
    elif kind < 0.2:
        odd = ODD_WORDS[int(rng.integers(len(ODD_WORDS)))].decode("latin-1") + ".npy"
        members[odd.replace("\0", "")] = members.pop(chosen)
    else:
        members[chosen] = mutated(members[chosen], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    return stream.getvalue()
