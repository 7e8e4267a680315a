# SPDX-License-Identifier: MIT
"""Extrinsics: every way to write them means the same; rounded ones are projected, wrong refused."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from svnicp.data.extrinsics import checked_extrinsics, read_extrinsics
from svnicp.data.folders.subt_mrs_rigs import RIGS, rig_of
from svnicp.data.quaternions import rotation_to_quat
from svnicp.errors import DatasetError
from svnicp.lie import se3_exp, se3_inverse

T_IMU_LIDAR = se3_exp(np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6]))
QUAT = rotation_to_quat(T_IMU_LIDAR[:3, :3]).tolist()
SHIFT = T_IMU_LIDAR[:3, 3].tolist()
T_BASE_IMU = se3_exp(np.array([1.0, 0.0, 2.0, 0.1, 0.2, 0.3]))

SPELLINGS = {
    "matrix": {"T_body_lidar": T_IMU_LIDAR.tolist()},
    "flat matrix": {"T_imu_lidar": T_IMU_LIDAR.ravel().tolist()},
    "seven numbers": {"T_lidar_to_imu": [*SHIFT, *QUAT]},
    "inverse": {"T_lidar_imu": se3_inverse(T_IMU_LIDAR).tolist()},
    "translation and quaternion": {"T_imu_lidar": {"translation": SHIFT, "quaternion": QUAT}},
    "as documented": {"translation": SHIFT, "quaternion_xyzw": QUAT},
    "named axes": {
        "T_imu_lidar": {
            "translation": dict(zip("xyz", SHIFT, strict=True)),
            "rotation": dict(zip("wxyz", [QUAT[3], *QUAT[:3]], strict=True)),
        }
    },
    "rotation matrix": {"translation": SHIFT, "rotation": T_IMU_LIDAR[:3, :3].tolist()},
    "both to a base": {
        "T_imu_to_base": T_BASE_IMU.tolist(),
        "T_lidar_to_base": (T_BASE_IMU @ T_IMU_LIDAR).tolist(),
    },
}


@pytest.mark.parametrize("case", SPELLINGS)
def test_every_spelling_means_the_same(tmp_path: Path, case: str):
    """However a file writes it, LiDAR coordinates are mapped into the IMU."""
    (tmp_path / "extrinsics.yaml").write_text(yaml.safe_dump(SPELLINGS[case]))
    T_body_lidar, finding = read_extrinsics(tmp_path / "extrinsics.yaml")
    np.testing.assert_allclose(T_body_lidar, T_IMU_LIDAR, atol=1e-12)
    assert "projected" not in finding.value


def test_the_published_long_corridor_is_projected_and_said(caplog):
    """Its matrix is off by 1.6e-3; the nearest rotation is used and the finding says so."""
    rig = rig_of("SubT_MRS_Hawkins_Long_Corridor_RC")
    T_body_lidar, finding = checked_extrinsics(rig.T_imu_lidar, "the table")
    R = T_body_lidar[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(R, rig.T_imu_lidar[:3, :3], atol=1.6e-3)
    assert "projected to the nearest rotation (R R^T was off by 0.0016)" in finding.value
    assert "was not orthonormal" in caplog.text


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.words[0])
def test_every_rig_of_the_table_is_nearly_rigid(rig):
    """No row of the table is refused, and none moves by more than its rounding."""
    T_body_lidar, _ = checked_extrinsics(rig.T_imu_lidar, "the table")
    np.testing.assert_allclose(T_body_lidar, rig.T_imu_lidar, atol=2e-3)
    assert np.linalg.det(T_body_lidar[:3, :3]) == pytest.approx(1.0)


WRONG = {
    "scaled": np.diag([1.1, 1.1, 1.1, 1.0]),
    "mirrored": np.diag([1.0, 1.0, -1.0, 1.0]),
    "transposed": np.vstack([np.eye(4)[:3], [0.1, 0.2, 0.3, 1.0]]),
    "not finite": np.full((4, 4), np.nan),
    "three by three": np.eye(3),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_far_off_is_refused(case: str):
    """A matrix that is no rigid motion gets one sentence with its place."""
    with pytest.raises(DatasetError, match=r"^the flag: .*extrinsics.*\.$"):
        checked_extrinsics(WRONG[case], "the flag")


BAD_FILES = {
    "other keys": ("camera: 1\n", "no extrinsics are in it"),
    "not a mapping": ("- 1\n", "no extrinsics are in it"),
    "a key twice": ("T_body_lidar: [0]\nT_body_lidar: [1]\n", "stands there twice .line 2."),
    "not YAML": ("T_body_lidar: [1, 2\n", "not readable YAML"),
    "words": ("T_body_lidar: [a, b]\n", "not rows of numbers"),
    "count": ("T_body_lidar: [1, 2, 3]\n", "3 numbers are there"),
    "quaternion": ("T_body_lidar: [0, 0, 0, 1, 1, 1, 1]\n", "length 2 instead of 1"),
    "rotation by another name": ("translation: [1, 2, 3]\nrpy: [0, 0, 1]\n", "is no rotation"),
    "sizes": ("T_body_lidar: {translation: [0, 0], rotation: [0, 0, 0, 1]}\n", "not 2 and 4"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_by_name(tmp_path: Path, case: str):
    """The sentence names the file and what it should hold."""
    text, message = BAD_FILES[case]
    (tmp_path / "extrinsics.yaml").write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        read_extrinsics(tmp_path / "extrinsics.yaml")
    assert "extrinsics.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_called_missing(tmp_path: Path):
    """A path that leads nowhere is not called bad YAML."""
    with pytest.raises(DatasetError, match=r"nowhere\.yaml: there is no such file; check the path"):
        read_extrinsics(tmp_path / "nowhere.yaml")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_extrinsics(tmp_path)
