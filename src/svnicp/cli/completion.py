# SPDX-License-Identifier: MIT
"""``svnicp --completion SHELL``: a script that completes commands, options, choices and files.

It is made of the dataclasses of all commands and holds all that it needs: pressing Tab does not
start svnicp. zsh runs the script for bash.
"""

import dataclasses
import importlib
from collections.abc import Mapping

from svnicp.cli.arguments import UsageError
from svnicp.cli.interface import Argument, interface
from svnicp.config import PRESETS, VARIANTS

SHELLS = ("bash", "zsh", "fish")
TAKE_SCENARIOS = ("run", "compare", "simulate", "scenarios", "live --data")
"""Commands with arguments, and options, that name scenarios."""

BASH = """\
_svnicp() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words="" IFS=$' \\n'
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands} --help --version --completion"
    else
        case "${{COMP_WORDS[1]}} $prev $cur" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -o bashdefault -F _svnicp svnicp
"""
ZSH = """\
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
"""


def main(words: list[str], commands: Mapping[str, str]) -> int:
    """Print the script for the shell that is named; returns the exit code."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise UsageError(f"--completion needs one shell: {', '.join(SHELLS)}.")
    taken = {
        name: [_with_choices(name, one) for one in command_interface(name)] for name in commands
    }
    script = _fish(taken, commands) if words[0] == "fish" else _bash(taken)
    print(f"{ZSH if words[0] == 'zsh' else ''}{script}", end="")
    return 0


def command_interface(command: str) -> list[Argument]:
    """Return what a command takes, from the only dataclass that its module defines."""
    module = importlib.import_module(f"svnicp.cli.{command}")
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and dataclasses.is_dataclass(value)
        and value.__module__ == module.__name__
    )
    return interface(found)


def _with_choices(command: str, one: Argument) -> Argument:
    """Fill in choices that the type of an option does not tell."""
    if one.choices:
        return one
    if f"{command} {one.flag}".strip() in TAKE_SCENARIOS or one.flag == "--scenarios":
        from svnicp.simulation.scenarios import SCENARIOS  # noqa: PLC0415

        return dataclasses.replace(one, choices=tuple(SCENARIOS))
    known = {"--preset": PRESETS, "--variant": VARIANTS}
    return dataclasses.replace(one, choices=tuple(known.get(one.flag, ())))


def _bash(taken: Mapping[str, list[Argument]]) -> str:
    """Return the script for bash: cases for options with values, for options, and for arguments.

    Where a file may stand as well as a scenario, the names come after the first letter.
    """
    cases = []
    for name, arguments in taken.items():
        valued = [one for one in arguments if one.flag and one.metavar]
        for one in valued:
            if one.choices:
                cases.append((f'"{name} {one.flag} "*', one.choices))
        cases.append(("|".join(f'"{name} {one.flag} "*' for one in valued), ()))
        cases.append((f'"{name} "*" -"*', [*(one.flag for one in arguments if one.flag), "--help"]))
        for one in arguments:
            if not one.flag and one.choices:
                start = f'"{name} "*" "?*' if one.metavar == "DATA" else f'"{name} "*'
                cases.append((start, one.choices))
    lines = [f'            {start}) words="{" ".join(words)}" ;;' for start, words in cases]
    return BASH.format(commands=" ".join(taken), cases="\n".join(lines))


def _fish(taken: Mapping[str, list[Argument]], purposes: Mapping[str, str]) -> str:
    """Return the script for fish: one line for each command, option and list of values."""
    lines = [
        f"complete -c svnicp -f -n __fish_use_subcommand -a {name} -d {_quoted(purpose)}"
        for name, purpose in purposes.items()
    ]
    for name, arguments in taken.items():
        start = f"complete -c svnicp -n '__fish_seen_subcommand_from {name}'"
        for one in arguments:
            values = f" -a {_quoted(' '.join(one.choices))}" if one.choices else ""
            if not one.flag:
                files = "" if one.metavar == "DATA" or not values else " -f"
                lines.append(f"{start}{files}{values}")
                continue
            takes = ("" if not one.metavar else " -x" if one.choices else " -r") + values
            lines.append(f"{start} -l {one.flag[2:]}{takes} -d {_quoted(one.sentence)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as one word of a shell."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
