# SPDX-License-Identifier: MIT
"""The sentence under each field of a dataclass.

Python drops a string that stands below a field; here it is read again from the source. The help of
the command line and the page of all parameters are made of these sentences.
"""

import ast
import inspect
import textwrap


def field_docs(cls: type) -> dict[str, str]:
    """Sentences by field name, each on one line; those of a base class where there is no newer."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base is not object:
            found |= _own_docs(base)
    return found


def _own_docs(cls: type) -> dict[str, str]:
    """Sentences of the fields that a class declares itself; none if its source is not there."""
    try:
        source = inspect.getsource(cls)
    except OSError:  # compiled files only: help without sentences is better than none
        return {}
    (definition,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(t))
            ):
                found[name] = " ".join(t.split())
    return found
