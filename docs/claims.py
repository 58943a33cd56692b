"""Write every measured number of README.md and docs/ from the files in results/.

Run `python docs/claims.py` after a file in results/ has changed; `--check` only says whether a page
is behind. A page holds a number, or a table, between `<!-- claim:NAME -->` and `<!-- /claim -->`;
the claims below say what stands there, which file holds it and which command printed that file.
Words after the name are arguments: `<!-- claim:auc paper grid gcn -->` is the AUC of GCN on Grid
under protocol `paper`. `docs/claims.md` lists all claims.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.compare import TableOfCells, compare, label
from pgnn.experiments.config import COLUMNS, Column, is_whole
from pgnn.experiments.link_run import LinkRecord
from pgnn.experiments.link_tables import PUBLISHED, LinkCell, LinkTable, link_tables
from pgnn.experiments.store import Store
from pgnn.names import BEST, LABELS, NODE2VEC, PROTOCOLS, TABLE_ROWS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
INDEX = ROOT / "docs" / "claims.md"
_PLACE = re.compile(r"(<!-- claim:([\w-]+)((?: [\w=-]+)*) -->)(.*?)(<!-- /claim -->)", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """Something that a page says and a file holds.

    Attributes:
        about: What it says, for the list of claims.
        command: The command that printed the file.
        file: The file, in results/.
        text: Gives what stands in the page, from the words after the claim's name.
        has_words: Whether there are such words.
    """

    about: str
    command: str
    file: str
    text: Callable[..., str]
    has_words: bool = False


def pages() -> list[Path]:
    """Return the pages that hold claims."""
    named = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in named if page != INDEX]


def names_in(text: str) -> list[str]:
    """Return the names of the claims of a page, in its order."""
    return [match[2] for match in _PLACE.finditer(text)]


def filled(text: str) -> str:
    """Return a page with every claim as the files have it."""

    def fill(match: re.Match[str]) -> str:
        name = match[2]
        if name not in CLAIMS:
            raise KeyError(f"no claim is called {name!r}")
        value = CLAIMS[name].text(*match[3].split())
        return match[1] + (f"\n\n{value}\n\n" if "\n" in value else value) + match[5]

    return _PLACE.sub(fill, text)


def index_page() -> str:
    """Return docs/claims.md: each claim, where it stands, its command and its file."""
    lines = [
        "# Claims and evidence",
        "",
        "Every measured number of the README and of these pages, the command that prints it and "
        "the committed file that holds it. `python docs/claims.py` writes the numbers into the "
        "pages; a test says that they are equal to the files. Terminal output in "
        "[Your own graph](own-data.md) and [Scale](scale.md) is recorded as it was printed.",
        "",
        "| claim | stands in | command | file |",
        "|---|---|---|---|",
    ]
    places: dict[str, list[str]] = {}
    for page in pages():
        for name in names_in(page.read_text()):
            shown = f"`{page.relative_to(ROOT).as_posix()}`"
            if shown not in places.setdefault(name, []):
                places[name].append(shown)
    for name, claim in CLAIMS.items():
        value = "" if claim.has_words else claim.text()
        about = f"{claim.about}: {value}" if value and "\n" not in value else claim.about
        where = ", ".join(places.get(name, []))
        lines.append(f"| {about} | {where} | `{claim.command}` | `results/{claim.file}` |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are behind."""
    behind = []
    texts = {page: filled(page.read_text()) for page in pages()} | {INDEX: index_page()}
    for page, text in texts.items():
        if not page.exists() or text != page.read_text():
            behind.append(page)
            print(page.relative_to(ROOT))
            if "--check" not in arguments:
                page.write_text(text)
    return int("--check" in arguments and bool(behind))


# ---------------------------------------------------------------------- forms of numbers


def _read(file: str) -> Any:
    return json.loads((RESULTS / file).read_text())


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [" | ".join(titles).strip(), *(" | ".join(row) for row in rows)]
    head, *body = (f"| {line} |" for line in lines)
    return "\n".join([head, "|---" * len(titles) + "|", *body])


def _seconds(value: float) -> str:
    if value < 0.01:
        return f"{value * 1e3:.2g} ms"
    if value < 0.1:
        return f"{value * 1e3:.0f} ms"
    return f"{value:.2f} s" if value < 1 else f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def _times(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}x" if value < 10 else f"{value:,.0f}x"


def _row(file: str, **which: Any) -> Mapping[str, Any]:
    """Return the row of a bench that has these values."""
    rows = _read(file)["rows"]
    return next(row for row in rows if all(row.get(key) == which[key] for key in which))


# ---------------------------------------------------------------------- the paper's tables

_FOUR = ("pgnn-f-1l", "pgnn-f-2l", "pgnn-e-1l", "pgnn-e-2l")
_GNNS = ("gcn", "sage", "gat", "gin")


@cache
def _records() -> list[dict[str, Any]]:
    return Store(RESULTS / "reproduction.jsonl").records()


@cache
def _tables_of(protocol: str) -> list[TableOfCells]:
    return compare(_records(), list(COLUMNS.values()), protocol)


def _title(column: Column) -> str:
    """Return what a column is called where both tables stand together."""
    return column.title + (" (pairs)" if column.table == 2 else "")


