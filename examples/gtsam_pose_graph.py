# SPDX-License-Identifier: MIT
"""A pose graph with a loop in GTSAM: what our covariances are worth against constant ones.

Run it with ``python examples/gtsam_pose_graph.py``; it needs ``pip install "svnicp[gtsam]"``. A
robot goes round a ring of two rooms and two corridors; in one of them scans say nothing about the
way ahead. Back at the start, the loop tells how far the chain of steps went astray, and covariances
tell in which steps. The constant is the best one there is: it is fitted to the true errors. With
odometry, ``estimate.to_gtsam(previous_key, key)`` is the factor of a step.
"""

import gtsam
import numpy as np

import svnicp
from svnicp.exchange import gtsam_between
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, so3_exp
from svnicp.pose_gaussian import PoseGaussian
from svnicp.simulation import LidarPattern, scan
from svnicp.simulation.worlds.shapes import Shapes

GUESS = np.diag([0.1**2] * 3 + [0.01**2] * 3)  # covariance: wheels know a step to 10 cm

ring, lidar = Shapes(), LidarPattern.rings(num_rings=32, num_columns=300)
for x in (0.0, 26.0):  # two rooms, each with a cupboard and a column
    ring.free_box((x, x + 8.0), (0.0, 12.0), (0.0, 3.0))
    ring.box((x + 7.0, x + 8.0), (5.0, 6.5), (0.0, 2.0))
    ring.cylinder(x + 4.5, 6.0, 0.3, (0.0, 3.0))
for y in (1.0, 9.0):  # two corridors, the second one with niches
    ring.free_box((7.5, 26.5), (y, y + 2.0), (0.0, 2.4))
for x in np.arange(8.5, 26.0, 2.5):
    ring.free_box((x, x + 0.9), (10.5, 11.5), (0.0, 2.1))

way = [(x, 2.0, 0) for x in range(2, 31, 2)] + [(31.0, y, 1) for y in range(2, 9, 2)]
way += [(x, 10.0, 2) for x in range(31, 3, -2)] + [(2.0, y, 3) for y in range(10, 3, -2)]
truth = np.array([  # poses, 2 m apart, back at the first one in the end
    make_transform(so3_exp(np.radians([0.0, 0.0, 90.0 * quarter])), np.array([x, y, 1.2]))
    for x, y, quarter in [*way, way[0]]
])  # fmt: skip
true_steps = se3_inverse(truth[:-1]) @ truth[1:]


def error_mm(steps: list[PoseGaussian], loop: PoseGaussian) -> float:
    """Root mean square error of the positions in a chain whose last pose sees the first again."""
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    start = gtsam.Pose3(truth[0])
    graph.add(gtsam.PriorFactorPose3(0, start, gtsam.noiseModel.Isotropic.Sigma(6, 1e-4)))
    values.insert(0, start)
    for key, step in enumerate(steps, start=1):
        graph.add(gtsam_between(step, key - 1, key))
        values.insert(key, values.atPose3(key - 1).compose(gtsam.Pose3(step.T_world_body)))
    graph.add(gtsam_between(loop, 0, len(steps)))
    solved = gtsam.LevenbergMarquardtOptimizer(graph, values).optimize()
    positions = np.array([solved.atPose3(key).translation() for key in range(len(truth))])
    return 1e3 * float(np.sqrt(np.mean(np.sum((positions - truth[:, :3, 3]) ** 2, axis=1))))


results = []
for seed in range(4):
    rng = np.random.default_rng(seed)
    scans = [scan(ring.scene("ring"), T_world_lidar, lidar, rng) for T_world_lidar in truth]
    noise = rng.multivariate_normal(np.zeros(6), GUESS, len(true_steps))
    steps = [
        svnicp.register(new, old, T_target_source=guess, prior_covariance=GUESS).pose
        for new, old, guess in zip(scans[1:], scans, true_steps @ se3_exp(noise), strict=False)
    ]
    loop = svnicp.register(scans[-1], scans[0]).pose
    errors = se3_log(se3_inverse(np.array([step.T_world_body for step in steps])) @ true_steps)
    constant = np.diag(np.mean(errors**2, axis=0))
    alike = [PoseGaussian(step.T_world_body, constant) for step in steps]
    results.append((error_mm(steps, loop), error_mm(alike, loop)))
    print("seed {}: error {:.0f} mm with our covariances, {:.0f} mm".format(seed, *results[-1]))
ours, theirs = np.sqrt(np.mean(np.square(results), axis=0))
print(f"root mean square: {ours:.0f} mm with our covariances, {theirs:.0f} mm with a constant one")
