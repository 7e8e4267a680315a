# SPDX-License-Identifier: MIT
"""Whether covariances keep their word: the figures are right where the truth is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from evaluation_cases import START_NS, curve, noisy_run, truth
from recording_inputs import make_estimate
from svnicp.errors import DatasetError, InputError
from svnicp.evaluation import calibration, consistency, evaluate, read_run
from svnicp.evaluation.compared import fit_worlds
from svnicp.evaluation.consistency import chi_square_band, pose_errors, step_errors
from svnicp.lie import se3_exp, se3_inverse, se3_log, transform_points
from svnicp.recording import RunDescription, RunFolder


def drawn(rng: np.random.Generator, count: int, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Errors and the covariances from which they are drawn."""
    roots = rng.normal(size=(count, size, size)) * 0.01
    errors = np.einsum("nij,nj->ni", roots, rng.normal(size=(count, size)))
    return errors, roots @ np.swapaxes(roots, 1, 2)


def test_errors_drawn_from_their_covariances_are_calibrated(rng):
    """ANEES lies in its band around 1, and coverage is a Gaussian's."""
    found = calibration(*drawn(rng, 4000))
    low, high = found.band
    assert low < found.anees < high
    assert 0.97 < low < 1.0 < high < 1.03
    assert_allclose(found.coverage, [0.6827, 0.9545, 0.9973], atol=0.01)


def test_stated_sigmas_half_as_large_are_found_out(rng):
    """Covariances four times too small show as an ANEES of 4, and too few errors within 2 sigma."""
    errors, covariances = drawn(rng, 4000)
    found = calibration(errors, 0.25 * covariances)
    assert_allclose(found.anees, 4.0, rtol=0.05)
    assert_allclose(found.coverage[1], 0.6827, atol=0.01)


def test_band_holds_95_of_100_means(rng):
    """Means of chi-square numbers fall outside the band in one of twenty cases."""
    low, high = chi_square_band(20, 3)
    means = np.mean(rng.normal(size=(20_000, 60)) ** 2, axis=1)
    assert_allclose(np.mean((means > low) & (means < high)), 0.95, atol=0.005)


def test_parts_are_those_of_the_tangent(rng):
    """A rotation that is stated too well shows in the rotation and in the whole, nowhere else."""
    errors, covariances = drawn(rng, 2000)
    covariances[:, 3:] *= 0.5
    covariances[:, :, 3:] *= 0.5
    found = consistency(errors, covariances)
    assert found.pose is not None
    assert found.rotation is not None
    assert_allclose(found.translation.anees, 1.0, atol=0.05)
    assert_allclose(found.rotation.anees, 4.0, rtol=0.06)
    assert found.pose.anees > 2.0


def test_errors_of_poses_do_not_depend_on_the_worlds(rng):
    """Poses are aligned at the first, in body axes: moving either world changes nothing."""
    poses = curve(np.linspace(0.0, 5.0, 20))
    wrong = poses @ se3_exp(0.01 * rng.normal(size=(20, 6)))
    elsewhere = se3_exp(np.array([100.0, -50.0, 3.0, 0.4, -0.2, 2.0]))
    errors = pose_errors(wrong, poses)
    assert_allclose(errors[0], 0.0, atol=1e-12)
    assert_allclose(pose_errors(elsewhere @ wrong, poses), errors, atol=1e-9)
    assert_allclose(pose_errors(wrong, elsewhere @ poses), errors, atol=1e-9)
    xi = rng.normal(size=(20, 6)) * 0.1
    assert_allclose(step_errors(poses, poses @ se3_exp(xi)), xi, atol=1e-12)


def test_a_run_that_errs_as_it_says_is_calibrated():
    """Over many runs ANEES of steps and of the pose at the end are 1, and NEES is what it says."""
    runs = [evaluate(noisy_run(np.random.default_rng(seed), 40), truth(5.0)) for seed in range(25)]
    steps = [run.relative.pose.anees for run in runs if run.relative and run.relative.pose]
    ends = [run.end.nees for run in runs if run.end.nees is not None]
    low, high = chi_square_band(25 * 39, 6)
    assert len(steps) == len(ends) == 25
    assert low < np.mean(steps) < high
    low, high = chi_square_band(25, 6)
    assert low < np.mean(ends) < high
    # Poses of one run share their errors, so that a run counts about as much as its end.
    poses = [run.absolute.pose for run in runs if run.absolute and run.absolute.pose]
    assert low < np.mean([pose.anees for pose in poses]) < high
    assert {pose.count for pose in poses} == {39}


def test_a_run_that_is_too_sure_is_found_out(rng):
    """Errors three times as large as stated give nine times the ANEES."""
    found = evaluate(noisy_run(rng, factor=3.0), truth())
    assert found.relative is not None
    assert_allclose(found.relative.translation.anees, 9.0, rtol=0.2)