def _paper_table() -> str:
    """Return the best of each kind, beside the paper's best P-GNN."""
    tables = _tables_of("paper")
    kinds = {
        "best of its four P-GNNs here": _FOUR,
        "P-GNN-P-2L: PageRank instead of hops": ("pgnn-p-2l",),
        "best GNN here": _GNNS,
        "best without learning": None,
        "pgnn-best": ("pgnn-best",),
    }
    head, paper = [], ["the paper's best P-GNN"]
    lines: dict[str, list[str]] = {kind: [] for kind in kinds}
    for table in tables:
        for column in table.columns:
            head.append(_title(column))
            published = (column.published(model) for model in _FOUR)
            paper.append(f"{max(mean for mean, _ in filter(None, published)):.3f}")
            for kind, models in kinds.items():
                rows = models or [row for row in table.rows if row not in TABLE_ROWS]
                cells = [table.cell(row, column) for row in rows if row in table.rows]
                whole = [cell for cell in cells if cell is not None]
                best = max(whole, key=lambda cell: cell.mean, default=None)
                marks = "" if best is None else "†" * bool(best.cut_short) + _few(best.runs)
                lines[kind].append("-" if best is None else f"{best.mean:.3f}{marks}")
    body = [paper, *([kind, *lines[kind]] for kind in kinds)]
    return _table(["", *head], body)


@cache
def _runs_of_cells() -> dict[tuple[str, str, str], dict[int, float]]:
    """Return the test AUC of each seed, of runs that were trained until they stopped improving."""
    runs: dict[tuple[str, str, str], dict[int, float]] = {}
    for record in filter(is_whole, _records()):
        cell = record["protocol"], record["column"], record["model"]
        runs.setdefault(cell, {})[record["seed"]] = record["test_auc"]
    return runs


def _whole_runs(protocol: str, column: str, row: str) -> dict[int, float]:
    """Return the test AUC of each seed of a cell, of full-length runs."""
    return _runs_of_cells().get((protocol, column, row), {})


def _cells_left(protocol: str) -> str:
    """Say which cells of both tables have fewer than ten full-length runs."""
    columns = []
    for column in COLUMNS.values():
        counts = {
            label(row): len(_whole_runs(protocol, column.name, row))
            for row in (*TABLE_ROWS, *HEURISTICS)
        }
        short = [f"{row} {runs}" for row, runs in counts.items() if runs < 10]
        if short:
            columns.append(f"{_title(column)} ({', '.join(short)})")
    return "; ".join(columns) or "none"


# What the paper's numbers of PPI say: the first is above the second.
_PPI_ORDERS = (
    ("the best P-GNN is above the best GNN", "pgnn", "gnn"),
    ("P-GNN-E-2L is above GraphSAGE", "pgnn-e-2l", "sage"),
    ("GraphSAGE is above P-GNN-E-1L", "sage", "pgnn-e-1l"),
    ("P-GNN-F: two layers are above one", "pgnn-f-2l", "pgnn-f-1l"),
    ("P-GNN-E: two layers are above one", "pgnn-e-2l", "pgnn-e-1l"),
    ("exact distances are above those cut at two hops, two layers", "pgnn-e-2l", "pgnn-f-2l"),
    ("GraphSAGE is the best GNN: above GAT", "sage", "gat"),
)


def _ppi_orders() -> str:
    """Return what became of the paper's orderings of PPI's rows, seed by seed."""

    def of_paper(kind: str) -> float:
        return max(_paper_mean("ppi", row) for row in _KINDS.get(kind, (kind,)))

    def row_of(protocol: str, kind: str) -> str:
        def mean(row: str) -> float:
            return statistics.mean(_whole_runs(protocol, "ppi", row).values() or [0.0])

        return max(_KINDS.get(kind, (kind,)), key=mean)

    def cell(protocol: str, first: str, second: str, expected: float) -> str:
        rows = row_of(protocol, first), row_of(protocol, second)
        ours, theirs = (_whole_runs(protocol, "ppi", row) for row in rows)
        gains = [ours[seed] - theirs[seed] for seed in ours.keys() & theirs.keys()]
        if len(gains) < 2:
            return "-"
        mean, error = statistics.mean(gains), statistics.stdev(gains) / len(gains) ** 0.5
        wins = sum(gain > 0 for gain in gains)
        verdict = "turned round" if mean * expected < 0 else "holds"
        if abs(mean) < 2 * error:
            verdict = "undecided"
        names = "" if first not in _KINDS else f"{LABELS[rows[0]]} over {LABELS[rows[1]]}: "
        return f"{names}{mean:+.3f} ± {error:.3f}, {wins} of {len(gains)} seeds: {verdict}"

    return _table(
        ("the paper's numbers say", "the paper", "`paper`", "`released`"),
        (
            [about, f"{gain:+.3f}", *(cell(p, first, second, gain) for p in PROTOCOLS)]
            for about, first, second in _PPI_ORDERS
            if (gain := of_paper(first) - of_paper(second))
        ),
    )


def _few(runs: int) -> str:
    return "" if runs >= 10 else f" ({runs} run{'s' if runs > 1 else ''})"


