"""Templates, scripts and data -> one HTML file that asks no host for anything."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pgnn.checks import checked
from pgnn.io.write import open_atomic

# Integers beyond this are not exact in JavaScript, so ids beyond it are shown as text.
_LARGEST_EXACT = 1 << 53


def render_page(template: str, data: Mapping[str, Any], scripts: list[str], **names: Any) -> str:
    """Render a template with its style, scripts and data inside.

    Args:
        template: Name of a file beside this one.
        data: What the page's scripts draw; the page holds it as JSON.
        scripts: Names of JavaScript files beside this one.
        **names: Other values that the template reads.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["rounded"] = rounded
    environment.filters["percent"] = percent
    # Only text that is ours, or escaped by `to_json`, goes into the page as markup.
    inlined = {
        "style": Markup(_read("page.css")),  # noqa: S704
        "script": Markup("\n".join(_read(name) for name in scripts)),  # noqa: S704
        "json": Markup(to_json(data)),  # noqa: S704
    }
    return environment.get_template(template).render(data=data, **inlined, **names)


def _read(name: str) -> str:
    return files("pgnn.report").joinpath(name).read_text(encoding="utf-8")


def to_json(data: Mapping[str, Any]) -> str:
    """Return JSON that may stand inside a script element whatever strings it holds."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def plain(value: Any) -> str | int:
    """Return an id as JSON and JavaScript hold it: an exact integer or a string."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_EXACT:
        return value
    return str(value)


def number(value: Any) -> float | None:
    """Return a float, or None for None and for what JSON has no number for."""
    return None if value is None or not math.isfinite(value) else float(value)


def rounded(value: float | None) -> str:
    """Return a number as a table shows it: three digits, a dash for none."""
    return "\N{EN DASH}" if value is None else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def percent(share: float | None) -> str:
    """Return a share as a table shows it: two digits, and more near 100%; a dash for none.

    Example:
        >>> percent(0.834), percent(0.9968), percent(0.00123)
        ('83%', '99.7%', '0.12%')
    """
    if share is None:
        return "\N{EN DASH}"
    if share == 0 or round(100 * share, 2) in (0.0, 100.0):
        return "0%" if share == 0 else "< 0.01%" if share < 0.5 else "> 99.99%"
    return f"{float(f'{100 * share:.{3 if share > 0.99 else 2}g}'):g}%"


@checked
def write_report(path: str | os.PathLike[str], html: str) -> None:
    """Write a page, whole or not at all.

    Raises:
        PGNNError: If the folder does not exist or the file cannot be written.
    """
    with open_atomic(Path(path)) as file:
        # An id may hold half of a surrogate pair, which no encoding has a place for.
        file.write(html.encode("utf-8", errors="replace"))
