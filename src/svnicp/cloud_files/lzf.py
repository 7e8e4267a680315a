# SPDX-License-Identifier: MIT
"""LZF, the compression inside ``binary_compressed`` PCD files.

A stream of runs of literal bytes and of references to what was already written. Plain Python: a
reference is one slice, so that a scan of 100,000 points takes a fraction of a second.
"""

from svnicp.errors import InputError

CORRUPT = "the compressed data are corrupt or cut off; copy or export the file again."


def decompress(stream: bytes, size: int) -> bytes:
    """Decompress a stream that gives exactly ``size`` bytes.

    Three bytes give at most 264, so no stream expands by more than 88, whatever ``size`` claims.

    Raises
    ------
    InputError
        If the stream is corrupt, or gives more or fewer bytes than that.
    """
    out = bytearray()
    position, end = 0, len(stream)
    try:
        while position < end and len(out) <= size:
            control = stream[position]
            position += 1
            if control < 32:
                out += stream[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += stream[position]
                position += 1
            distance = ((control & 31) << 8) + stream[position] + 1
            position += 1
            _copy_back(out, distance, length + 2)
    except IndexError:
        raise InputError(CORRUPT) from None
    if position != end or len(out) != size:
        raise InputError(CORRUPT)
    return bytes(out)


def _copy_back(out: bytearray, distance: int, length: int) -> None:
    """Append ``length`` bytes that start ``distance`` before the end; they may overlap the end."""
    start = len(out) - distance
    if start < 0:
        raise IndexError
    if length <= distance:
        out += out[start : start + length]
    else:
        pattern = bytes(out[start:])
        out += (pattern * (length // distance + 1))[:length]