_KINDS = {
    "gnn": _GNNS,
    "pgnn": _FOUR,
    "pgnn-f": _FOUR[:2],
    "pgnn-e": _FOUR[2:],
    "pgnn-1l": _FOUR[::2],
}


@cache
def _means(protocol: str) -> dict[tuple[str, str], float]:
    """Return the mean test AUC of every cell, by its column and row."""
    return {
        (column, row.replace(" ", "_")): cell.mean
        for table in _tables_of(protocol)
        for (row, column), cell in table.cells.items()
        if cell is not None
    }


def _paper_mean(column: str, row: str) -> float:
    published = COLUMNS[column].published(row)
    assert published is not None
    return published[0]


def _auc(protocol: str, column: str, row: str) -> str:
    return f"{_means(protocol)[column, row]:.3f}"


def _best(protocol: str, column: str, kind: str) -> float:
    return max(_means(protocol)[column, row] for row in _KINDS[kind])


def _best_auc(protocol: str, column: str, kind: str) -> str:
    return f"{_best(protocol, column, kind):.3f}"


def _gain(protocol: str, column: str, row: str) -> str:
    """Return by how much a row, or the best of a kind, is above the best GNN."""
    ours = _best(protocol, column, row) if row in _KINDS else _means(protocol)[column, row]
    return f"{100 * (ours / _best(protocol, column, 'gnn') - 1):.0f}%"


def _span(aucs: Iterable[float]) -> str:
    aucs = list(aucs)
    return f"{min(aucs):.3f} to {max(aucs):.3f}"


def _change(column: str, row: str, protocol: str, change: str) -> str:
    """Return the AUC of a cell with one thing changed, such as decoder=dot; or with none."""
    changes = {} if change == "none" else dict([change.split("=")])
    rows = _read("ablations.json")["rows"]
    which = {"column": column, "model": row, "protocol": protocol, "change": changes}
    return next(f"{row['mean']:.3f}" for row in rows if which.items() <= row.items())


def _turned(column: str) -> str:
    return f"{100 * _row('released_negatives.json', column=column)['share']:.1f}%"


def _oracle(column: str) -> str:
    return f"{_row('released_negatives.json', column=column)['oracle_auc']:.3f}"


def _rounding() -> str:
    row = _row("rounding.json", model="gat")
    return (
        f"ranked by such differences, a GAT reaches an AUC of {row['auc']:.3f} on Communities, and "
        f"of {row['auc_in_double']:.3f} in double precision"
    )


# ---------------------------------------------------------------------- theory


def _theory(part: str) -> Any:
    return _read("theory.json")[part]["found"]


def _proposition_table() -> str:
    titles = {
        "spider(1, 2, 3)": "tree with legs 1, 2, 3",
        "spider(1, 2, 9)": "tree with legs 1, 2, 9",
        "Frucht graph": "Frucht graph (3-regular, no symmetry)",
    }
    counts = ("nodes", "twins", "distinct_gin", "distinct_pgnn")
    graphs = {title: _theory("proposition")[name] for name, title in titles.items()}
    return _table(
        ("graph", "nodes", "twins", "embeddings, GIN", "embeddings, P-GNN"),
        ([title, *(str(graph[key]) for key in counts)] for title, graph in graphs.items()),
    )


def _joint_table() -> str:
    joint = _theory("joint")

    def cell(name: str) -> str:
        return f"{joint[name]['mean']:.3f} ± {joint[name]['std']:.3f}"

    layers = {"1l": "1 layer", "2l": "2 layers"}
    rows = ([title, cell(f"shared_{key}"), cell(f"own_{key}")] for key, title in layers.items())
    return _table(("", "shared sets", "own sets"), rows)


def _complexity_table() -> str:
    return _table(
        ("nodes", "sets", "seconds", "MB"),
        (
            [
                f"{row['nodes']:,}",
                str(row["sets"]),
                f"{row['seconds']:.4f}",
                f"{row['peak_bytes'] / 1e6:.1f}",
            ]
            for row in _theory("complexity")["rows"]
        ),
    )


def _growth() -> str:
    growth = _theory("complexity")
    time, memory = growth["seconds"], growth["peak_bytes"]

    def beside_fit(part: Mapping[str, Any]) -> str:
        least, largest = part["least_and_largest_of_measured_over_fit"]
        return f"{least:.2f} to {largest:.2f}"

    return (
        f"time grows as n^{time['measured_power_of_n']:.2f} and memory as "
        f"n^{memory['measured_power_of_n']:.2f}; n log^2 n over the same range looks like "
        f"n^{time['power_of_n_of_the_formula']:.2f}. Measured time is {beside_fit(time)} times the "
        f"fitted c n log^2 n, memory {beside_fit(memory)} times"
    )


# ---------------------------------------------------------------------- speed


def _distances_table() -> str:
    families = {
        "random": "random, 100,000 nodes, 500,000 edges",
        "grid": "grid, 300 x 300",
        "preferential": "preferential attachment, 200,000 nodes, 1.6 million edges",
        "random-1m": "random, 1 million nodes, 10 million edges",
    }
    rows = [(title, _row("bench_distances.json", family=name)) for name, title in families.items()]
    return _table(
        ("graph", "sets", "pgnn", "scipy", "times"),
        (
            [
                title,
                str(row["sets"]),
                _seconds(row["seconds"]),
                _seconds(row["scipy_seconds"]),
                _times(row["ratio"]),
            ]
            for title, row in rows
        ),
    )


