"""Write every measured number of README.md and docs/ from the files in results/.

Run `python docs/claims.py` after a file in results/ has changed; `--check` only says whether a page
is behind. A page holds a number, or a table, between `<!-- claim:NAME -->` and `<!-- /claim -->`;
the claims below say what stands there, which file holds it and which command printed that file.
`docs/claims.md` lists them all.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgnn.experiments.compare import TableOfCells, compare
from pgnn.experiments.config import COLUMNS, is_whole
from pgnn.experiments.store import Store
from pgnn.names import LABELS, TABLE_ROWS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
INDEX = ROOT / "docs" / "claims.md"
_PLACE = re.compile(r"(<!-- claim:([\w-]+) -->)(.*?)(<!-- /claim -->)", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """Something that a page says and a file holds.

    Attributes:
        about: What it says, for the list of claims.
        command: The command that printed the file.
        file: The file, in results/.
        text: Gives what stands in the page.
    """

    about: str
    command: str
    file: str
    text: Callable[[], str]


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
        value = CLAIMS[name].text()
        return match[1] + (f"\n\n{value}\n\n" if "\n" in value else value) + match[4]

    return _PLACE.sub(fill, text)


def index_page() -> str:
    """Return docs/claims.md: each claim, where it stands, its command and its file."""
    lines = [
        "# Claims and evidence",
        "",
        "Every measured number of the README and of these pages, the command that prints it and "
        "the committed file that holds it. `python docs/claims.py` writes the numbers into the "
        "pages; a test says that they are equal to the files. Terminal output in "
        "[Your own graph](own-data.md) is recorded as it was printed.",
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
        value = claim.text()
        about = claim.about if "\n" in value else f"{claim.about}: {value}"
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


def _tables_of(protocol: str) -> list[TableOfCells]:
    records = Store(RESULTS / "reproduction.jsonl").records()
    return compare(records, list(COLUMNS.values()), protocol)


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
            head.append(column.title + (" (pairs)" if table.number == 2 else ""))
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


def _ppi_table() -> str:
    """Return the rows of PPI by the runs that were trained until they stopped improving."""
    runs: dict[str, dict[int, float]] = {}
    for record in Store(RESULTS / "reproduction.jsonl").records():
        is_cell = (record["column"], record["protocol"]) == ("ppi", "paper")
        if is_cell and record["model"] in (*_GNNS, *_FOUR) and is_whole(record):
            runs.setdefault(record["model"], {})[record["seed"]] = record["test_auc"]
    rows = [
        [LABELS[model], str(len(runs[model])), f"{sum(aucs.values()) / len(aucs):.3f}"]
        for model in (*_GNNS, *_FOUR)
        if (aucs := runs.get(model))
    ]
    return _table(("PPI, `paper`", "full-length runs", "mean test AUC"), rows)


def _few(runs: int) -> str:
    return "" if runs >= 10 else f" ({runs} run{'s' if runs > 1 else ''})"


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

    peers = dict.fromkeys(row["peer"] for row in rows)
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
    "ppi-table": Claim(
        "PPI by full-length runs alone",
        "pgnn reproduce ppi --protocol paper --runs 10 --resume",
        "reproduction.jsonl",
        _ppi_table,
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
