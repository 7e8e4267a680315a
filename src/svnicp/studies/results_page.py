# SPDX-License-Identifier: MIT
"""The page about all results: made from the files of studies, with the paper's numbers beside ours.

Nothing is computed here. The input is a folder with ``NAME/tables.json`` of one study or more; the
output is Markdown, and the figures it shows.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from svnicp.errors import InputError
from svnicp.studies import paper_numbers as paper
from svnicp.studies.registry import STUDIES
from svnicp.studies.tables import (
    Origin,
    Table,
    Value,
    cell_text,
    markdown_table,
    number_text,
    origin_lines,
)

FILE = "tables.json"
HEAD = """\
# Results

This page is made by `svnicp study report` from the files of the studies below; nothing on it is
written by hand. **Our numbers are simulated**, but where a command has `--data`: scenarios named
after the paper's sequences, which degrade in the same way, with exact ground truth. The paper's
numbers are of real recordings and stand beside ours for orientation; equal names do not make equal
data. `default` and `paper` are our two presets; what they are is on
[the page about the covariance](posterior.md), and what the scores mean on
[the page about scores](scores.md).
"""
QUICK = """\
**{which}**: few scenarios, one seed, a few seconds each; all claims in both presets take at most 20
minutes on two cores. It shows that everything runs, and is no evidence; leave `--quick` out for
that.
"""
TITLES = {
    "claims": "The paper's claims",
    "table1": "SubT-MRS rows",
    "table2": "GEODE rows",
    "filters": "What the filter makes of scans",
    "calibration": "Is the covariance right?",
    "absolute": "Error since the start",
    "split-half": "Halves of scans against each other",
    "modes": "Several modes",
    "kl-nne": "Against Monte Carlo",
    "ablation": "Number of particles",
    "figures": "Figures",
    "faults": "Faults on purpose",
}


def results_page(folder: Path, to: Path) -> list[str]:
    """Write the page of all studies in a folder; returns the names of the studies.

    Parameters
    ----------
    folder
        The ``--out`` of ``svnicp study``.
    to
        The Markdown file; figures go to ``images/results`` beside it.

    Raises
    ------
    InputError
        If there is no study in the folder.
    """
    documents = read_documents(folder)
    if not documents:
        raise InputError(f"{folder}: there is no finished study in it; run `svnicp study` first.")
    parts = [HEAD]
    quick = [name for name, document in documents.items() if document["origin"]["quick"]]
    if quick:
        some = f"Quick studies here: {', '.join(TITLES[name] for name in quick)}"
        all_are = len(quick) == len(documents)
        parts.append(QUICK.format(which="This is a quick study" if all_are else some))
    for name, document in documents.items():
        parts += _section(name, document, _figures(folder / name, to))
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    return list(documents)


def read_documents(folder: Path) -> dict[str, Any]:
    """Return what studies in a folder have written, in the order of the registry."""
    out: dict[str, Any] = {}
    for name in STUDIES:
        path = folder / name / FILE
        if path.is_file():
            try:
                out[name] = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise InputError(f"{path}: it is no JSON ({error}); run the study again.") from None
    return out


def _section(name: str, document: dict[str, Any], figures: list[str]) -> list[str]:
    """Lines about one study."""
    parts = [f"## {TITLES[name]}", ""]
    for values in document["tables"]:
        table = Table.from_dict(values)
        if len(document["tables"]) > 1:
            parts += [f"### {table.title}", ""]
        parts += [*markdown_table(beside_paper(table)), ""]
        for note in table.notes:
            parts += [note, ""]
    for path in figures:
        parts += [f"![{Path(path).stem}]({path})", ""]
    origin = Origin(**{**document["origin"], "seeds": tuple(document["origin"]["seeds"])})
    return [*parts, *origin_lines(origin), ""]


def _figures(folder: Path, to: Path) -> list[str]:
    """Copy the figures of a study beside the page; returns their paths as the page names them."""
    images = to.parent / "images" / "results"
    out = []
    for path in sorted(folder.glob("*.png")):
        images.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, images / path.name)
        out.append(f"images/results/{path.name}")
    return out


def beside_paper(table: Table) -> Table:
    """The table with the paper's own numbers in columns of their own, where it has some."""
    adders = {
        "table1": _ape_cells, "table2": _ape_cells, "kl-nne": _kl_cells,
        "ablation": _ablation_cells,
    }  # fmt: skip
    if table.name not in adders:
        return table
    rows = [{**row, **adders[table.name](row)} for row in table.rows]
    added = list(dict.fromkeys(name for row in rows for name in row if name.startswith("paper: ")))
    return Table(table.name, table.title, [*table.columns, *added], rows, table.notes)


def _ape_cells(row: dict[str, Value]) -> dict[str, Value]:
    method, dataset = str(row["method"]), str(row["dataset"])
    known = paper.APE_M.get(method, {})
    if method == "Stein ICP":
        known = {**dict.fromkeys(paper.APE_M["SVN-ICP"]), **known}
    ape = known.get(dataset)
    words = (
        "failed" if dataset in known and ape is None else "" if ape is None else number_text(ape)
    )
    return {"paper: APE [m]": words, "paper: runtime [s]": paper.RUNTIME_S.get(method)}


def _kl_cells(row: dict[str, Value]) -> dict[str, Value]:
    found = paper.KL_NNE.get((str(row["method"]), str(row["cut"])))
    words = "" if found is None else " / ".join(number_text(value) for value in found)
    return {"paper: NNE t / r, KL t / r": words}


def _ablation_cells(row: dict[str, Value]) -> dict[str, Value]:
    count = row["K"]
    found = paper.ABLATION.get((str(row["method"]), count if isinstance(count, int) else 0))
    if found is None:
        return {"paper: APE [m], time [s], iterations": ""}
    return {"paper: APE [m], time [s], iterations": ", ".join(cell_text(v) for v in found)}