def _all_distances_table() -> str:
    """Return every family of the bench, with its peak of memory."""

    def line(row: Mapping[str, Any]) -> list[str]:
        share = row["peak_bytes"] / row["result_and_graph_bytes"]
        counts = (f"{row[key]:,}" for key in ("nodes", "edges", "sets"))
        times = (_seconds(row["seconds"]), _seconds(row["scipy_seconds"]), _times(row["ratio"]))
        return [row["family"], *counts, *times, f"{share:.2f}" if row["nodes"] > 3000 else "-"]

    titles = (
        "family",
        "nodes",
        "edges",
        "sets",
        "pgnn",
        "scipy",
        "times",
        "peak / (result + rows)",
    )
    return _table(titles, map(line, _read("bench_distances.json")["rows"]))


def _bounds_table() -> str:
    """Return what bounds the search, graph by graph."""

    def milliseconds(seconds: float) -> str:
        return f"{seconds * 1e3:,.1f} ms" if seconds < 0.02 else f"{seconds * 1e3:,.0f} ms"

    def line(row: Mapping[str, Any]) -> list[str]:
        seconds = ("pull_seconds", "exchange_seconds", "search_seconds")
        times = [milliseconds(row[key]) for key in seconds]
        wrote = [milliseconds(row[key]) for key in ("write_seconds", "fill_seconds")]
        size = f"{row['key_bytes'] / 1e6:.1f} MB"
        return [row["graph"], size, *times, f"{row['exchanges_per_block']:.1f}", *wrote]

    titles = (
        "graph",
        "rows of keys",
        "one pull of all",
        "one exchange",
        "search of all sets",
        "exchanges per block",
        "writing the result",
        "plain fill",
    )
    return _table(titles, map(line, _read("bounds.json")["rows"]))


def _bounds_speed() -> str:
    """Say how fast rows come from memory."""
    document = _read("bounds.json")
    row = document["rows"][-1]
    entries = 2 * row["edges"]
    return (
        f"Of a million nodes a pull gets a row in {row['pull_seconds'] / entries * 1e9:.1f} ns, "
        f"{64 * entries / row['pull_seconds'] / 1e9:.1f} GB/s of random lines, where a copy moves "
        f"{document['copy_bytes_per_second'] / 1e9:.0f} GB/s."
    )


def _released_distances() -> str:
    row = _row("bench_distances.json", family="random-3000")
    return f"{_seconds(row['released_seconds'])}, {row['released_ratio']:,.0f} times as long"


def _layer_table() -> str:
    def line(row: Mapping[str, Any]) -> list[str]:
        ours = _seconds(row["seconds"])
        if row["released_seconds"] is None:
            whole = f"{ours}, {row['process_bytes'] / 1e9:.1f} GB in all"
            return [f"{row['nodes']:,}", str(row["sets"]), whole, "-", "-", "-"]
        memory = f"1/{row['peak_ratio']:.0f}"
        released = _seconds(row["released_seconds"])
        ratio = _times(row["ratio"])
        return [f"{row['nodes']:,}", str(row["sets"]), ours, released, ratio, memory]

    head = ("nodes", "sets", "pgnn", "released", "times", "memory")
    return _table(head, map(line, _read("bench_layer.json")["rows"]))


def _whole_layer_table() -> str:
    """Return both ways of the layer and the released one, with their peaks of memory."""

    def line(row: Mapping[str, Any]) -> list[str]:
        ways = ("", "eager_", "released_")
        seconds = [row[f"{way}seconds"] for way in ways]
        peaks = [row[f"{way}peak_bytes"] for way in ways]
        return [
            f"{row['nodes']:,}",
            str(row["sets"]),
            *("-" if value is None else _seconds(value) for value in seconds),
            _times(row["ratio"]),
            *("-" if value is None else f"{value / 1e6:,.1f} MB" for value in peaks),
            _times(row["peak_ratio"]),
            f"{row['process_bytes'] / 1e9:.2f} GB",
        ]

    titles = ("nodes", "sets", "fused", "eager", "released", "times")
    memory = ("fused", "eager", "released", "times", "whole process")
    return _table((*titles, *memory), map(line, _read("bench_layer.json")["rows"]))


def _layer_bounds_table() -> str:
    def parts(row: Mapping[str, float], way: str) -> list[str]:
        took, *bounds = (row[f"{way}{bound}_ns"] for bound in ("", "_arithmetic", "_memory"))
        return [*(f"{value:.1f}" for value in (took, *bounds)), f"{took / max(bounds):.1f}x"]

    bounds = ("arithmetic", "memory", "ratio")
    return _table(
        ("nodes", "forward", *bounds, "backward", *bounds),
        (
            [f"{row['nodes']:,}", *parts(row, "forward"), *parts(row, "backward")]
            for row in _read("layer_bounds.json")["rows"]
        ),
    )


