# SPDX-License-Identifier: MIT
"""The torch backend gives the compiled backend's answers, and never waits for the device."""

import dataclasses
from functools import lru_cache
from typing import Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.config import BackendConfig, Config, SteinConfig
from svnicp.errors import ConfigError
from svnicp.kernels import linearise as compiled
from svnicp.kernels.weights import CAUCHY_NORM, GEMAN_MCCLURE, NO_WEIGHT
from svnicp.lie import make_transform, se3_inverse, so3_exp, so3_log
from svnicp.registration import register, stein_icp, svgd, svn
from svnicp.registration.backend import NumbaBackend, make_backend
from svnicp.registration.euler_chart import rotation_chart
from svnicp.registration.posterior import particle_poses
from svnicp.registration.prior import Prior
from svnicp.registration.problem import Problem
from svnicp.registration.robust import Efficiency
from svnicp.simulation import SCENES, LidarPattern, scan

torch = pytest.importorskip("torch", reason="pip install 'svnicp[torch]' to run this")
TorchDispatchMode = pytest.importorskip("torch.utils._python_dispatch").TorchDispatchMode

from svnicp.registration.torch_backend import TorchBackend  # noqa: E402

NUMBA = NumbaBackend()
NUM_POINTS, NUM_CANDIDATES = 80, 4
KINDS = {"geman_mcclure": GEMAN_MCCLURE, "cauchy_norm": CAUCHY_NORM, "none": NO_WEIGHT}
FAR_OFFSET = np.array([0.1, 0.2, -0.1, 0.4, 0.5, -0.3])
ALGORITHMS = ["svn", "svgd", "stein_icp", "gauss_newton"]
KERNELS = ["whitened", "isotropic"]


