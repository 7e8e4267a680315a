# SPDX-License-Identifier: MIT
"""Messages of LiDARs and IMUs, encoded by rosbags, are read back to the same values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ros_recordings import (
    START_NS,
    STORES,
    Encodable,
    cloud_message,
    header_message,
    imu_message,
    livox_message,
    packet_bytes,
    velodyne_message,
)
from svnicp.data.ros.imu import STANDARD_GRAVITY, acceleration_unit, decode_imu
from svnicp.data.ros.livox import decode_livox
from svnicp.data.ros.point_cloud2 import TYPES, parse_point_cloud2, raw_cloud
from svnicp.data.ros.velodyne import VELODYNE_TIMES, VelodyneDecoder, parse_velodyne_scan
from svnicp.data.ros.wire import Encoding, MessageReader
from svnicp.errors import ConfigError, InputError

encodings = st.sampled_from(["ros1", "cdr"])
frames = st.text("abc/_", max_size=9)


@pytest.fixture(params=["ros1", "cdr"])
def encoding(request) -> Encoding:
    return request.param


@st.composite
def clouds(draw):
    """Return a cloud of any layout: its message, its points, its times."""
    names = draw(st.permutations(["x", "y", "z", "time", "intensity", "ring"]))
    codes = {name: draw(st.sampled_from(list(TYPES))) for name in names}
    for axis in "xyz":
        codes[axis] = draw(st.sampled_from([7, 8, 5, 3]))
    big_endian = draw(st.booleans())
    order = ">" if big_endian else "<"
    offset, offsets = 0, {}
    for name in names:
        offset += draw(st.integers(0, 3))
        offsets[name] = offset
        offset += np.dtype(TYPES[codes[name]]).itemsize
    layout = np.dtype(
        {
            "names": names,
            "formats": [order + TYPES[codes[name]] for name in names],
            "offsets": [offsets[name] for name in names],
            "itemsize": offset + draw(st.integers(0, 7)),
        }
    )
    height, width = draw(st.integers(1, 4)), draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.zeros(height * width, layout)
    for name in names:
        rows[name] = rng.integers(1, 100, len(rows))
    message = cloud_message(
        draw(st.integers(0, 2**31 - 1)) * 10**9,
        rows,
        [(name, offsets[name], codes[name]) for name in names],
        width=width,
        row_padding=draw(st.integers(0, 9)),
        big_endian=big_endian,
        frame_id=draw(frames),
    )
    return message, rows


@given(clouds(), encodings)
def test_clouds_of_any_layout_are_read_exactly(cloud, encoding):
    """Order, type, byte order and padding of fields, and rows, do not change what is read."""
    message, rows = cloud
    read = raw_cloud(parse_point_cloud2(message.raw(encoding).reader()), "time")
    assert read.points.dtype == np.float32
    assert_array_equal(read.points, np.stack([rows[axis] for axis in "xyz"], axis=1))
    assert read.raw_times is not None
    assert_array_equal(read.raw_times, rows["time"])
    assert read.raw_times.dtype.isnative


@given(st.data(), encodings)
def test_points_that_are_not_measurements_go_with_their_times(data, encoding):
    """Points that are not finite or exactly at the origin are dropped, each with its own time."""
    layout = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("t", "u4")])
    coordinates = st.sampled_from([0.0, 1.5, -2.0, np.nan, np.inf, -np.inf])
    points = np.array(data.draw(st.lists(st.tuples(*[coordinates] * 3), max_size=12)), "f4")
    points = points.reshape(-1, 3)
    rows = np.zeros(len(points), layout)
    for axis, values in zip("xyz", points.T, strict=True):
        rows[axis] = values
    rows["t"] = np.arange(len(points))
    message = cloud_message(0, rows, [("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("t", 12, 6)])
    read = raw_cloud(parse_point_cloud2(message.raw(encoding).reader()), "t")
    kept = [i for i, p in enumerate(points) if np.isfinite(p).all() and np.any(p != 0.0)]
    assert_array_equal(read.raw_times, kept)
    assert_array_equal(read.points, points[kept])


def test_a_point_without_a_finite_time_is_dropped(encoding):
    """A point whose time is NaN is no use, even if its place is known."""
    layout = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("time", "f8")])
    rows = np.array([(1, 2, 3, 0.1), (4, 5, 6, np.nan)], layout)
    message = cloud_message(0, rows, [("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("time", 12, 8)])
    read = raw_cloud(parse_point_cloud2(message.raw(encoding).reader()), "time")
    assert_array_equal(read.points, [[1, 2, 3]])


XYZ = [("x", 0, 7), ("y", 4, 7), ("z", 8, 7)]


@pytest.mark.parametrize(
    ("fields", "changes", "sentence"),
    [
        (XYZ[:2], {}, "no field z"),
        ([*XYZ[:2], ("z", 10, 7)], {}, "ends at byte 14 of a point of 12"),
        ([*XYZ[:2], ("z", 8, 9)], {}, "has type 9"),
        (XYZ, {"height": 7}, "promises 7 x 2 points, which take 168 bytes"),
        (XYZ, {"height": 2, "row_step": 5}, "do not fit into 5 bytes"),
    ],
)
def test_a_cloud_that_contradicts_itself_is_refused(fields, changes, sentence, encoding):
    """Missing, overlapping or unknown fields and missing bytes are named in one sentence."""
    rows = np.ones(2, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    message = cloud_message(0, rows, fields)
    message.fields.update(changes)
    with pytest.raises(InputError, match=sentence):
        raw_cloud(parse_point_cloud2(message.raw(encoding).reader()), None)


def test_a_field_of_several_values_is_refused(encoding):
    """A coordinate with two values per point has no meaning."""
    message = cloud_message(0, np.ones(2, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])), XYZ)
    message.fields["fields"][0].fields["count"] = 2
    with pytest.raises(InputError, match="field x has 2 values per point"):
        parse_point_cloud2(message.raw(encoding).reader()).xyz()


@given(encodings, st.data())
def test_a_message_cut_anywhere_is_refused(encoding, data):
    """No prefix of a message is mistaken for a whole one."""
    rows = np.ones(3, np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    whole = cloud_message(START_NS, rows, XYZ).encode(encoding)
    length = data.draw(st.integers(0, len(whole) - 1 - 4))  # the last flag is not needed
    with pytest.raises(InputError):
        parse_point_cloud2(MessageReader(whole[:length], encoding))


@given(encodings, st.data(), frames)
def test_imu_messages_are_read_exactly(encoding, data, frame_id):
    """Stamp, frame, angular velocity and acceleration survive in both encodings."""
    vector = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)
    rate, acceleration = data.draw(vector), data.draw(vector)
    stamp_ns = data.draw(st.integers(0, 2**31 * 10**9 - 1))
    message = imu_message(stamp_ns, rate, acceleration, frame_id)
    header, sample = decode_imu(message.raw(encoding).reader())
    assert header == (stamp_ns, frame_id.lstrip("/"))
    assert sample.stamp_ns == stamp_ns
    assert_array_equal(sample.angular_velocity, rate)
    assert_array_equal(sample.linear_acceleration, acceleration)


def test_big_endian_cdr_is_read():
    """ROS 2 messages of big-endian computers say so in their first bytes."""
    message = imu_message(START_NS, [1, 2, 3], [4, 5, 6])
    data = STORES["cdr"].serialize_cdr(
        message.build("cdr"), "sensor_msgs/msg/Imu", little_endian=False
    )
    header, sample = decode_imu(MessageReader(bytes(data), "cdr"))
    assert header == (START_NS, "imu")
    assert_array_equal(sample.linear_acceleration, [4, 5, 6])


def test_an_imu_message_that_is_not_finite_is_refused(encoding):
    """NaN must not reach the filter."""
    message = imu_message(0, [0, 0, 0], [0, np.nan, 0])
    with pytest.raises(InputError, match="not finite"):
        decode_imu(message.raw(encoding).reader())


@pytest.mark.parametrize(
    ("length", "given", "factor", "doubt"),
    [
        (1.0, None, STANDARD_GRAVITY, ""),
        (9.8, None, 1.0, ""),
        (0.03, None, 1.0, "gravity seems to have been removed"),
        (3.0, None, 1.0, "gravity seems to have been removed"),
        (1.0, "m/s^2", 1.0, "0.1 times as long as gravity, and would fit in g"),
        (9.8, "g", STANDARD_GRAVITY, "9.8 times as long as gravity, and would fit in m/s^2"),
        (98.0, None, 1.0, "10 times as long as gravity, in whatever unit"),
    ],
)
def test_the_unit_of_accelerations_is_told_from_gravity(length, given, factor, doubt, rng):
    """A length of 1 means g, of 9.8 m/s^2; what is given wins; all else is doubted in words."""
    messages = [
        imu_message(i, [0, 0, 0], length * np.array([0.6, 0.0, 0.8]) + rng.normal(0, 1e-3, 3))
        for i in range(50)
    ]
    readings = [decode_imu(message.raw("ros1").reader())[1] for message in messages]
    unit = acceleration_unit(readings, given)
    assert bool(unit.doubt) == bool(doubt)
    scaled = unit.sample(readings[0]).linear_acceleration
    assert_allclose(scaled, factor * readings[0].linear_acceleration)
    assert doubt in unit.finding().value


@given(encodings, st.integers(0, 5), frames, st.integers(0, 2**32))
def test_livox_messages_are_read_exactly(encoding, num_points, frame_id, seed):
    """Points of 19 bytes, which CDR aligns to 20, come back with their offsets."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(1.0, 50.0, (num_points, 3)).astype(np.float32)
    offsets_ns = rng.integers(0, 10**8, num_points)
    message = livox_message(START_NS, points, offsets_ns)
    message.fields["header"] = header_message(START_NS, frame_id)
    read = decode_livox(message.raw(encoding).reader())
    assert_array_equal(read.points, points)
    assert_array_equal(read.raw_times, offsets_ns)


