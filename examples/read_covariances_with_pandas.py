# SPDX-License-Identifier: MIT
"""Read covariance.csv of a run with pandas: when the odometry was how sure, and along which axis.

Run it with ``python examples/read_covariances_with_pandas.py``. It makes a short run of its own;
put the folder of yours instead, as ``svnicp run DATA --out FOLDER`` writes it.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import svnicp
from svnicp.recording import RunDescription

AXES = ("tx", "ty", "tz", "rx", "ry", "rz")

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary) / "run"
    corridor = svnicp.simulate("bare_corridor", duration_s=1.5)
    description = RunDescription(data="bare_corridor", command=__file__, seed=0, config={})
    with svnicp.RunFolder.open(folder, description) as run:
        for estimate in svnicp.run(corridor):
            run.on_estimate(estimate)

    # The first lines of the file explain it; pandas passes over them.
    table = pd.read_csv(folder / "covariance.csv", comment="#")
    exact = svnicp.read_covariances(folder / "covariance.csv")  # the same as (n, 6, 6) arrays

table.index = pd.to_datetime(table["stamp_ns"], unit="ns")

# Variances are the columns that name an axis twice; "rel" is of one step, "abs" since the start.
sigmas = table[[f"abs_{axis}_{axis}" for axis in AXES]].set_axis(AXES, axis="columns") ** 0.5
print("sigma since the start, along [mm] and about [mdeg] the body's axes:")
shown = 1e3 * sigmas
shown[["rx", "ry", "rz"]] = 1e3 * np.degrees(sigmas[["rx", "ry", "rz"]])
print(shown.iloc[::6].round(1).to_string(index=False))

# A whole matrix: the file has the upper triangle.
last = table.iloc[-1]
covariance = np.zeros((6, 6))
for row, first in enumerate(AXES):
    for column, second in enumerate(AXES[row:], start=row):
        covariance[row, column] = covariance[column, row] = last[f"abs_{first}_{second}"]
assert np.array_equal(covariance, exact.absolute[-1])

variances, directions = np.linalg.eigh(covariance[:3, :3])
print("least known direction:", np.round(np.abs(directions[:, -1]), 2), "(the corridor is along x)")
print(f"its sigma is {np.sqrt(variances[-1] / variances[0]):.0f} times that of the best known one")