def random_rows(rng, places):
    """Candidates (N, M, 8) of places (N, 3), ten points each of every kind that there is."""
    rows = np.zeros((NUM_POINTS, NUM_CANDIDATES, 8))
    rows[..., :3] = places[:, None] + 0.3 * rng.standard_normal((NUM_POINTS, NUM_CANDIDATES, 3))
    normals = rng.standard_normal((NUM_POINTS, NUM_CANDIDATES, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    normals[rng.random((NUM_POINTS, NUM_CANDIDATES)) < 0.3] = 0.0  # points
    rows[..., 3:6] = normals
    centres = rows[..., :3] + 0.02 * rng.standard_normal(rows[..., :3].shape)
    rows[..., 6] = (normals * centres).sum(-1)
    rows[..., 7] = rng.uniform(20.0, 500.0, size=rows.shape[:2])
    nearest = np.argmin(((rows[..., :3] - places[:, None]) ** 2).sum(-1), axis=1)
    points = np.arange(NUM_POINTS)
    rows[points[:10], nearest[:10], 7] = -10.0 * (points[:10] % 2)  # the nearest is not usable
    rows[10:20, 2:, :3] = np.inf  # two are missing
    rows[20:30, :, :3] = np.inf  # all are missing
    rows[30:40, :, :3] += 5.0  # too far away
    rows[40:50, 1:, :3] = rows[40:50, :1, :3]  # equally near: the first one counts
    return rows.astype(np.float32)


def random_problem(rng, weight=GEMAN_MCCLURE):
    """Return a problem with planes, points, unusable and missing candidates, and a ``seen``."""
    T_reference = make_transform(so3_exp(np.array([0.2, -0.4, 1.1])), np.array([0.5, -1.0, 0.3]))
    points = rng.uniform(-10.0, 10.0, size=(NUM_POINTS, 3)).astype(np.float32)
    places = points @ T_reference[:3, :3].T + T_reference[:3, 3]
    T_far = particle_poses(T_reference, FAR_OFFSET[None])[0]
    places[60:] = points[60:] @ T_far[:3, :3].T + T_far[:3, 3]
    root = rng.standard_normal((6, 6))
    return Problem(
        T_reference=T_reference, origin=np.zeros(3), points=points,
        rows=random_rows(rng, places), max_distance_m=0.8, weight=weight, weight_width=1.5,
        seen=np.eye(6) + 0.1 * rng.standard_normal((6, 6)),
        efficiency=Efficiency(gradient=0.9, hessian=0.7),
        prior=Prior(hessian=root @ root.T, slope=rng.standard_normal(6)),
    )  # fmt: skip


def random_offsets(rng, problem):
    """Particles (K, 6): one at zero, some near it, and some where the rotation is large."""
    offsets = rng.standard_normal((12, 6)) * np.array([0.05, 0.05, 0.05, 0.005, 0.005, 0.005])
    offsets[0] = 0.0
    offsets[8:] += np.linalg.solve(problem.seen, FAR_OFFSET)
    return offsets


def random_hessians(rng, count):
    """Symmetric positive matrices (K, 6, 6), metres and radians of very different size."""
    roots = rng.standard_normal((count, 6, 8)) * np.array([30.0] * 3 + [300.0] * 3)[:, None]
    return roots @ roots.transpose(0, 2, 1)


def assert_close(actual, wanted, relative=1e-9):
    """Compare arrays up to rounding of their largest element: sums may cancel to nearly zero."""
    assert actual.dtype == np.float64
    assert_allclose(actual, wanted, rtol=relative, atol=relative * np.abs(wanted).max())


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep torch to one thread: Numba's have the other cores, and waiting threads would spin."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cpu():
    """Return the torch backend that has to agree with the compiled one."""
    return TorchBackend("cpu", "float64")


@pytest.mark.parametrize("weight", KINDS.values(), ids=KINDS)
def test_linearise_agrees(rng, cpu, weight):
    """Gradient and Hessian are the compiled ones, for every kind of match and robust weight."""
    problem = random_problem(rng, weight)
    offsets = random_offsets(rng, problem)
    gradients, hessians = cpu.linearise(cpu.load(problem), cpu.put(offsets))
    wanted_gradients, wanted_hessians = NUMBA.linearise(problem, offsets)
    assert_close(cpu.get(gradients), wanted_gradients)
    assert_close(cpu.get(hessians), wanted_hessians)


def test_the_random_problem_has_every_kind_of_match(rng):
    """The comparison above is not empty: rows of each kind are matched, and others rejected."""
    problem = random_problem(rng)
    rows = problem.rows

    def matches(chosen, offset):
        """Return the number of matches of these points at this offset."""
        return compiled.linearise(
            problem.T_reference, offset[None], np.eye(6), problem.points[chosen], rows[chosen],
            problem.max_distance_m**2, problem.weight, problem.weight_width,
        )[3][0]  # fmt: skip

    assert matches(slice(0, 10), np.zeros(6)) == 0  # the next nearest does not step in
    assert matches(slice(10, 20), np.zeros(6)) >= 5
    assert matches(slice(20, 40), np.zeros(6)) == 0
    assert matches(slice(40, 60), np.zeros(6)) >= 10
    assert matches(slice(60, 80), FAR_OFFSET) >= 10
    is_point = np.all(rows[50:, 0, 3:6] == 0.0, axis=-1)
    assert 3 <= is_point.sum() <= 27


def test_an_unmatched_problem_is_its_prior(rng, cpu):
    """Without a single candidate only the prior is left, and nothing infinite."""
    problem = random_problem(rng)
    offsets = random_offsets(rng, problem)
    problem.rows[..., :3] = np.inf
    gradients, hessians = cpu.linearise(cpu.load(problem), cpu.put(offsets))
    assert_close(cpu.get(gradients), problem.prior.gradient(offsets))
    assert_close(cpu.get(hessians), np.broadcast_to(problem.prior.hessian, (len(offsets), 6, 6)))


@pytest.mark.parametrize("number", [0, 1, 5])
def test_mini_batches_agree(rng, cpu, number):
    """A batch has the same points and weight, and linearises to the same numbers."""
    problem = random_problem(rng)
    offsets = random_offsets(rng, problem)
    batch = cpu.mini_batch(cpu.load(problem), number, 20)
    wanted_batch = NUMBA.mini_batch(problem, number, 20)
    assert batch.efficiency == wanted_batch.efficiency
    gradients, hessians = cpu.linearise(batch, cpu.put(offsets))
    wanted_gradients, wanted_hessians = NUMBA.linearise(wanted_batch, offsets)
    assert_close(cpu.get(gradients), wanted_gradients)
    assert_close(cpu.get(hessians), wanted_hessians)


@pytest.mark.parametrize("count", [1, 2, 25])
def test_stein_verbs_agree(rng, cpu, count):
    """Force and Newton direction are the compiled ones."""
    hessians = random_hessians(rng, count)
    metric = hessians.mean(0) / 6.0
    whitening = np.linalg.inv(np.linalg.cholesky(metric))
    offsets = rng.standard_normal((count, 6)) @ whitening
    gradients = 1000.0 * rng.standard_normal((count, 6))
    wanted_force, wanted_direction = NUMBA.stein_newton(offsets, gradients, hessians, metric, 1e-3)
    tensors = [cpu.put(array) for array in (offsets, gradients, hessians, metric)]
    force, direction = cpu.stein_newton(*tensors, 1e-3)
    assert_close(cpu.get(force), wanted_force)
    assert_close(cpu.get(direction), wanted_direction)
    alone = cpu.stein_force(tensors[0], tensors[1], tensors[3])
    assert_close(cpu.get(alone), NUMBA.stein_force(offsets, gradients, metric))


def test_an_axis_without_curvature_does_not_move(rng, cpu):
    """Where the Hessians have no information the Newton direction is zero, the rest unharmed."""
    offsets, gradients = np.zeros((3, 6)), rng.standard_normal((3, 6))
    hessians = random_hessians(rng, 3)
    hessians[:, 2, :] = hessians[:, :, 2] = 0.0
    metric = hessians.mean(0) / 6.0
    wanted_force, wanted = NUMBA.stein_newton(offsets, gradients, hessians, metric, 1e-3)
    tensors = [cpu.put(array) for array in (offsets, gradients, hessians, metric)]
    force, direction = (cpu.get(tensor) for tensor in cpu.stein_newton(*tensors, 1e-3))
    assert np.all(direction[:, 2] == 0.0)
    assert_close(force, wanted_force)
    assert_close(direction, wanted)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 30])
