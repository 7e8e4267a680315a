# SPDX-License-Identifier: MIT
"""What particles add: the scores of the whole posterior against those of plain curvature.

In: judged scans of a scenario by method. Out: a row of differences, scan by scan the same errors:
over Laplace (the residuals' variance times the inverse Hessian), and over our own Laplace with
physical variances and the errors-in-variables correction. Positive where particles are better.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from svnicp.arrays import Floats
from svnicp.scores import negative_log_likelihood
from svnicp.studies.covariance_rows import Judged
from svnicp.studies.intervals import mean_of_scans
from svnicp.studies.tables import Table, Value, value_of

OVER = {"Laplace": "Laplace", "default without particles": "corrected Laplace"}
"""Methods that particles are compared with, and what columns call them."""
GAINS = [
    name for words in OVER.values()
    for name in (f"NLL over {words}", f"energy score over {words} [mm]")
]  # fmt: skip


def gain_table(found: Mapping[str, Mapping[str, Sequence[Judged]]]) -> Table:
    """Table of what particles add in every scenario, and on average over them.

    Parameters
    ----------
    found
        Judged scans by scenario and method, one entry for each seed.
    """
    table = Table("particles", "What particles add", ["scenario", *GAINS, "scans"])
    rows = []
    for scenario, methods in found.items():
        row = gains(methods)
        if row is not None:
            rows.append(row)
            table.add({"scenario": scenario, **row})
    if len(rows) > 1:
        means = {name: _average([value_of(row[name]) for row in rows]) for name in GAINS}
        table.add({"scenario": "all", **means, "scans": sum(int(str(r["scans"])) for r in rows)})
    table.notes.append(
        "How much better the particles' scores are than those of two Gaussians about the same "
        "estimate, scan by scan; negative: worse. Laplace: variance of the residuals times the "
        "inverse Hessian. Corrected Laplace: ours without particles, with physical variances and "
        "without the information that noisy normals fake. NLL is that of the covariance; the "
        "energy score of particles is that of the particles themselves."
    )
    return table


def gains(methods: Mapping[str, Sequence[Judged]]) -> dict[str, Value] | None:
    """Cells of one scenario; None without scans of all methods."""
    ours = methods.get("default")
    if not ours or any(name not in methods for name in OVER):
        return None
    row: dict[str, Value] = {}
    for name, words in OVER.items():
        pairs = list(zip(methods[name], ours, strict=True))
        row[f"NLL over {words}"] = mean_of_scans([_nll(a) - _nll(b) for a, b in pairs])
        differences = [1e3 * (a.energy - b.energy) for a, b in pairs]
        row[f"energy score over {words} [mm]"] = mean_of_scans(differences)
    return {**row, "scans": sum(len(run.errors) for run in ours)}


def _nll(judged: Judged) -> Floats:
    return negative_log_likelihood(judged.errors, judged.covariances)


def _average(values: Sequence[float | None]) -> Value:
    """Mean over scenarios, each counting the same."""
    return mean_of_scans([np.array([value for value in values if value is not None])])
