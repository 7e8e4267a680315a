# SPDX-License-Identifier: MIT
"""What the site adds to the pages in docs/: files of the repository that they link to.

CONTRIBUTING.md, CHANGELOG.md and the examples become pages, CITATION.cff is copied, and links that
lead out of docs/ lead to these. So the same links work on the site and in the repository.
"""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
COPIED = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "CITATION.cff",
}
"""Files of the repository, and their names on the site."""
LATER = ("results.md", "performance.md", "reliability.md")
"""Pages that are made from measurements; one that is not there yet is left out of the menu."""

_INLINE_CODE = re.compile(r"<code>[^<]+</code>")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_EXAMPLE = re.compile(r"\]\(\.\./examples/(\w+)\.py\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave pages out of the menu that have not been made yet."""
    docs = Path(config.docs_dir)
    for section in config.nav or []:
        for pages in section.values():
            pages[:] = [
                page
                for page in pages
                if not {*page.values()} & {name for name in LATER if not (docs / name).is_file()}
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that have a place on the site."""
    for source, name in COPIED.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_bytes()))
    files.append(File.generated(config, "examples.md", content=examples_page()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links that lead out of docs/ into links within the site."""
    up = "" if page.file.src_uri in COPIED.values() else "../"
    for source, name in COPIED.items():
        markdown = markdown.replace(f"]({up}{source})", f"]({name})")
    return _EXAMPLE.sub(lambda found: f"](examples.md#{found[1]})", markdown)


def on_page_content(html: str, **_: object) -> str:
    """Mark the flags in code, which narrow windows would break after their dashes."""
    return _INLINE_CODE.sub(
        lambda code: _FLAG.sub(r'<span class="flag">\g<0></span>', code[0]), html
    )


def on_post_page(output: str, **_: object) -> str:
    """Take our own worker for pages on the disk, where the theme would load one from elsewhere."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "file_search.js")


def on_post_template(output_content: str, **_: object) -> str:
    """Do the same for the page that is shown for a wrong address."""
    return on_post_page(output_content)


def examples_page() -> str:
    """Return a page of all programs in examples/: what each shows, and its code."""
    parts = [
        "---\nsearch: {boost: 0.3}\n---\n\n# Examples\n\n"
        "Whole programs, which the tests run. Each makes the data that it needs."
    ]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        title, _, words = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
        shown = code.split('"""', 2)[2].strip()
        parts.append(f"## {title.rstrip('.')} {{ #{path.stem} }}\n\n{words.replace('``', '`')}")
        parts.append(
            f'??? example "examples/{path.name}"\n\n' + _indented(f"```python\n{shown}\n```")
        )
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
