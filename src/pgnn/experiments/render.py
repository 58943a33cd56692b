"""Tables of cells as Markdown and as a picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgnn.errors import PGNNError
from pgnn.experiments.compare import Cell, TableOfCells, label
from pgnn.io.write import open_atomic

TITLES = {1: "Link prediction", 2: "Pairwise node classification"}
PPI_NOTE = (
    "PPI: features are partly recovered. For 1,921 of 56,944 nodes they are unknown, or partly so, "
    "and set to zero; 42,985 rows were inferred by matching nodes to genes. The structure is exact."
)


_CUT_SHORT = "`†`: some of its runs ended before they stopped improving"


def to_markdown(tables: Sequence[TableOfCells]) -> str:
    """Return the tables as Markdown: the paper's numbers in brackets, `*` for cells that differ."""
    parts = []
    for table in tables:
        runs = sorted({cell.runs for cell in table.cells.values() if cell is not None})
        if not runs:
            continue
        counted = f"{runs[0]} to {runs[-1]} runs" if len(runs) > 1 else f"{runs[0]} runs"
        parts.append(
            f"### Table {table.number}: {TITLES[table.number]}, protocol `{table.protocol}`\n\n"
            f"Test ROC AUC, mean and standard deviation of {counted}; [the paper's]; "
            "`*`: more than two standard deviations, of both together, from the paper"
            + (f"; {_CUT_SHORT}" if any(c and c.cut_short for c in table.cells.values()) else "")
            + ".\n"
        )
        titles = [column.title for column in table.columns]
        lines = ["| | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
        for row in table.rows:
            cells = (_text(table.cell(row, column)) for column in table.columns)
            lines.append(f"| {label(row)} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines) + "\n")
        ppi = [column for column in table.columns if column.dataset == "ppi"]
        if any(table.cell(row, column) for row in table.rows for column in ppi):
            parts.append(PPI_NOTE + "\n")
    return "\n".join(parts)


def _text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    marks = ("*" if cell.differs else "") + ("†" if cell.cut_short else "")
    ours = f"{cell.mean:.3f} ± {cell.std:.3f}{marks}"
    return ours if cell.paper is None else f"{ours} [{cell.paper[0]:.3f} ± {cell.paper[1]:.3f}]"


def missing_for_pictures() -> str | None:
    """Say why the tables cannot be drawn and what to install; None if they can be drawn.

    Tables are complete without pictures, so this is a remark to make before long work, no error.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return (
            "the tables will be written without pictures, which need matplotlib; "
            "pip install 'position-gnn[plots]'"
        )
    return None


def to_png(tables: Sequence[TableOfCells], path: Path) -> None:
    """Draw the tables; the best model of a column is bold, cells that differ are coloured."""
    panels = []
    for table in tables:
        cells = [[table.cell(row, column) for column in table.columns] for row in table.rows]
        best = [
            max((c.mean for c in column if c), default=0.0) for column in zip(*cells, strict=True)
        ]
        panels.append(
            Panel(
                f"Table {table.number}: {TITLES[table.number]}, protocol {table.protocol}. "
                "Ours [paper]; orange: more than two deviations apart",
                [label(row) for row in table.rows],
                [column.title for column in table.columns],
                [[_text(cell) for cell in line] for line in cells],
                bold={
                    (row, place)
                    for row, line in enumerate(cells)
                    for place, cell in enumerate(line)
                    if cell is not None and cell.mean == best[place]
                },
                coloured={
                    (row, place)
                    for row, line in enumerate(cells)
                    for place, cell in enumerate(line)
                    if cell is not None and cell.differs
                },
            )
        )
    draw(panels, path)


@dataclass(frozen=True)
class Panel:
    """One table of a picture.

    Attributes:
        title: What it shows.
        rows: Names of the rows.
        columns: Names of the columns.
        text: The cells, row by row.
        bold: Row and column of cells in bold type.
        coloured: Row and column of cells on a coloured ground.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    text: Sequence[Sequence[str]]
    bold: Collection[tuple[int, int]] = ()
    coloured: Collection[tuple[int, int]] = ()


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw tables below each other.

    Raises:
        PGNNError: If matplotlib is not installed (ask `missing_for_pictures` first), or the file
            cannot be written.
    """
    if missing_for_pictures() is not None:
        raise PGNNError(f"{path}: pictures need matplotlib; pip install 'position-gnn[plots]'")
    from matplotlib.figure import Figure  # not pyplot, which keeps figures and wants a display

    heights = [2 + len(panel.rows) for panel in panels]
    figure = Figure(figsize=(13, 0.32 * sum(heights) + 0.6 * len(panels)))
    axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        axis.axis("off")
        axis.set_title(panel.title, fontsize=10, loc="left")
        drawn = axis.table(
            cellText=panel.text,
            rowLabels=panel.rows,
            colLabels=panel.columns,
            loc="center",
            cellLoc="center",
        )
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(8)
        drawn.scale(1, 1.25)
        for row, column in panel.coloured:
            drawn[row + 1, column].set_facecolor("#fde3c8")
        for row, column in panel.bold:
            drawn[row + 1, column].set_text_props(weight="bold")
    figure.tight_layout()
    with open_atomic(path) as file:
        figure.savefig(file, format="png", dpi=110)
