"""Tables of cells as Markdown and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgnn.errors import PGNNError
from pgnn.experiments.compare import Cell, TableOfCells, label
from pgnn.io.atomic import open_atomic

TITLES = {1: "Link prediction", 2: "Pairwise node classification"}
PPI_NOTE = (
    "PPI: features are partly recovered. For 1,921 of 56,944 nodes they are unknown, or partly so, "
    "and set to zero; 42,985 rows were inferred by matching nodes to genes. The structure is exact."
)


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
            "`*`: more than two standard deviations, of both together, from the paper.\n"
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
    ours = f"{cell.mean:.3f} ± {cell.std:.3f}{'*' if cell.differs else ''}"
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
    """Draw the tables; the best model in each column is bold, cells that differ are coloured.

    Raises:
        PGNNError: If matplotlib is not installed; ask `missing_for_pictures` first.
    """
    if missing_for_pictures() is not None:
        raise PGNNError(f"{path}: pictures need matplotlib; pip install 'position-gnn[plots]'")
    from matplotlib.figure import Figure  # not pyplot, which keeps figures and wants a display

    heights = [2 + len(table.rows) for table in tables]
    figure = Figure(figsize=(13, 0.32 * sum(heights) + 0.6 * len(tables)))
    axes = figure.subplots(len(tables), 1, height_ratios=heights, squeeze=False)
    for axis, table in zip(axes[:, 0], tables, strict=True):
        axis.axis("off")
        axis.set_title(
            f"Table {table.number}: {TITLES[table.number]}, protocol {table.protocol}. "
            "Ours [paper]; orange: more than two deviations apart",
            fontsize=10,
            loc="left",
        )
        text = [[_text(table.cell(row, c)) for c in table.columns] for row in table.rows]
        drawn = axis.table(
            cellText=text,
            rowLabels=[label(row) for row in table.rows],
            colLabels=[column.title for column in table.columns],
            loc="center",
            cellLoc="center",
        )
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(8)
        drawn.scale(1, 1.25)
        for number, column in enumerate(table.columns):
            cells = [table.cell(row, column) for row in table.rows]
            best = max((cell.mean for cell in cells if cell), default=0.0)
            for position, cell in enumerate(cells, start=1):
                if cell is not None and cell.differs:
                    drawn[position, number].set_facecolor("#fde3c8")
                if cell is not None and cell.mean == best:
                    drawn[position, number].set_text_props(weight="bold")
    figure.tight_layout()
    with open_atomic(path) as file:
        figure.savefig(file, format="png", dpi=110)