def velodyne_scan(num_packets: int = 4, product: int = 0x22) -> Encodable:
    """Scan of packets 1.327 ms apart over a full hour, all returns at 10 m but one without."""
    distances_m = np.full((12, 32), 10.0)
    distances_m[0, 0] = 0.0
    stamps_ns = [START_NS + 1_327_104 * i for i in range(num_packets)]
    packets = [
        packet_bytes(480 * i, distances_m, (3_599_998_000 + 1327 * i) % 3_600_000_000, product)
        for i in range(num_packets)
    ]
    return velodyne_message(stamps_ns, packets)


def test_velodyne_packets_become_points_at_their_angles(encoding):
    """VLP-16 returns at 10 m lie on a sphere of 10 m, on rings 2 degrees apart, and on no other."""
    pytest.importorskip("velodyne_decoder")
    decode = VelodyneDecoder()
    read = decode(velodyne_scan().raw(encoding).reader())
    assert decode.model == "VLP16"
    assert len(read.points) == 4 * (12 * 32 - 1)
    # The beams start up to 4 cm off the axis.
    assert_allclose(np.linalg.norm(read.points, axis=1), 10.0, atol=0.05)
    elevation_deg = np.degrees(np.arcsin(read.points[:, 2] / 10.0))
    assert_array_equal(np.unique(np.round(elevation_deg)), np.arange(-15, 16, 2))


