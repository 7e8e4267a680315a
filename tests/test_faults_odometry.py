# SPDX-License-Identifier: MIT
"""Odometry over small drives with faults: nothing crashes, and sigma keeps its word."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from odometry_cases import DEFAULT, drive
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.odometry import Odometry
from svnicp.studies.faults import clock_faults
from svnicp.studies.faults.arrivals import Fault, FaultyDataset
from svnicp.studies.faults.catalogue import FAULTS, NONE
from svnicp.studies.faults.faulty_drive import Run, judged, run_through

LATEST_S = (2**63 - 1 - drive().start_ns) // 10**9 - 10
"""So far a clock can be set forward before its nanoseconds do not fit into 64 bits any more."""


@cache
def ran(name: str, uses_imu: bool) -> tuple[Run, dict]:
    """A run through the small drive with a fault while it moves, and its rows."""
    fault = FAULTS[name]
    if fault.begin_s > 0.0:
        longest_s = 0.1 if name == "2 million points" else 0.4
        fault = dataclasses.replace(fault, begin_s=1.8, duration_s=min(fault.duration_s, longest_s))
    return run_with(fault, uses_imu)


def run_with(fault: Fault, uses_imu: bool) -> tuple[Run, dict]:
    """A run through the small drive with any fault."""
    dataset = FaultyDataset(drive(), fault, drive().start_ns)
    run = run_through(dataset, DEFAULT, uses_imu=uses_imu)
    return run, judged(run.seen, drive(), dataset.window)


CASES = [
    ("50 % of the scans dropped", True, set()),
    ("scans 0.3 s late", True, set()),
    ("no readings for 0.1 s", True, set()),
    ("readings not finite", True, set()),
    ("spikes", True, set()),
    ("saturated", True, {"against_imu"}),
    ("frozen", True, set()),
    ("10 points", True, {"empty"}),
    ("half the view blocked", False, set()),
    ("2 million points", False, set()),
]
"""Faults that odometry gets over, whether the IMU is used, and what is said about them."""


@pytest.mark.parametrize(("name", "uses_imu", "said"), CASES)
def test_faults_are_survived_and_sigma_holds(name: str, uses_imu: bool, said: set[str]):
    """All scans in order get an estimate, and errors of steps and at the end are as stated."""
    run, rows = ran(name, uses_imu)
    assert run.failure == ""
    assert np.isfinite(np.array(rows["pose_squares"], dtype=float)).all()
    assert np.mean(rows["step_squares"]) < 3.0
    assert rows["pose_squares"][-1] < 3.0
    assert rows["errors_m"][-1] < 0.05
    assert set(rows["status"]) - {"ok", "weak"} == said
    assert run.num_scans - len(run.seen) == start_scans(uses_imu)


@pytest.mark.parametrize(
    "name", ["biases jump", "accelerometer's bias jumps", "a push of 1 g for 0.1 s"]
)
def test_scans_stand_against_bad_readings(name: str):
    """The steps until they do may be wrong, but not where the run ends, and the status says so."""
    run, rows = run_with(dataclasses.replace(FAULTS[name], begin_s=1.8), True)
    assert set(rows["status"]) == {"ok", "against_imu"}
    assert rows["errors_m"][-1] < 0.02
    assert rows["pose_squares"][-1] < 3.0
    assert set(rows["status"][-3:]) == {"ok"}
    assert np.mean(rows["step_squares"][-4:]) < 3.0
    assert run.num_scans - len(run.seen) == start_scans(True)


@pytest.mark.parametrize("uses_imu", [True, False])
@pytest.mark.parametrize(("name", "lost"), [("clock set back 5 s", 2), ("clock set back 0.9 s", 4)])
def test_a_clock_that_is_set_back_costs_some_scans(name: str, lost: int, uses_imu: bool):
    """Then a warning says so, and the way on is right."""
    fault = dataclasses.replace(FAULTS[name], begin_s=1.8)
    run, rows = run_with(fault, uses_imu)
    assert run.num_scans - len(run.seen) == start_scans(uses_imu) + lost
    assert rows["errors_m"][-1] < 0.02
    assert rows["pose_squares"][-1] < 3.0


@pytest.mark.parametrize(
    ("factors", "said"),
    [((1.0, 1.0 / 9.81), "seem to be in g"), ((1.0, 0.0), "gravity"), ((1e3, 1.0), "degrees")],
)
def test_readings_in_a_wrong_unit_are_refused(factors: tuple[float, float], said: str):
    """Odometry does not start with them, and the sentence names what they may be."""
    with pytest.raises(InputError, match=said):
        drive_with_readings_times(*factors)


def drive_with_readings_times(rates: float, forces: float) -> None:
    """Run through the small drive with readings multiplied by these."""
    odometry = Odometry(DEFAULT, ImuNoise.model("generic"))
    for measurement in drive().measurements():
        if isinstance(measurement, Scan):
            odometry.process(measurement)
        else:
            turning = rates * (measurement.angular_velocity + 0.02)
            odometry.add_imu(
                measurement.stamp_ns, turning, forces * measurement.linear_acceleration
            )


def test_a_velocity_that_was_given_up_is_found_again():
    """After refusals nothing is known of the velocity; a few scans later it is right again."""
    odometry, truth = Odometry(DEFAULT, ImuNoise.model("generic")), drive().truth_at
    half_ns = drive().start_ns + int(2e9)
    given_up, errors = False, []
    for measurement in drive().measurements():
        if not isinstance(measurement, Scan):
            odometry.add_imu(
                measurement.stamp_ns, measurement.angular_velocity, measurement.linear_acceleration
            )
            continue
        estimate = odometry.process(measurement)
        if estimate is None:
            continue
        if not given_up and estimate.stamp_ns > half_ns:
            given_up = odometry.motion.surrender()
            assert odometry.motion.moving().twist_covariance[0, 0] > 5.0**2
        elif given_up:
            at = truth(np.array([estimate.stamp_ns]))
            velocity = at.T_world_body[0, :3, :3].T @ at.velocity_world[0]
            errors.append(float(np.linalg.norm(estimate.twist[:3] - velocity)))
            assert estimate.status == "ok"
    assert len(errors) > 5
    assert max(errors[-3:]) < 0.05


def start_scans(uses_imu: bool) -> int:
    """Scans that come before the filter has started."""
    run, _ = ran(NONE.name, uses_imu)
    return run.num_scans - len(run.seen)


@pytest.mark.parametrize(("uses_imu", "shift_s"), [(True, LATEST_S), (False, 86_400)])
def test_large_stamps_lose_no_precision(uses_imu: bool, shift_s: int):
    """A day later, and at the end of all 64-bit clocks, poses and covariances are the same bits."""
    usual, _ = ran(NONE.name, uses_imu)
    fault = Fault("late", clock_faults.set_clock(shift_s), "", begin_s=-1.0, duration_s=1e6)
    late, _ = run_with(fault, uses_imu)
    for one, other in zip(late.seen, usual.seen, strict=True):
        assert one.estimate.stamp_ns == other.estimate.stamp_ns + shift_s * 10**9
        assert_array_equal(one.estimate.T_world_body, other.estimate.T_world_body)
        assert_array_equal(one.estimate.covariance, other.estimate.covariance)


def test_readings_that_are_not_finite_are_counted():
    """Each is refused with a sentence that the caller may count, and the run goes on."""
    run, _ = ran("readings not finite", True)
    assert run.num_refused == run.num_faulty > 0
