# SPDX-License-Identifier: MIT
"""covariance.csv: what is written is read back, by us and by pandas, and nothing else is taken."""

import dataclasses
import math

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording_inputs import make_estimate
from svnicp.errors import DatasetError
from svnicp.recording import read_covariances
from svnicp.recording.covariance_file import COLUMNS, HEADER, covariance_row

TRIANGLES = arrays.arrays(
    np.float64, (2, 21), elements=st.floats(allow_nan=False, allow_infinity=False)
)


def symmetric(triangle) -> np.ndarray:
    """Fill a matrix from its upper triangle, row by row."""
    full = np.zeros((6, 6))
    full[np.triu_indices(6)] = triangle
    return full + np.triu(full, 1).T


@given(st.lists(st.tuples(st.integers(0, 2**62), TRIANGLES), max_size=5))
def test_reading_gives_back_every_bit(tmp_path_factory, rows):
    """Any finite covariances and any stamps come back as they were written."""
    path = tmp_path_factory.mktemp("csv") / "covariance.csv"
    text = HEADER
    for stamp_ns, (relative, absolute) in rows:
        estimate = dataclasses.replace(
            make_estimate(0),
            stamp_ns=stamp_ns,
            relative_covariance=symmetric(relative),
            covariance=symmetric(absolute),
        )
        text += covariance_row(estimate)
    path.write_text(text)
    read = read_covariances(path)
    assert read.stamps_ns.tolist() == [stamp_ns for stamp_ns, _ in rows]
    assert read.relative.shape == read.absolute.shape == (len(rows), 6, 6)
    for index, (_, (relative, absolute)) in enumerate(rows):
        np.testing.assert_array_equal(read.relative[index], symmetric(relative))
        np.testing.assert_array_equal(read.absolute[index], symmetric(absolute))


def test_columns_are_named_by_what_they_hold(tmp_path):
    """A reader of csv files finds the covariance of tx and ry under rel_tx_ry and abs_tx_ry."""
    pandas = pytest.importorskip("pandas")
    estimate = make_estimate(3)
    (tmp_path / "covariance.csv").write_text(HEADER + covariance_row(estimate))
    table = pandas.read_csv(tmp_path / "covariance.csv", comment="#")
    assert len(COLUMNS) == len(table.columns) == 43
    assert table["stamp_ns"][0] == estimate.stamp_ns
    assert table["rel_tx_ry"][0] == pytest.approx(estimate.relative_covariance[0, 4], rel=1e-14)
    assert table["abs_tx_ry"][0] == pytest.approx(estimate.covariance[0, 4], rel=1e-14)
    assert math.sqrt(table["abs_rz_rz"][0]) == pytest.approx(estimate.sigmas[5], rel=1e-14)


def test_an_unfinished_line_is_passed_over(tmp_path, caplog):
    """A line that a kill cut off is left out, with a warning, and the rest is read."""
    path = tmp_path / "covariance.csv"
    path.write_text(
        HEADER + covariance_row(make_estimate(0)) + covariance_row(make_estimate(1))[:-4]
    )
    assert read_covariances(path).stamps_ns.tolist() == [make_estimate(0).stamp_ns]
    assert "not finished" in caplog.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a covariance.csv"),
        ("a,b\n1,2\n", "its columns must be stamp_ns, rel_tx_tx"),
        (HEADER + "1,2,3\n", "line 8: 43 numbers"),
        (HEADER + ",".join(["1"] * 42) + ",x\n", "line 8: 43 numbers"),
    ],
)
def test_other_files_are_refused(tmp_path, text, said):
    """A file of another kind, or a broken line, is refused with its place."""
    path = tmp_path / "covariance.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=said):
        read_covariances(path)


def test_a_missing_file_is_named():
    """The sentence names the file that is not there."""
    with pytest.raises(DatasetError, match=r"nowhere\.csv: .*No such file"):
        read_covariances("nowhere.csv")