def test_the_median_is_numpys(rng, cpu, count):
    """An even number of distances has the mean of the middle two as its median, as in NumPy."""
    offsets = rng.standard_normal((count, 6))
    median = cpu.get(cpu.median_squared_distance(cpu.put(offsets)))
    assert_allclose(median, NUMBA.median_squared_distance(offsets), rtol=1e-12)


def test_arrays_survive_the_way_there_and_back(rng, cpu):
    """What is put comes back as an equal array of its own, from read-only arrays too."""
    array = rng.standard_normal((5, 6))
    array.setflags(write=False)
    back = cpu.get(cpu.put(array))
    assert back.dtype == np.float64
    assert np.array_equal(back, array)
    assert not np.shares_memory(back, array)


@pytest.fixture(scope="module")
def registered():
    """Return a function that registers two scans of a room, 0.4 m and a few degrees apart."""
    rng = np.random.default_rng(20260102)
    pattern, scene = LidarPattern.rings(16, 256, -25.0, 25.0), SCENES["room"]()
    start = make_transform(so3_exp(np.array([0.0, 0.05, 0.3])), np.array([0.0, 0.0, 1.2]))
    step = make_transform(so3_exp(np.array([0.01, -0.02, 0.06])), np.array([0.4, -0.1, 0.05]))
    clouds = [scan(scene, T_world_lidar, pattern, rng) for T_world_lidar in (start @ step, start)]

    @lru_cache
    def result(config, name, precision: Literal["float64", "float32"] = "float64"):
        """Return the result of this configuration on this backend."""
        backend = BackendConfig(name=name, precision=precision)
        return register(*clouds, config=dataclasses.replace(config, backend=backend))

    return result


def small_config(algorithm, kernel):
    """Return the default configuration with this algorithm and kernel and few particles."""
    return Config(stein=SteinConfig(algorithm=algorithm, kernel=kernel, num_particles=20))


def distance_in_sigmas(result, wanted):
    """Largest difference of two poses in standard deviations, and relative of covariances."""
    relative = se3_inverse(wanted.T_target_source) @ result.T_target_source
    offset = np.concatenate([relative[:3, 3], so3_log(relative[:3, :3])])
    root = np.linalg.cholesky(wanted.covariance)
    ratio = np.linalg.solve(root, np.linalg.solve(root, result.covariance).T)
    return np.abs(np.linalg.solve(root, offset)).max(), np.abs(ratio - np.eye(6)).max()


def assert_same_result(result, wanted):
    """Compare all that a user sees; 1e-6 leaves room for rounding that ten steps have amplified."""
    assert result.status == wanted.status
    assert result.iterations == wanted.iterations
    moved, widened = distance_in_sigmas(result, wanted)
    assert moved < 1e-6
    assert widened < 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_registrations_agree(registered, algorithm, kernel):
    """A whole registration gives the same pose, covariance and iterations on both backends."""
    config = small_config(algorithm, kernel)
    assert_same_result(registered(config, "torch"), registered(config, "numba"))


def test_registrations_agree_in_the_papers_configuration(registered):
    """So does the paper's: points instead of planes, many candidates, steps without a limit."""
    paper = Config.preset("paper")
    config = dataclasses.replace(
        paper,
        source=dataclasses.replace(paper.source, max_points=600),
        stein=dataclasses.replace(paper.stein, max_iterations=10),
    )
    assert_same_result(registered(config, "torch"), registered(config, "numba"))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("algorithm", ["svn", "gauss_newton"])
