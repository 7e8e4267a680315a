# SPDX-License-Identifier: MIT
"""The page about reliability: sentences written by hand, tables made by the study and by fuzzing.

In: the folder of ``svnicp study faults`` and the counts of ``benchmarks.fuzz``. Out: Markdown.
``python -m svnicp.studies.faults.page out/studies --fuzz out/fuzz.json --to docs/reliability.md``
"""

import argparse
import json
from pathlib import Path
from typing import Any

from svnicp.errors import InputError
from svnicp.studies.faults.catalogue import FAULTS, NONE
from svnicp.studies.results_page import read_documents
from svnicp.studies.tables import Origin, Table, markdown_table, origin_lines

WORDS = Path(__file__).with_name("page_words.md")
"""What is written by hand; ``{{name}}`` stands where a table goes."""


def reliability_page(folder: Path, fuzz: Path | None) -> str:
    """Return the text of the page.

    Parameters
    ----------
    folder
        The ``--out`` of ``svnicp study faults``.
    fuzz
        The ``--out`` of ``python -m benchmarks.fuzz``; None if it was not run.

    Raises
    ------
    InputError
        If the study is not there.
    """
    documents = read_documents(folder)
    if "faults" not in documents:
        raise InputError(f"{folder}: there is no study of faults; run `svnicp study faults` first.")
    document = documents["faults"]
    tables = {values["name"]: Table.from_dict(values) for values in document["tables"]}
    origin = Origin(**{**document["origin"], "seeds": tuple(document["origin"]["seeds"])})
    blocks = {
        "sentences": [f"- **{fault.name}**: {fault.happens}" for fault in FAULTS.values()
                      if fault is not NONE],
        "faults": [*markdown_table(tables["faults"]), "", *tables["faults"].notes, "",
                   *origin_lines(origin)],
        "programs": markdown_table(tables["programs"]),
        "fuzz": ["Not counted yet."] if fuzz is None else fuzz_lines(json.loads(fuzz.read_text())),
    }  # fmt: skip
    text = WORDS.read_text(encoding="utf-8")
    for name, lines in blocks.items():
        text = text.replace(f"{{{{{name}}}}}", "\n".join(lines))
    return text


def fuzz_lines(counts: dict[str, Any]) -> list[str]:
    """Lines of the table of spoilt files, and the command that counts them."""
    table = Table(
        "fuzz", "Spoilt files", ["reader", "inputs", "read", "refused", "crashes", "hangs"]
    )
    for name, one in counts["readers"].items():
        table.add({
            "reader": name, "inputs": one["inputs"], "read": one["read"],
            "refused": one["refused"], "crashes": sum(map(len, one["crashes"].values())),
            "hangs": len(one["hangs"]),
        })  # fmt: skip
    return [*markdown_table(table), "", "```", counts["command"], "```"]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description="Write the page about reliability.")
    parser.add_argument("folder", type=Path, help="--out of svnicp study faults")
    parser.add_argument("--fuzz", type=Path, help="--out of python -m benchmarks.fuzz")
    parser.add_argument("--to", type=Path, required=True, help="the Markdown file")
    asked = parser.parse_args()
    asked.to.write_text(reliability_page(asked.folder, asked.fuzz), encoding="utf-8")


if __name__ == "__main__":
    main()