def test_velodyne_times_follow_packets_and_firings(encoding):
    """The last packet has the header's time, and the sensor's clock and firing cycle the others."""
    pytest.importorskip("velodyne_decoder")
    read = VelodyneDecoder()(velodyne_scan().raw(encoding).reader())
    assert read.raw_times is not None
    start_ns, times_ns = VELODYNE_TIMES.apply(read.raw_times, read.header.stamp_ns)
    assert read.header.stamp_ns == START_NS + 3 * 1_327_104
    # The manual: 2.304 us from firing to firing, 55.296 us from cycle to cycle; float32 seconds.
    assert abs(start_ns - (read.header.stamp_ns - 3 * 1_327_000 + 2304)) < 100
    assert abs(times_ns.max() - (read.header.stamp_ns + 23 * 55_296 + 15 * 2304)) < 100


def test_a_velodyne_scan_without_packets_is_empty(encoding):
    """The decoding library would crash on it."""
    pytest.importorskip("velodyne_decoder")
    message = velodyne_scan(1)
    message.fields["packets"] = []
    read = VelodyneDecoder()(message.raw(encoding).reader())
    assert len(read.points) == 0
    assert read.raw_times is not None


def test_packets_are_read_without_the_decoder(encoding):
    """Stamps and bytes of packets, which CDR aligns to 1216 bytes, are found for every packet."""
    message = velodyne_scan(3)
    header, packets = parse_velodyne_scan(message.raw(encoding).reader())
    assert header.frame_id == "velodyne"
    assert packets["nsec"].tolist() == [0, 1_327_104, 2_654_208]
    assert packets["data"][2].tobytes() == message.fields["packets"][2].fields["data"].tobytes()


@pytest.mark.parametrize(("product", "model"), [(0x21, "HDL32E"), (0x28, "VLP32C")])
def test_the_model_is_told_from_the_packets(product, model):
    """The last byte of a packet says which sensor it is from."""
    pytest.importorskip("velodyne_decoder")
    decode = VelodyneDecoder()
    assert len(decode(velodyne_scan(2, product).raw("ros1").reader()).points) > 0
    assert decode.model == model


def test_an_unknown_velodyne_needs_a_name():
    """A product that nobody knows is asked for; a name nobody knows is refused with the list."""
    pytest.importorskip("velodyne_decoder")
    message = velodyne_scan(1, product=0x77).raw("ros1")
    with pytest.raises(InputError, match="0x77; name the model with --velodyne-model"):
        VelodyneDecoder()(message.reader())
    assert len(VelodyneDecoder("VLP16")(message.reader()).points) > 0
    with pytest.raises(ConfigError, match=r"must be one of .*VLP16.*, not VLP17"):
        VelodyneDecoder("VLP17")
