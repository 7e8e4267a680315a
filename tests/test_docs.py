# SPDX-License-Identifier: MIT
"""The documentation keeps its promises: equations, the functions and tests they name, and links.

A row of docs/equations.md reads
``| Eq. (14) | what | svnicp.registration.svn.step | tests/test_svn.py::test_name |``;
the last two columns may name several, separated by commas.
"""

import importlib
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EQUATIONS = ROOT / "docs" / "equations.md"

EQUATION = re.compile(r"Eq\.\s\((\w+)\)")
FENCED_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)"  # [text](target) and pictures
    r"|(?:src|href)=\"([^\"]+)\""  # the same in HTML
    r"|^\[[^\]]+\]:\s*(\S+)",  # [label]: target
    re.MULTILINE,
)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")


class Row(NamedTuple):
    """One equation: what implements it, and which tests show it."""

    equation: str
    functions: list[str]
    tests: list[str]


def table() -> list[Row]:
    """Return the rows of docs/equations.md; a row of another form is an error."""
    rows = []
    for line in EQUATIONS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.replace("`", "").strip().strip("|").split("|")]
        match = EQUATION.fullmatch(cells[0])
        if match is None:
            continue
        assert len(cells) == 4, f"docs/equations.md: a row needs four columns: {line}"
        functions, tests = (re.split(r"[,\s]+", cell) for cell in cells[2:])
        rows.append(Row(match.group(1), functions, tests))
    assert rows, "docs/equations.md has no rows of the form | Eq. (n) | what | function | test |"
    return rows


def find(dotted: str) -> object:
    """Import the object at a dotted path, or raise ImportError or AttributeError."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ImportError(f"no module {parts[0]}")


def test_every_equation_in_the_code_is_in_the_table():
    """An ``Eq. (n)`` in a source file has a row that says what it is and how it is tested."""
    listed = {row.equation for row in table()}
    missing = [
        f"{path.relative_to(ROOT)}: Eq. ({equation})"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for equation in EQUATION.findall(path.read_text(encoding="utf-8"))
        if equation not in listed
    ]
    assert missing == [], "equations without a row in docs/equations.md"


def test_every_function_in_the_table_exists():
    """The dotted paths of the table can be imported."""
    missing = []
    for dotted in {name for row in table() for name in row.functions}:
        try:
            find(dotted)
        except (ImportError, AttributeError) as error:
            missing.append(f"{dotted}: {error}")
    assert missing == [], "functions in docs/equations.md that do not exist"


def test_every_test_in_the_table_exists():
    """The tests of the table are functions in the files it names."""
    missing = []
    for name in {name for row in table() for name in row.tests}:
        file, _, function = name.partition("::")
        path = ROOT / file
        source = path.read_text(encoding="utf-8") if path.is_file() else ""
        if re.search(rf"^def {re.escape(function)}\(", source, re.MULTILINE) is None:
            missing.append(name)
    assert missing == [], "tests in docs/equations.md that do not exist"


def test_relative_links_lead_to_files():
    """Links and pictures in the Markdown files at the root and in docs/ resolve."""
    broken = []
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        prose = FENCED_CODE.sub("", page.read_text(encoding="utf-8"))
        for groups in LINK.findall(INLINE_CODE.sub("", prose)):
            target = "".join(groups)
            inside = target.split("#")[0]
            if not ELSEWHERE.match(target) and not (page.parent / inside).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == [], "links to files that are not there"