def _dots() -> str:
    row = _row("pair_dots.json", nodes=3000)
    return (
        f"at {row['nodes']:,} nodes, {row['sets']} sets and {row['pairs']:,} pairs gathered dot "
        f"products and their scatter take {_seconds(row['gathered_seconds'])}, the kernel "
        f"{_seconds(row['seconds'])} ({_times(row['ratio'])})"
    )


def _sweeps_table() -> str:
    sizes = {"large": "large sets", "middling": "middling sets", "smallest": "smallest sets"}

    def cell(graph: str, size: str) -> str:
        row = _row("sweeps.json", graph=graph, sets=size)
        sweeps, queue = row["sweeps_seconds"], row["queue_seconds"]
        return f"{sweeps * 1e3:.1f} / {queue * 1e3:.1f} ms ({_times(queue / sweeps)})"

    graphs = dict.fromkeys(row["graph"] for row in _read("sweeps.json")["rows"])
    titles = ("90,000 nodes", *(f"{title}: sweeps / queue" for title in sizes.values()))
    return _table(titles, ([graph, *(cell(graph, size) for size in sizes)] for graph in graphs))


def _updates() -> str:
    row = _row("bench_updates.json", nodes=1_000_000)
    return (
        f"distances to {row['sets']} sets are updated in place in {_seconds(row['seconds'])}, "
        f"where a search takes {_seconds(row['search_seconds'])} ({row['ratio']:.0f} times as long)"
    )


def _read_csv() -> str:
    rows = _read("read_csv.json")["rows"]
    ours, numpy, networkx = (_seconds(row["processor_seconds"]) for row in rows)
    return (
        f"{ours}. networkx takes {networkx} ({_times(rows[-1]['ratio'])}), and numpy's `loadtxt`, "
        f"which makes neither ids nor a graph, {numpy}"
    )


def _train_table() -> str:
    titles = {
        "grid": "Grid, 400 nodes",
        "ppi-sized": "the size of PPI's graphs, 3,000 nodes, 43,000 edges",
    }
    return _table(
        ("graph", "epochs", "pgnn", "released", "times"),
        (
            [
                titles[row["dataset"]],
                str(row["epochs"]),
                _seconds(row["seconds"]),
                _seconds(row["released_seconds"]),
                _times(row["ratio"]),
            ]
            for row in _read("bench_train.json")["rows"]
        ),
    )


def _denormals() -> str:
    zero, kept = (row["seconds_per_epoch_by_tens"] for row in _read("denormals.json")["rows"])
    return (
        f"with denormal numbers an epoch takes {_seconds(kept[1])} at first and "
        f"{_seconds(kept[-1])} after {10 * len(kept)} epochs, without them {_seconds(zero[1])} and "
        f"{_seconds(zero[-1])} ({_times(kept[-1] / zero[-1])})"
    )


def _memory_kept_table() -> str:
    titles = ("model, nodes, sets", "command", "limit", "peak", "of the limit", "processor time")
    return _table(
        titles,
        (
            (
                f"`{graph['model']}`, {graph['nodes']:,}, {graph['sets']:,}",
                run["command"],
                f"{run['said_mb']:.0f} MB" if run["said_mb"] else "none",
                "refused" if run["line"] else f"{run['used_mb']:.0f} MB",
                f"{run['ratio']:.2f}" if run["ratio"] and not run["line"] else "",
                f"{run['cpu_ratio']:.2f}x" if run["cpu_ratio"] and not run["line"] else "",
            )
            for graph in _read("memory_kept.json")["graphs"]
            for run in graph["runs"]
        ),
    )


def _read_memory_table() -> str:
    titles = ("file", "limit", "before", "peak", "of the limit", "growth, in graphs", "child")
    return _table(
        titles,
        (
            (
                f"`{row['file']}`",
                row["memory"] or "none",
                f"{row['before_mb']:.0f} MB",
                f"{row['peak_mb']:.0f} MB",
                f"{row['ratio']:.2f}" if row["memory"] else "",
                f"{row['graphs']:.1f} x {row['graph_mb']:.0f} MB",
                f"{row['child_peak_mb']:.0f} MB" if row["child_peak_mb"] else "",
            )
            for row in _read("read_memory.json")["rows"]
        ),
    )


def _parts_table() -> str:
    document = _read("partitioned_on_paper.json")
    one, two = document["one_process"], document["two_ranks"]
    titles = {
        "read_csv": "read a csv file, 2 million edges",
        "read_parquet": "read a parquet file, 2 million edges",
        "search": f"search of {document['sets']} sets",
    }
    rows = [
        [
            title,
            *(f"{each[part]['processor_seconds']:.2f} s" for each in (one, two)),
            f"{document['processor_ratio'][part]:.1f}x",
        ]
        for part, title in titles.items()
    ]
    growth = [f"{each['read_far']['growth_bytes'] / 1e6:.0f} MB" for each in (one, two)]
    title = "growth of memory per process, csv file of 10 million edges"
    rows.append([title, *growth, f"{document['memory_ratio']:.2f}x"])
    return _table(("what", "one process", "two ranks", "ratio"), rows)


