# SPDX-License-Identifier: MIT
"""Draws pictures of docs/how-it-works.md from simulated scans: ``python docs/draw_pictures.py``.

Everything shown is computed here, by the public functions of the package; matplotlib draws. The
pictures go to docs/images as SVG. It takes about a minute.
"""

import dataclasses
import sys
import tempfile
from pathlib import Path

import numpy as np

import svnicp
from svnicp.arrays import Points, Transform
from svnicp.evaluation import associate
from svnicp.evaluation.compared import errors_since_start
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, transform_points
from svnicp.simulation import SCENES, LidarPattern, scan
from svnicp.studies.drawing import BLUE, GREEN, GREY, ORANGE, sheet

IMAGES = Path(__file__).with_name("images")
LIDAR = LidarPattern.rings(32, 512)
SIGMAS = np.array([0.1, 0.1, 0.1, 0.02, 0.02, 0.02])
"""Of the guesses, translation [m] before rotation [rad]."""
TRUTH = make_transform(np.eye(3), np.array([0.8, 0.15, 1.5]))
"""Pose of the new scan in the world."""
DRIVE_S = 40.0


def map_points(name: str, rng: np.random.Generator) -> Points:
    """Return the points (n, 3) of eight scans taken one behind the other, in the world [m]."""
    clouds = []
    for x in np.linspace(-0.9, 0.5, 8):
        T_world_lidar = make_transform(np.eye(3), np.array([x, 0.1 * np.sin(9.0 * x), 1.5]))
        clouds.append(
            transform_points(T_world_lidar, scan(SCENES[name](), T_world_lidar, LIDAR, rng))
        )
    return np.concatenate(clouds)


def registered(name: str, seed: int, config: svnicp.Config) -> svnicp.RegistrationResult:
    """Register a new scan of a scene from a guess that is wrong by what the prior says."""
    rng = np.random.default_rng(seed)
    target = svnicp.VoxelMap(config.map)
    target.insert(map_points(name, rng))
    guess = TRUTH @ se3_exp(SIGMAS * rng.standard_normal(6))
    source = scan(SCENES[name](), TRUTH, LIDAR, rng)
    return svnicp.register_in_map(
        source, target, T_target_source=guess, prior_covariance=np.diag(SIGMAS**2), config=config,
        rng=rng,
    )  # fmt: skip


def errors_mm(poses: Transform) -> np.ndarray:
    """Return poses (n, 4, 4) as seen from the truth: (n, 6) along and about its axes [mm, mrad]."""
    return 1e3 * np.array([se3_log(se3_inverse(TRUTH) @ pose) for pose in poses])


def particles(path: Path) -> None:
    """Draw the particles of one scan in a room and in a corridor with nothing to see along it."""
    config = svnicp.Config.preset("default")
    config = dataclasses.replace(config, stein=dataclasses.replace(config.stein, num_particles=100))
    with sheet(path, 1, 2, (9.0, 3.6)) as (_, axes):
        for plot, name in zip(axes[0], ("room", "bare_corridor"), strict=True):
            result = registered(name, 4, config)
            along, across = errors_mm(result.particles)[:, :2].T
            mean = errors_mm(result.T_target_source[None])[0, :2]
            plot.plot(along, across, "o", ms=3, color=BLUE, alpha=0.5, label="particles")
            ring = ellipse(1e6 * result.covariance[:2, :2])
            plot.plot(*(mean[:, None] + ring), color=ORANGE, lw=1.5, label="3 sigma")
            plot.plot(0, 0, "+", ms=14, mew=2, color="black", label="truth")
            sigma = 1e3 * np.sqrt(result.covariance[0, 0])
            plot.set_title(f"{name.replace('_', ' ')}: {sigma:.1f} mm along x", loc="left")
            plot.set(xlabel="x [mm]", ylabel="y [mm]")
        axes[0, 1].legend(loc="upper right", ncols=3, fontsize=8)
        low, high = axes[0, 1].get_ylim()
        axes[0, 1].set_ylim(low, high + 0.25 * (high - low))


def ellipse(covariance: np.ndarray) -> np.ndarray:
    """Return the outline (2, n) of three standard deviations."""
    turn = np.linspace(0.0, 2.0 * np.pi, 100)
    return 3.0 * np.linalg.cholesky(covariance) @ np.array([np.cos(turn), np.sin(turn)])


def noisy_normals(path: Path, redraws: int = 25) -> None:
    """Draw stated sigma and true error along a bare corridor, with and without the correction."""
    default = svnicp.Config.preset("default")
    naive = dataclasses.replace(
        default, noise=dataclasses.replace(default.noise, debias_normals=False)
    )
    with sheet(path, 1, 2, (9.0, 3.2), sharey=True) as (_, axes):
        for plot, config, title in (
            (axes[0, 0], naive, "as least squares has it"),
            (axes[0, 1], default, "information of noisy normals left out"),
        ):
            results = [registered("bare_corridor", seed, config) for seed in range(redraws)]
            errors = np.abs([errors_mm(one.T_target_source[None])[0, 0] for one in results])
            stated = [1e3 * np.sqrt(one.covariance[0, 0]) for one in results]
            plot.semilogy(errors, "o", ms=4, color=ORANGE, label="error")
            plot.semilogy(stated, "_", ms=9, mew=2, color=BLUE, label="stated sigma")
            plot.set_title(title, loc="left")
            plot.set(xlabel="redraw of the noise", xticks=[])
        axes[0, 0].set(ylabel="along the corridor [mm]", ylim=(3.0, 600.0))
        axes[0, 0].legend(loc="lower right", ncols=2)


def drive(path: Path) -> None:
    """Draw a drive down the long corridor: how much scans are believed, and error against sigma."""
    data = svnicp.simulate("long_corridor", duration_s=DRIVE_S)
    estimates = list(svnicp.run(data))
    stamps = np.array([one.stamp_ns for one in estimates])
    poses = np.array([one.T_world_body for one in estimates])
    assert data.ground_truth is not None
    found = associate(stamps, data.ground_truth)
    errors = errors_since_start(poses[found.indices], found)
    sigmas = np.array([one.sigmas for one in estimates])
    gain = np.array(
        [np.full(6, np.nan) if one.kalman_gain is None else one.kalman_gain for one in estimates]
    )
    seconds = (stamps - stamps[0]) * 1e-9
    with sheet(path, 2, 1, (9.0, 4.8), sharex=True) as (_, axes):
        above, below = axes[:, 0]
        above.plot(seconds, gain[:, 1], color=GREY, lw=0.8, label="across")
        above.plot(seconds, gain[:, 0], color=GREEN, lw=1.2, label="along the corridor")
        above.set_title("how far a scan is believed: Kalman gain, 1 is wholly", loc="left")
        above.legend(loc="upper right", ncols=2)
        above.set_ylim(0.0, 1.0)
        bound = 3e3 * sigmas[:, 0]
        below.fill_between(seconds, -bound, bound, color=BLUE, alpha=0.18, lw=0, label="3 sigma")
        below.plot(seconds[found.indices], 1e3 * errors[:, 0], color=ORANGE, lw=1.5, label="error")
        below.set_title("where it is along the corridor, since the start [mm]", loc="left")
        below.set(xlabel="time [s]", xlim=(0.0, seconds[-1]))
        below.legend(loc="lower left", ncols=2)


PICTURES = {"particles": particles, "noisy_normals": noisy_normals, "drive": drive}


def main(names: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names or PICTURES:
            PICTURES[name](Path(folder) / name)
            (IMAGES / f"{name}.svg").write_bytes((Path(folder) / f"{name}.svg").read_bytes())
            print(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
