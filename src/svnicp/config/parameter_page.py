# SPDX-License-Identifier: MIT
"""The page of all parameters, made of the dataclasses: ``docs/parameters.md``.

``python -m svnicp.config.parameter_page > docs/parameters.md`` writes it; a test compares the two.
"""

import dataclasses
import typing
from typing import Any, Literal

from svnicp.config.field_docs import field_docs
from svnicp.config.presets import Config

HEAD = """\
# Every parameter

<!-- Made by `python -m svnicp.config.parameter_page > docs/parameters.md`. -->

A YAML file holds those that differ from the default, grouped by stage:

```yaml
noise:
  range_noise_m: 0.01
stein:
  num_particles: 50
```

It goes in by `--config my.yaml`, or as `svnicp.Config.from_yaml("my.yaml")`; single values go in by
`--set noise.range_noise_m=0.01`. An unknown key is an error that names the nearest known one, and
every run keeps all its parameters in `run.yaml`. The one worth setting is `noise.range_noise_m`:
the standard deviation of your sensor's range, from its data sheet.

`--preset paper` is the method as published; where it differs, its value is given, too. `--variant`
takes a row of the paper's tables instead ([variants](odometry.md#variants-of-the-papers-tables)).
"""


def parameter_page() -> str:
    """Return the page: a table for each stage, with defaults, choices and sentences."""
    default, paper = Config.preset("default"), Config.preset("paper")
    parts = [HEAD]
    for stage in dataclasses.fields(Config):
        ours, theirs = getattr(default, stage.name), getattr(paper, stage.name)
        parts.append(f"## {stage.name}\n\n{(type(ours).__doc__ or '').strip()}\n")
        parts.append("| parameter | default | what it is |\n|---|---|---|\n" + _rows(ours, theirs))
    return "\n".join(parts)


def _rows(ours: Any, theirs: Any) -> str:  # noqa: ANN401
    """Return the rows of a stage, with the values of the default preset and of the paper's."""
    sentences, hints = field_docs(type(ours)), typing.get_type_hints(type(ours))
    rows = ""
    for name, sentence in sentences.items():
        value, published = getattr(ours, name), getattr(theirs, name)
        words = sentence.replace("``", "`").replace("|", "\\|")
        if typing.get_origin(hints[name]) is Literal:
            words += (
                f" One of {', '.join(f'`{choice}`' for choice in typing.get_args(hints[name]))}."
            )
        if value != published:
            words += f" *Paper: {_shown(published)}.*"
        rows += f"| `{name}` | {_shown(value)} | {words} |\n"
    return rows


def _shown(value: object) -> str:
    """Return a value as YAML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    print(parameter_page(), end="")