def _paper_of_parts() -> str:
    return _table(
        (
            "processes per machine",
            "network",
            "read",
            "search",
            "of both: sending",
            "in all",
            "memory each",
        ),
        (
            [
                str(row["processes_per_machine"]),
                f"{row['gbit']} Gbit/s",
                *(
                    f"{row[part]:.0f} s"
                    for part in ("read_seconds", "search_seconds", "network_seconds", "seconds")
                ),
                f"{row['bytes_per_process'] / 1e9:.1f} GB",
            ]
            for row in _read("partitioned_on_paper.json")["on_paper"]
        ),
    )


def _scale_table() -> str:
    def line(row: Mapping[str, Any]) -> list[str]:
        steps = [f"{row[name]['seconds']:.0f} s" for name in ("train", "evaluate", "predict")]
        best = max(row["heuristics_top_hidden"].items(), key=lambda item: item[1])
        return [
            f"{row['nodes']:,}",
            f"{row['edges']:,}",
            *steps,
            f"{row['peak_bytes'] / 1e9:.1f} GB",
            f"{row['auc']:.4f}",
            f"{row['heuristic_auc']:.4f} ({row['heuristic']})",
            str(row["top_hidden"]),
            f"{best[1]} ({best[0]})",
        ]

    titles = (
        *("nodes", "edges", "train", "evaluate", "predict", "peak", "AUC", "best heuristic"),
        *("hidden edges in the top 100", "best heuristic"),
    )
    return _table(titles, map(line, _read("bench_scale.json")["rows"]))


# ---------------------------------------------------------------------- links


@cache
def _links_of(protocol: str) -> LinkTable:
    records = map(LinkRecord.from_json, Store(RESULTS / "links.jsonl").records())
    return next(table for table in link_tables(records) if table.protocol == protocol)


def _links_row(table: LinkTable, row: str, text: Callable[[LinkCell], str]) -> list[str]:
    """Return what a row came to on each graph, with the number of its runs if they are few."""
    cells = (table.cells.get((row, graph)) for graph in table.columns)
    return [label(row), *("-" if cell is None else text(cell) + _few(cell.runs) for cell in cells)]


def _links_honest() -> str:
    """Return AUC and hits of learnt rows beside the best heuristic of each graph, in hindsight."""
    table = _links_of("honest")

    def hits(cell: LinkCell) -> float:
        assert cell.top_hits is not None, "protocol honest asks for the likeliest links"
        return cell.top_hits.mean

    def text(cell: LinkCell) -> str:
        return f"{cell.auc.mean:.3f}, {hits(cell):.0f}"

    def of_heuristics(graph: str) -> str:
        cells = [table.cells[row, graph] for row in HEURISTICS]
        return f"{max(cell.auc.mean for cell in cells):.3f}, {max(map(hits, cells)):.0f}"

    best, *others = (
        _links_row(table, row, text) for row in (BEST, NODE2VEC, "pgnn-p-2l", "pgnn-e-2l")
    )
    heuristics = [f"best of {len(HEURISTICS)} heuristics", *map(of_heuristics, table.columns)]
    return _table(["", *table.columns], [best, heuristics, *others])


def _links_published() -> str:
    """Return AUC on all pairs beside the numbers that papers report."""
    table = _links_of("published")

    def of_paper(name: str) -> list[str]:
        numbers = (PUBLISHED[name].get(graph) for graph in table.columns)
        return [f"{name}, published", *("-" if n is None else f"{n:.3f}" for n in numbers)]

    ours = _links_row(table, BEST, lambda cell: f"{cell.auc.mean:.3f}")
    return _table(["", *table.columns], [ours, *map(of_paper, PUBLISHED)])


def _directions_table() -> str:
    rows = []
    for name, graph in _read("questions.json").items():
        if isinstance(graph, dict) and "direction_auc" in graph:
            numbers = (graph[key] for key in ("auc_without", "auc_with", "direction_auc"))
            rows.append([name, f"{graph['edges']:,}", *(f"{number:.3f}" for number in numbers)])
    return _table(("graph", "edges", "AUC without directions", "with", "direction AUC"), rows)


def _shops_table() -> str:
    shops = {
        name.removeprefix("shop, "): graph
        for name, graph in _read("questions.json").items()
        if name.startswith("shop, ")
    }
    rows = list(next(iter(shops.values()))["hits@10 per customer"])
    return _table(
        ["shop", "edges", *rows],
        (
            [
                name,
                f"{shop['edges']:,}",
                *(f"{shop['hits@10 per customer'][row]:.3f}" for row in rows),
            ]
            for name, shop in shops.items()
        ),
    )


def _ablation_table() -> str:
    text = (RESULTS / "link_ablation.md").read_text()
    return "\n".join(line for line in text.splitlines() if line.startswith("|"))


