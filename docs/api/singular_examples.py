"""A griffe extension: `Example:` in a docstring is a section of code, as `Examples:` is."""

from __future__ import annotations

import re
from typing import Any

import griffe


class SingularExamples(griffe.Extension):
    """Rename the section before docstrings are parsed; the sources keep the word they use."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of a class, function, attribute or module."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE
            )