def test_end_error_and_lengths(rng):
    """The end error is that of the last pose after aligning the first, as a share of the path."""
    record = noisy_run(rng)
    found = evaluate(record, truth())
    true_poses = curve((record.trajectory.stamps_ns - START_NS) * 1e-9)
    last = se3_log(
        se3_inverse(record.trajectory.T_world_body[-1])
        @ se3_inverse(true_poses[0]) @ true_poses[-1]
    )  # fmt: skip
    assert_allclose(found.end.translation_m, np.linalg.norm(last[:3]), rtol=1e-9)
    assert found.end.rotation_deg is not None
    assert_allclose(found.end.rotation_deg, np.degrees(np.linalg.norm(last[3:])), rtol=1e-9)
    assert_allclose(found.true_path_m, 9.167 * 1.021, rtol=0.01)
    assert found.end.share == found.end.translation_m / found.true_path_m


def test_truth_about_another_point_of_the_body(rng):
    """Told where a prism sits, a run against the prism's poses is as calibrated as before."""
    lever = se3_exp(np.array([0.4, -0.3, 0.8, 0.5, 0.1, -1.0]))
    record, known = noisy_run(rng), truth()
    moved = type(known)(known.stamps_ns, known.T_world_body @ lever)
    at_body, at_prism = evaluate(record, known), evaluate(record, moved, lever)
    for name in ("relative", "absolute"):
        expected, found = getattr(at_body, name), getattr(at_prism, name)
        assert_allclose(found.pose.anees, expected.pose.anees, rtol=1e-6)
    assert at_prism.end.nees is not None
    assert at_body.end.nees is not None
    assert_allclose(at_prism.end.nees, at_body.end.nees, rtol=1e-6)


def test_fitted_worlds_bring_positions_together(rng):
    """A rigid transform between two sets of positions is recovered, mirror images left alone."""
    positions = rng.normal(size=(10, 3))
    expected = se3_exp(np.array([3.0, 1.0, -2.0, 0.3, 2.0, -0.5]))
    found = fit_worlds(positions, transform_points(expected, positions))
    assert_allclose(found, expected, atol=1e-12)
    flat = positions * [1.0, 1.0, 0.0]
    assert_allclose(np.linalg.det(fit_worlds(flat, flat * [1.0, -1.0, 1.0])[:3, :3]), 1.0)


@pytest.mark.parametrize(("count", "matrices"), [(0, 0), (3, 2)])
def test_errors_without_their_covariances_are_refused(count, matrices):
    """Nothing, or not one covariance for each error, is one sentence."""
    with pytest.raises(InputError, match="need as many covariances"):
        calibration(np.zeros((count, 6)), np.zeros((matrices, 6, 6)))


def write_run(path, count: int) -> None:
    with RunFolder.open(path, RunDescription(data="test")) as folder:
        for index in range(count):
            folder.on_estimate(make_estimate(index))


def test_a_run_is_read_as_it_was_written(tmp_path):
    """Poses, steps, both covariances, the fate and the time of every scan come back."""
    write_run(tmp_path, 6)
    record = read_run(tmp_path)
    estimates = [make_estimate(index) for index in range(6)]
    assert record.T_previous_body is not None
    assert record.relative is not None
    assert record.absolute is not None
    assert record.seconds is not None
    for index, estimate in enumerate(estimates):
        assert_allclose(record.trajectory.T_world_body[index], estimate.T_world_body, atol=1e-14)
        assert_allclose(record.T_previous_body[index], estimate.T_previous_body, atol=1e-14)
        assert np.array_equal(record.relative[index], estimate.relative_covariance)
        assert np.array_equal(record.absolute[index], estimate.covariance)
        assert_allclose(record.seconds[index], 0.02 + 0.001 * index)
        assert record.scans[index][:4] == (estimate.stamp_ns, "CONVERGED", True, 5.5)
        assert bool(record.scans[index].weak_directions) == bool(index % 2)


def test_a_killed_run_counts_up_to_its_last_pose(tmp_path):
    """Rows behind the last pose of the trajectory, as a kill leaves them, are passed over."""
    write_run(tmp_path, 6)
    trajectory = tmp_path / "trajectory.tum"
    lines = trajectory.read_text().splitlines(keepends=True)
    trajectory.write_text("".join(lines[:-2]))
    record = read_run(tmp_path)
    assert len(record) == len(record.scans) == 4
    for part in (record.absolute, record.relative, record.T_previous_body, record.seconds):
        assert part is not None
        assert len(part) == 4


def test_files_that_do_not_fit_are_one_sentence(tmp_path):
    """A folder without a run, without poses, or with rows missing is refused."""
    with pytest.raises(DatasetError, match="not the folder of a run"):
        read_run(tmp_path)
    write_run(tmp_path, 4)
    covariances = tmp_path / "covariance.csv"
    whole = covariances.read_text()
    covariances.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    with pytest.raises(DatasetError, match="a row for every pose"):
        read_run(tmp_path)
    (tmp_path / "trajectory.tum").write_text("")
    with pytest.raises(DatasetError, match="no pose yet"):
        read_run(tmp_path)
