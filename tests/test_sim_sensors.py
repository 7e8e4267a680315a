# SPDX-License-Identifier: MIT
"""Simulated LiDARs: numbers of rays, fields of view, firing times and rates of the real ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.errors import ConfigError
from svnicp.simulation.sensors import SENSORS

RINGS = {"vlp16": 16, "hdl32e": 32, "hdl64e": 64, "os1_64": 64, "os0_128": 128}
POINTS_PER_S = {
    "vlp16": 300e3, "hdl32e": 700e3, "hdl64e": 1.33e6,
    "os1_64": 655_360, "os0_128": 1_310_720, "livox_avia": 240e3,
}  # fmt: skip
VIEW_DEG = {
    "vlp16": (-15.0, 15.0), "hdl32e": (-30.67, 10.67), "hdl64e": (-24.33, 2.0),
    "os1_64": (-16.6, 16.6), "os0_128": (-45.0, 45.0),
}  # fmt: skip


def angles_deg(directions):
    """Return azimuths and elevations [deg]."""
    azimuths = np.degrees(np.arctan2(directions[:, 1], directions[:, 0]))
    return azimuths, np.degrees(np.arcsin(directions[:, 2]))


@pytest.mark.parametrize("name", sorted(SENSORS))
def test_shots_are_unit_vectors_in_firing_order_within_the_scan(name):
    """Rays have length one, never go back in time, and a scan ends before the next begins."""
    sensor = SENSORS[name]
    shots = sensor.shots(3)
    assert_allclose(np.linalg.norm(shots.directions, axis=1), 1.0, rtol=1e-12)
    assert shots.times_s[0] == 0.0
    assert np.all(np.diff(shots.times_s) >= 0.0)
    assert 0.999 / sensor.rate_hz < shots.times_s[-1] + 1e-4 < 1.002 / sensor.rate_hz
    assert shots.times_s[-1] < 1.0 / sensor.rate_hz
    assert len(shots.times_s) == len(shots.rings) == len(shots.directions)


@pytest.mark.parametrize("name", sorted(SENSORS))
def test_point_rate_is_that_of_the_data_sheet(name):
    """Rays per second are within 5 percent of what the manual says, at 10 scans per second."""
    sensor = SENSORS[name]
    assert sensor.rate_hz == 10.0
    assert_allclose(len(sensor.shots(0).times_s) * 10.0, POINTS_PER_S[name], rtol=0.05)


@pytest.mark.parametrize("name", sorted(RINGS))
def test_spinning_sensors_see_all_around_with_their_rings(name):
    """Each ring has one elevation, rings rise, and their azimuths fill the circle evenly."""
    shots = SENSORS[name].shots(0)
    azimuths, elevations = angles_deg(shots.directions)
    per_ring = [elevations[shots.rings == ring] for ring in range(RINGS[name])]
    assert max(np.ptp(ring) for ring in per_ring) < 1e-9
    means = np.array([ring.mean() for ring in per_ring])
    assert np.all(np.diff(means) > 0.0)
    assert_allclose(means[[0, -1]], VIEW_DEG[name], atol=0.01)
    around = np.sort(azimuths[shots.rings == 5])
    assert_allclose(np.diff(around), 360.0 / len(around), rtol=1e-6)


def test_vlp16_fires_one_laser_at_a_time_in_its_order():
    """A VLP-16 fires every 2.304 us, at -15, 1, -13, 3, ... degrees, while it turns clockwise."""
    shots = SENSORS["vlp16"].shots(0)
    azimuths, elevations = angles_deg(shots.directions)
    assert_allclose(np.diff(shots.times_s[:16]), 2.304e-6, rtol=1e-9)
    assert_allclose(elevations[:6], [-15.0, 1.0, -13.0, 3.0, -11.0, 5.0], atol=1e-9)
    assert_allclose(azimuths[:32], -3600.0 * shots.times_s[:32], atol=1e-9)


def test_ouster_fires_all_rings_of_a_column_together():
    """Rings of an OS1 share their time and are staggered sideways in groups of four."""
    shots = SENSORS["os1_64"].shots(0)
    azimuths, _ = angles_deg(shots.directions)
    assert len(np.unique(shots.times_s)) == 1024
    assert_allclose(azimuths[:4], [3.164, 1.055, -1.055, -3.164], atol=1e-9)


def test_turns_are_alike_and_rosettes_are_not():
    """Two scans of a spinning sensor have the same rays, two of the rosette hardly any."""
    spinning = SENSORS["vlp16"]
    assert_array_equal(spinning.shots(0).directions, spinning.shots(7).directions)
    first, second = (SENSORS["livox_avia"].shots(i).directions for i in (0, 1))
    nearest = np.linalg.norm(first[::50, None] - second[None, ::5], axis=2).min(axis=1)
    assert np.median(nearest) > 1e-4
    assert not np.array_equal(first, second)


def test_rosette_fills_its_view_more_and_more():
    """The Avia looks 70.4 x 77.2 degrees ahead, and ten scans cover much more of it than one."""
    scans = [angles_deg(SENSORS["livox_avia"].shots(i).directions) for i in range(10)]
    azimuths, elevations = (np.concatenate(values) for values in zip(*scans, strict=True))
    assert_allclose(np.ptp(azimuths), 70.4, atol=0.5)
    assert_allclose(np.ptp(elevations), 77.2, atol=0.5)

    def covered(azimuth, elevation):
        edges = np.linspace(-40.0, 40.0, 161)
        return np.count_nonzero(np.histogram2d(azimuth, elevation, bins=edges)[0])

    ellipse = np.pi / 4.0 * 70.4 * 77.2 / 0.5**2
    assert covered(azimuths, elevations) > 0.85 * ellipse
    assert covered(*scans[0]) < 0.7 * ellipse


def test_rosette_goes_on_without_a_jump():
    """The first ray of a scan follows the last of the scan before like any other."""
    sensor = SENSORS["livox_avia"]
    beam = np.concatenate([sensor.shots(i).directions[::6] for i in (4, 5)])
    steps = np.linalg.norm(np.diff(beam, axis=0), axis=1)
    assert_allclose(steps[3999], steps[3998], rtol=0.05)


def test_mistakes_are_reported():
    """Ranges and rates that make no sense are refused."""
    with pytest.raises(ConfigError, match="VLP-16 must satisfy"):
        replace(SENSORS["vlp16"], max_range_m=0.1)
    with pytest.raises(ConfigError, match="rate_hz"):
        replace(SENSORS["vlp16"], rate_hz=0.0)
