# SPDX-License-Identifier: MIT
"""velodyne_msgs/VelodyneScan: the raw packets of a Velodyne, decoded to points.

The packets of one revolution, 1206 bytes each, go through the velodyne-decoder package, which knows
the angles and firing times of every model. The header is the time of the last packet, so the times
of points come out negative, down to one revolution.
"""

from types import ModuleType
from typing import Protocol

import numpy as np

from svnicp.data.ros.point_cloud2 import RawCloud, measured
from svnicp.data.ros.point_times import PointTimes
from svnicp.data.ros.wire import Header, MessageReader
from svnicp.errors import ConfigError, InputError
from svnicp.extras import require

PACKET_BYTES = 1206
LEAD_S = 1.0
"""Stamp of the first packet that the decoder is given; it cannot take negative ones [s]."""

PRODUCTS = {
    "VLP16": 0x22,
    "PuckLite": 0x22,
    "PuckHiRes": 0x24,
    "HDL32E": 0x21,
    "VLP32A": 0x23,
    "VLP32B": 0x23,
    "VLP32C": 0x28,
    "VLS128": 0xA1,
    "AlphaPrime": 0xA1,
}
"""Models with the last byte of their packets; the first of those that share one is the usual."""

VELODYNE_TIMES = PointTimes(
    field="packet stamps and firing order",
    unit="ns",
    absolute=False,
    header_at="end",
    evidence="velodyne_driver stamps a scan with its last packet",
)


class ScanDecoder(Protocol):
    """The part of velodyne-decoder that is used here."""

    def decode(self, scan_packets: list, as_pcl_structs: bool) -> tuple:
        """Return the stamp of the last packet, and the points as a structured array."""
        ...


def parse_velodyne_scan(message: MessageReader) -> tuple[Header, np.ndarray]:
    """Header and packets of a scan; each packet has a stamp (sec, nsec) and its data."""
    header = message.header()
    order = message.byte_order
    layout = np.dtype([("sec", order + "u4"), ("nsec", order + "u4"), ("data", "u1", PACKET_BYTES)])
    return header, message.rows(layout, message.number("I"), align=4)


class VelodyneDecoder:
    """Decodes scans of one sensor.

    Parameters
    ----------
    model
        Name of the model as velodyne-decoder has it, such as "VLP16"; told from the packets if
        None.

    Raises
    ------
    MissingExtraError
        If velodyne-decoder is not installed.
    ConfigError
        If it does not know the model.
    """

    def __init__(self, model: str | None = None) -> None:
        self._library = require("velodyne_decoder", "velodyne", "Reading Velodyne packets")
        if model is not None and model not in PRODUCTS:
            raise ConfigError(f"velodyne_model must be one of {', '.join(PRODUCTS)}, not {model}.")
        self.model = model
        self._decoder = None if model is None else _scan_decoder(self._library, model)

    def __call__(self, message: MessageReader) -> RawCloud:
        """Points of one scan, with their times relative to its header [ns].

        Raises
        ------
        InputError
            If the message is cut off or its packets are of no known model.
        """
        header, packets = parse_velodyne_scan(message)
        if len(packets) == 0:  # the decoder would crash
            return RawCloud(header, np.empty((0, 3), np.float32), np.empty(0, np.int64))
        if self.model is None or self._decoder is None:
            self.model = _model_of(packets)
            self._decoder = _scan_decoder(self._library, self.model)
        stamps_ns = packets["sec"].astype(np.int64) * 1_000_000_000 + packets["nsec"]
        offsets_ns = stamps_ns - stamps_ns.min()
        # A model that was given is right, whatever the packets say; the decoder would refuse them.
        product = bytes([PRODUCTS[self.model]])
        stamped = [
            self._library.VelodynePacket(LEAD_S + offset_ns * 1e-9, data[:-1].tobytes() + product)
            for offset_ns, data in zip(offsets_ns, packets["data"], strict=True)
        ]
        try:
            stamp, rows = self._decoder.decode(stamped, as_pcl_structs=True)
        except RuntimeError as error:
            raise InputError(f"its Velodyne packets cannot be decoded: {error}.") from None
        points = np.stack([rows[axis] for axis in "xyz"], axis=1)
        seconds = rows["time"].astype(np.float64) + (stamp.host - LEAD_S)
        base_ns = int(stamps_ns.min()) - header.stamp_ns
        return measured(header, points, np.rint(seconds * 1e9).astype(np.int64) + base_ns)


def _model_of(packets: np.ndarray) -> str:
    """Name of the model that sent the packets."""
    product = int(packets["data"][0, -1])
    for model, known in PRODUCTS.items():
        if product == known:
            return model
    raise InputError(
        f"its Velodyne packets are of an unknown product, number 0x{product:02x}; "
        "name the model with --velodyne-model."
    )


def _scan_decoder(library: ModuleType, model: str) -> ScanDecoder:
    """Return the library's decoder for one model."""
    return library.ScanDecoder(library.Config(model=library.Model.__members__[model]))
