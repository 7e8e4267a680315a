# SPDX-License-Identifier: MIT
"""All studies by name, in the order in which a report shows them."""

from svnicp.studies import (
    ablation,
    absolute,
    calibration,
    claims,
    figures,
    filters,
    kl_nne,
    modes,
    split_half,
)
from svnicp.studies.ape_tables import TABLE1, TABLE2
from svnicp.studies.faults import study as faults
from svnicp.studies.plan import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        claims.STUDY,
        TABLE1,
        TABLE2,
        filters.STUDY,
        calibration.STUDY,
        absolute.STUDY,
        split_half.STUDY,
        modes.STUDY,
        kl_nne.STUDY,
        ablation.STUDY,
        figures.STUDY,
        faults.STUDY,
    )
}
"""Every study by name."""