def test_single_precision_registers_closely(registered, algorithm, kernel):
    """float32 moves the pose by far less than its uncertainty, and hardly changes that.

    A particle near a tie may match another candidate: one residual of 1500, 1/40 of its standard
    deviation. Adam's algorithms are left out: they stop before they settle, and carry it further.
    """
    config = small_config(algorithm, kernel)
    result = registered(config, "torch", "float32")
    moved, widened = distance_in_sigmas(result, registered(config, "torch"))
    assert 0.0 < moved < 0.02
    assert 0.0 < widened < 0.02


def test_single_precision_verbs_are_close(rng, cpu):
    """In float32 every verb answers as in float64 up to rounding: a micrometre in 0.02 m."""
    problem = random_problem(rng)
    offsets = random_offsets(rng, problem)[:8]

    def answers(backend):
        """Return what all verbs say about these particles."""
        x = backend.put(offsets)
        gradients, hessians = backend.linearise(backend.load(problem), x)
        metric = hessians.mean(0) / 6.0
        force, direction = backend.stein_newton(x, gradients, hessians, metric, 1e-3)
        alone = backend.stein_force(x, gradients, metric)
        median = backend.median_squared_distance(x)
        return map(backend.get, (gradients, hessians, force, direction, alone, median))

    for actual, wanted in zip(answers(TorchBackend("cpu", "float32")), answers(cpu), strict=True):
        assert_close(actual, wanted, relative=1e-4)
        assert not np.array_equal(actual, wanted)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.5, 2.0])
def test_euler_chart_is_numpys(rng, cpu, size):
    """Euler angles become the same rotation vectors, with the same derivative, as in NumPy."""
    offsets = rng.uniform(-1.0, 1.0, size=(20, 6)) * np.repeat([3.0, 0.5 * size], 3)
    for actual, wanted in zip(
        cpu.rotation_chart(cpu.put(offsets)), rotation_chart(offsets), strict=True
    ):
        np.testing.assert_allclose(cpu.get(actual), wanted, rtol=0.0, atol=1e-12)


class Watch(TorchDispatchMode):
    """Notes operations that make the host wait for the device, and copies between the two."""

    WAITING = ("_local_scalar_dense", "item", "is_nonzero", "nonzero", "equal", "masked_select")

    def __init__(self):
        super().__init__()
        self.waited, self.copies, self.seen = [], 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Note this operation, then do it."""
        self.seen += 1
        name = function.overloadpacket.__name__
        chosen = args[1] if name == "index" else ()
        masked = any(index is not None and index.dtype == torch.bool for index in chosen)
        if masked or name in self.WAITING:
            self.waited.append(name)
        out = function(*args, **(kwargs or {}))
        self.copies += name == "_to_copy" and out.device != args[0].device
        return out


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("algorithm", [svn, svgd, stein_icp], ids=["svn", "svgd", "stein_icp"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_step_does_not_wait_for_the_device(rng, cpu, device, algorithm, kernel):
    """No operation of a step reads a number back, and the meta device has none to read."""
    config = SteinConfig(kernel=kernel)
    cpu.device = torch.device(device)
    problem = random_problem(rng)
    state = algorithm.init(cpu, random_offsets(rng, problem), config)
    problem = cpu.load(problem)
    with Watch() as watch:
        state, info = algorithm.step(state, problem, cpu, config)
    assert watch.waited == []
    assert watch.copies == 0
    assert watch.seen > 50
    assert {tensor.device.type for tensor in (state.offsets, *info)} == {device}


@pytest.mark.parametrize("read", [float, bool, lambda x: x.item(), lambda x: x[x > 0.0]])
def test_the_watch_sees_numbers_being_read(read):
    """The watch of the test above notices every way of looking at a tensor's values."""
    with Watch() as watch:
        read(torch.ones(1))
    assert watch.waited != []


@pytest.mark.parametrize(("device", "module"), [("cuda", "cuda"), ("mps", "backends.mps")])
def test_a_missing_device_is_one_sentence(monkeypatch, device, module):
    """A device that is not there is an error of the configuration that says what to use."""
    monkeypatch.setattr(f"torch.{module}.is_available", lambda: False)
    with pytest.raises(ConfigError, match=rf"^backend\.device '{device}' is not available .*'cpu'"):
        make_backend(BackendConfig(name="torch", device=device, precision="float32"))


def test_mps_needs_single_precision():
    """Apple's device has no float64, and the message says to use float32."""
    with pytest.raises(ConfigError, match=r"set backend\.precision to 'float32'"):
        make_backend(BackendConfig(name="torch", device="mps"))


@pytest.mark.parametrize(("device", "precision"), [("tpu", "float32"), ("cpu", "float16")])
def test_unknown_devices_and_precisions_are_refused(device, precision):
    """A name that the configuration does not know is refused here as well."""
    with pytest.raises(ConfigError, match=f"'({device}|{precision})'"):
        TorchBackend(device, precision)
