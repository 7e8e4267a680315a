# SPDX-License-Identifier: MIT
"""Live odometry: the order of time, bounded queues, drops that are counted, latency that ends."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from live_cases import DRIVE, NOISE, PATIENT, expected
from odometry_cases import measured
from svnicp.config import Config
from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import ConfigError
from svnicp.live import InboxConfig, LiveEstimate, LiveOdometry
from svnicp.live.inbox import Inbox
from svnicp.live.statistics import Latencies
from svnicp.odometry import Odometry

BIG_CLOUD = 300_000


def scan_at(end_ns: int, num_points: int = 1) -> Scan:
    return Scan(end_ns - 100, np.ones((num_points, 3)), np.full(num_points, end_ns))


def reading_at(stamp_ns: int) -> ImuSample:
    return ImuSample(stamp_ns, np.zeros(3), np.array([0.0, 0.0, 9.81]))


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(0, 300, 10)))
def test_readings_leave_the_inbox_in_order_and_reach_the_scan(stamps):
    """In whatever order readings come, a scan gets them sorted, up to its end and no farther."""
    inbox = Inbox(InboxConfig(), with_imu=True)
    inbox.put_scan(scan_at(105))
    for stamp in stamps:
        inbox.put_imu(reading_at(stamp))
    work = inbox.take()
    assert work is not None
    assert work.covered
    assert [sample.stamp_ns for sample in work.samples] == list(range(0, 110, 10))


def test_a_reading_at_the_very_end_of_a_scan_is_the_last_one_it_gets():
    """It is within the scan; the one after it is for the next scan."""
    inbox = Inbox(InboxConfig(), with_imu=True)
    for stamp in (90, 100, 110):
        inbox.put_imu(reading_at(stamp))
    inbox.put_scan(scan_at(100))
    work = inbox.take()
    assert work is not None
    assert [sample.stamp_ns for sample in work.samples] == [90, 100]


def test_a_scan_waits_for_the_imu_but_not_for_ever():
    """A scan whose end no reading reaches is handed out after the time limit, and says so."""
    inbox = Inbox(InboxConfig(imu_wait_s=0.05), with_imu=True)
    inbox.put_imu(reading_at(50))
    start = time.monotonic()
    inbox.put_scan(scan_at(100))
    work = inbox.take()
    assert work is not None
    assert not work.covered
    assert time.monotonic() - start >= 0.05


def test_a_late_reading_releases_the_scan():
    """The scan is handed out as soon as a reading reaches its end."""
    inbox = Inbox(InboxConfig(imu_wait_s=60.0), with_imu=True)
    inbox.put_scan(scan_at(100))
    timer = threading.Timer(0.05, inbox.put_imu, [reading_at(100)])
    timer.start()
    work = inbox.take()
    timer.join()
    assert work is not None
    assert work.covered


def test_a_closed_inbox_waits_for_nothing():
    """When no more readings can come, a scan is handed out without them."""
    inbox = Inbox(InboxConfig(imu_wait_s=60.0), with_imu=True)
    inbox.put_scan(scan_at(100))
    inbox.close()
    work = inbox.take()
    assert work is not None
    assert not work.covered
    assert inbox.take() is None


def test_the_oldest_scan_is_dropped_and_counted():
    """With room for two, the last two of five scans are left, in the order of time."""
    inbox = Inbox(InboxConfig(max_scans=2, max_start_scans=1), with_imu=False)
    for end in (100, 300, 200, 500, 400):
        inbox.put_scan(scan_at(end))
    inbox.close()
    ends = []
    while (work := inbox.take()) is not None:
        ends.append(work.arrival.end_ns)
    assert ends == [400, 500]
    assert (inbox.num_scans, inbox.num_dropped) == (5, 3)


def test_more_scans_may_wait_at_the_start():
    """Until the start is over twenty scans may wait; then the oldest of them are dropped."""
    inbox = Inbox(InboxConfig(max_scans=2), with_imu=False)
    for end in range(100, 2600, 100):
        inbox.put_scan(scan_at(end))
    assert (inbox.num_waiting, inbox.num_dropped) == (20, 5)
    inbox.settle()
    assert (inbox.num_waiting, inbox.num_dropped) == (2, 23)


def test_readings_are_bounded_and_those_too_late_are_counted():
    """The oldest readings go when there are too many; one before a processed scan is refused."""
    inbox = Inbox(InboxConfig(max_samples=3), with_imu=True)
    for stamp in range(100, 600, 100):
        inbox.put_imu(reading_at(stamp))
    inbox.put_scan(scan_at(450))
    work = inbox.take()
    assert work is not None
    assert [sample.stamp_ns for sample in work.samples] == [300, 400]
    inbox.put_imu(reading_at(350))
    assert (inbox.num_samples, inbox.num_samples_dropped) == (6, 3)


def test_queues_without_room_are_refused():
    """A queue for no scan makes no sense, and neither does a negative wait."""
    with pytest.raises(ConfigError, match="at least one scan"):
        InboxConfig(max_scans=0)
    with pytest.raises(ConfigError, match="imu_wait_s"):
        InboxConfig(imu_wait_s=-1.0)


def test_latencies_are_those_of_the_sorted_list(rng):
    """Percentiles are right to the millisecond, and the maximum is exact."""
    seconds = rng.exponential(0.05, 2000)
    latencies = Latencies()
    for value in seconds:
        latencies.add(value)
    for percent in (50.0, 95.0):
        exact = np.percentile(seconds, percent, method="inverted_cdf")
        assert exact <= latencies.percentile_s(percent) <= exact + 1.001e-3
    assert latencies.max_s == seconds.max()


def test_live_gives_the_same_bits_as_a_recording():
    """Scans and readings from two threads, readings shuffled, give what a plain loop gives."""
    everything = measured(DRIVE)
    scans = [one for one in everything if isinstance(one, Scan)]
    samples = [one for one in everything if not isinstance(one, Scan)]
    got: list[LiveEstimate] = []
    with LiveOdometry(Odometry(imu=NOISE), [got.append], PATIENT) as live:
        rng = np.random.default_rng(4)

        def send_readings() -> None:
            for start in range(0, len(samples), 20):
                for index in rng.permutation(min(20, len(samples) - start)):
                    live.add_imu(samples[start + index])

        sender = threading.Thread(target=send_readings)
        sender.start()
        for scan in scans:
            live.add_scan(scan)
        sender.join()
    assert len(got) == len(expected()) > 10
    for ours, plain in zip(got, expected(), strict=True):
        assert ours.estimate.stamp_ns == plain.stamp_ns
        assert_array_equal(ours.estimate.T_world_body, plain.T_world_body)
        assert_array_equal(ours.estimate.covariance, plain.covariance)
    statistics = live.statistics()
    assert statistics.num_scans == len(scans)
    assert (statistics.num_dropped, statistics.num_refused) == (0, 0)
    assert statistics.num_estimates + statistics.num_without == len(scans)


def test_an_overloaded_machine_drops_scans_and_keeps_latency_bounded(rng):
    """Scans too big for their rate: most are dropped and counted, none waits for more than two."""
    slow = Odometry(Config.from_dict({"stein": {"num_particles": 100, "max_iterations": 30}}))
    room = 10.0 * rng.uniform(-1.0, 1.0, (BIG_CLOUD, 3))
    face = rng.integers(0, 3, BIG_CLOUD)
    room[np.arange(BIG_CLOUD), face] = 10.0 * rng.choice([-1.0, 1.0], BIG_CLOUD)
    points = room.astype(np.float32)
    got: list[LiveEstimate] = []
    with LiveOdometry(slow, [got.append], InboxConfig(max_start_scans=2)) as live:
        for number in range(40):
            live.add_scan(Scan(10_000_000 * number, points))
            time.sleep(0.01)
    busy_s = [sum(one.estimate.timing_s.values()) for one in got]
    statistics = live.statistics()
    assert statistics.num_dropped > 10
    assert statistics.num_dropped + statistics.num_estimates + statistics.num_without == 40
    assert statistics.latency_max_s < 4.0 * max(busy_s) + 0.5
    assert got[-1].estimate.stamp_ns == 390_000_000  # the newest is never the one dropped


def test_bad_scans_are_counted_and_the_run_goes_on(caplog):
    """A scan that odometry refuses is counted with a reason, and the next one is processed."""
    scans = [one for one in measured(DRIVE) if isinstance(one, Scan)][:3]
    odometry = Odometry()
    got: list[LiveEstimate] = []

    def fussy(one: LiveEstimate) -> None:
        if len(got) == 1:
            got.append(one)
            raise ConfigError("no such frame.")
        got.append(one)

    with LiveOdometry(odometry, [fussy], PATIENT) as live:
        for scan in scans:
            live.add_scan(scan)
    assert len(got) == 3
    assert live.statistics().num_refused == 1
    assert "no such frame" in caplog.text


def test_a_bug_in_the_worker_shows_itself():
    """An exception that is no user's mistake is raised where the run ends, not swallowed."""
    scan = next(one for one in measured(DRIVE) if isinstance(one, Scan))

    def broken(_: LiveEstimate) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), LiveOdometry(Odometry(), [broken]) as live:
        live.add_scan(scan)


def test_stamps_that_go_back_are_told_once(caplog):
    """A clock that jumps back gives a warning with what to do, and scans without estimates."""
    scans = [one for one in measured(DRIVE) if isinstance(one, Scan)][:3]
    with LiveOdometry(Odometry(), config=PATIENT) as live:
        for scan in scans:
            live.add_scan(scan)
        while live.statistics().num_estimates < 3:
            time.sleep(0.01)
        for scan in scans[:2]:
            assert scan.point_times_ns is not None
            back = 5_000_000_000
            live.add_scan(Scan(scan.stamp_ns - back, scan.points, scan.point_times_ns - back))
    assert live.statistics().num_without == 2
    assert caplog.text.count("went back by 5.") == 1


def test_statistics_read_well():
    """The line for people names what happened and leaves out what did not."""
    live = LiveOdometry(Odometry())
    assert live.statistics().in_words() == "0 scans, 0 IMU readings, 0 estimates, 0 dropped"
    live.refuse("a reason")
    assert live.statistics().in_words().endswith("1 refused")