def _best_seconds_table() -> str:
    """Return how long pgnn-best takes by column or graph, on a quiet machine."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for row in _read("best_seconds.json")["rows"]:
        runs.setdefault(row["column"], []).append(row)

    def line(name: str, rows: list[Mapping[str, Any]]) -> list[str]:
        keys = ("auc", "seconds", "seconds_with_reading")
        auc, learning, in_all = (statistics.mean(row[key] for row in rows) for key in keys)
        about = _title(COLUMNS[name]) if name in COLUMNS else name
        return [about, str(len(rows)), f"{auc:.3f}", _seconds(learning), _seconds(in_all)]

    titles = ("column or graph", "seeds", "test AUC", "learning", "in all")
    return _table(titles, (line(*item) for item in runs.items()))


def _peers_table() -> str:
    rows = _read("peers.json")["rows"]
    graphs = list(dict.fromkeys(row["graph"] for row in rows))

    def cell(peer: str, graph: str) -> str:
        runs = [row for row in rows if (row["peer"], row["graph"]) == (peer, graph)]
        if not runs:
            return "-"
        auc, seconds = (
            sum(row[key] for row in runs) / len(runs) for key in ("auc", "processor_seconds")
        )
        return (
            f"{auc:.3f} ({_seconds(max(seconds, 0.01))}, {len(runs)} seed{'s' * (len(runs) > 1)})"
        )

    aucs: dict[str, list[float]] = {}
    for row in rows:
        aucs.setdefault(row["peer"], []).append(row["auc"])
    peers = sorted(aucs, key=lambda peer: -statistics.mean(aucs[peer]))
    return _table(["", *graphs], ([peer, *(cell(peer, g) for g in graphs)] for peer in peers))


def _pythons() -> str:
    *others, last = (name for name in _read("wheel.json") if name.startswith("Python "))
    return f"{', '.join(others)} and {last}"


def _largest_peak() -> str:
    row = _row("bench_distances.json", family="random-1m")
    return f"{row['peak_bytes'] / row['result_and_graph_bytes']:.2f} times"


CLAIMS = {
    "paper-table": Claim(
        "Test AUC of the best of each kind beside the paper's",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _paper_table,
    ),
    "ppi-orders": Claim(
        "The paper's orderings of PPI's rows, seed by seed",
        "pgnn reproduce ppi --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _ppi_orders,
    ),
    "cells-left": Claim(
        "Cells of both tables with fewer than ten full-length runs, and how many they have",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _cells_left,
        has_words=True,
    ),
    "auc": Claim(
        "Mean test AUC of a cell",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _auc,
        has_words=True,
    ),
    "paper": Claim(
        "The paper's number of a cell",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.md",
        lambda column, row: f"{_paper_mean(column, row):.3f}",
        has_words=True,
    ),
    "best": Claim(
        "Mean test AUC of the best of several models",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _best_auc,
        has_words=True,
    ),
    "range": Claim(
        "Least and largest mean test AUC of several models",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        lambda protocol, column, kind: _span(_means(protocol)[column, row] for row in _KINDS[kind]),
        has_words=True,
    ),
    "paper-range": Claim(
        "Least and largest number of the paper for several models",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.md",
        lambda column, kind: _span(_paper_mean(column, row) for row in _KINDS[kind]),
        has_words=True,
    ),
    "gain": Claim(
        "How far a model is above the best GNN",
        "pgnn reproduce all --runs 10 --jobs 2 --resume",
        "reproduction.jsonl",
        _gain,
        has_words=True,
    ),
    "change": Claim(
        "Test AUC of a cell with one thing changed, three seeds",
        "python benchmarks/ablations.py",
        "ablations.json",
        _change,
        has_words=True,
    ),
    "turned": Claim(
        "Negatives of the released code that are positives turned round",
        "python benchmarks/released_negatives.py",
        "released_negatives.json",
        _turned,
        has_words=True,
    ),
    "oracle": Claim(
        "The most that a score can reach under protocol `released`",
        "python benchmarks/released_negatives.py",
        "released_negatives.json",
        _oracle,
        has_words=True,
    ),
    "rounding": Claim(
        "What rounding alone is worth",
        "python benchmarks/rounding.py",
        "rounding.json",
        _rounding,
    ),
    "theory-gap": Claim(
        "Smallest gap between nodes in symmetric places, P-GNN",
        "python docs/figures/theory.py --only symmetry",
        "theory.json",
        lambda: f"{_theory('symmetry')['smallest_gap_of_v1_v2_pgnn']:.3f}",
    ),
    "theory-proposition": Claim(
        "How many nodes embeddings tell apart",
        "python docs/figures/theory.py --only proposition",
        "theory.json",
        _proposition_table,
    ),
    "theory-joint": Claim(
        "Test AUC with shared and with own anchor-sets",
        "python docs/figures/theory.py --only joint",
        "theory.json",
        _joint_table,
    ),
    "theory-complexity": Claim(
        "Time and memory of a forward pass by the number of nodes",
        "python docs/figures/theory.py --only complexity",
        "theory.json",
        _complexity_table,
    ),
    "theory-growth": Claim(
        "How a forward pass grows",
        "python docs/figures/theory.py --only complexity",
        "theory.json",
        _growth,
    ),
    "distances-table": Claim(
        "Distances to anchor-sets beside scipy",
        "pgnn bench distances --json",
        "bench_distances.json",
        _distances_table,
    ),
    "distances-all": Claim(
        "All families of the bench of distances, weighted search and PageRank among them",
        "pgnn bench distances --json",
        "bench_distances.json",
        _all_distances_table,
    ),
    "bounds-table": Claim(
        "What bounds the search",
        "python benchmarks/bounds.py",
        "bounds.json",
        _bounds_table,
    ),
    "bounds-speed": Claim(
        "How fast rows of keys come from memory",
        "python benchmarks/bounds.py",
        "bounds.json",
        _bounds_speed,
    ),
    "distances-released": Claim(
        "The released all-pairs method on 3,000 nodes",
        "pgnn bench distances --json",
        "bench_distances.json",
        _released_distances,
    ),
    "distances-largest": Claim(
        "Time for a million nodes and ten million edges",
        "pgnn bench distances --json",
        "bench_distances.json",
        lambda: _seconds(_row("bench_distances.json", family="random-1m")["seconds"]),
    ),
    "distances-memory": Claim(
        "Memory for a million nodes, of the result and the graph",
        "pgnn bench distances --json",
        "bench_distances.json",
        _largest_peak,
    ),
    "layer-table": Claim(
        "One layer, forward and backward, beside the released formulation",
        "pgnn bench layer --json",
        "bench_layer.json",
        _layer_table,
    ),
    "layer-20000": Claim(
        "A layer of 20,000 nodes and 196 sets, forward and backward",
        "pgnn bench layer --json",
        "bench_layer.json",
        lambda: _seconds(_row("bench_layer.json", nodes=20_000)["seconds"]),
    ),
    "layer-whole-table": Claim(
        "One layer beside the eager path and the released formulation, with memory",
        "pgnn bench layer --json",
        "bench_layer.json",
        _whole_layer_table,
    ),
    "layer-bounds": Claim(
        "What bounds the layer",
        "python benchmarks/layer_bounds.py",
        "layer_bounds.json",
        _layer_bounds_table,
    ),
    "pair-dots": Claim(
        "Dot products of pairs, forward and backward",
        "python benchmarks/pair_dots.py",
        "pair_dots.json",
        _dots,
    ),
    "sweeps-table": Claim(
        "Sweeps beside queues",
        "python benchmarks/sweeps.py",
        "sweeps.json",
        _sweeps_table,
    ),
    "updates": Claim(
        "After 100 of ten million edges arrived",
        "pgnn bench updates --nodes 1000000 --edges 10000000 --added 100 --json",
        "bench_updates.json",
        _updates,
    ),
    "read-csv": Claim(
        "Reading a CSV file of 10 million edges",
        "python benchmarks/read_csv.py",
        "read_csv.json",
        _read_csv,
    ),
    "scale-table": Claim(
        "Train, evaluate and predict by size",
        "pgnn bench scale --json",
        "bench_scale.json",
        _scale_table,
    ),
    "memory-kept": Claim(
        "What commands used of a limit of memory",
        "python benchmarks/memory_kept.py",
        "memory_kept.json",
        _memory_kept_table,
    ),
    "read-memory": Claim(
        "Memory of reading 10 million edges",
        "python benchmarks/read_memory.py",
        "read_memory.json",
        _read_memory_table,
    ),
    "parts-table": Claim(
        "A graph in two parts beside one process",
        "python benchmarks/partitioned_on_paper.py",
        "partitioned_on_paper.json",
        _parts_table,
    ),
    "parts-on-paper": Claim(
        "A billion edges on 16 machines, computed",
        "python benchmarks/partitioned_on_paper.py",
        "partitioned_on_paper.json",
        _paper_of_parts,
    ),
    "train-table": Claim(
        "A training run beside the released formulation",
        "pgnn bench train --json",
        "bench_train.json",
        _train_table,
    ),
    "denormals": Claim(
        "What denormal numbers cost in training",
        "python benchmarks/denormals.py",
        "denormals.json",
        _denormals,
    ),
    "links-honest": Claim(
        "Hidden links of public graphs: AUC, and hidden edges among the 100 likeliest links",
        "pgnn reproduce links --runs 10 --jobs 2 --resume",
        "links.jsonl",
        _links_honest,
    ),
    "links-published": Claim(
        "Hidden links of public graphs beside published numbers",
        "pgnn reproduce links --runs 10 --jobs 2 --resume",
        "links.jsonl",
        _links_published,
    ),
    "directions-table": Claim(
        "Directed links: AUC and the AUC of directions",
        "python benchmarks/questions.py",
        "questions.json",
        _directions_table,
    ),
    "shops-table": Claim(
        "Recommendations: hits among ten per customer",
        "python benchmarks/questions.py",
        "questions.json",
        _shops_table,
    ),
    "best-seconds-table": Claim(
        "How long pgnn-best takes to learn, and in all, on a quiet machine",
        "python benchmarks/best_seconds.py",
        "best_seconds.json",
        _best_seconds_table,
    ),
    "peers-table": Claim(
        "AUC and seconds of pgnn-best and its peers on the same hidden links",
        "python benchmarks/peers.py",
        "peers.json",
        _peers_table,
    ),
    "pythons": Claim(
        "Versions on which every command of the wheel was tried",
        "python benchmarks/wheel.py --python PYTHON",
        "wheel.json",
        _pythons,
    ),
    "ablation-table": Claim(
        "What each part of pgnn-best is worth",
        "python benchmarks/link_ablation.py",
        "link_ablation.md",
        _ablation_table,
    ),
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
