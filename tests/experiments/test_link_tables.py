"""Tables of the benchmark of links."""

import json

import numpy as np
import pytest

from pgnn.experiments.link_run import LinkRecord
from pgnn.experiments.link_tables import PUBLISHED, LinkResults, draw_links, link_tables


def record(column="usair", model="pgnn-best", protocol="published", seed=0, auc=0.9, **more):
    values = {
        "calibration_error": 0.02,
        "brier": 0.05,
        "top_hits": 60 if protocol == "honest" else None,
        "test_pairs": 400,
        "nodes": 332,
        "edges": 1914,
        "seconds": 50.0,
        "processor_seconds": 5.0,
        "settings": None,
        "command": "pgnn reproduce usair",
        "versions": {},
        **more,
    }
    return LinkRecord(column, model, protocol, seed, auc, **values)


HEURISTIC = {"calibration_error": None, "brier": None, "processor_seconds": 0.01}


@pytest.fixture
def records():
    return [
        *(record(seed=seed, auc=0.98 + seed / 1000) for seed in range(3)),
        *(record(seed=s, auc=0.97, protocol="honest", top_hits=60 + s) for s in range(3)),
        record(model="common neighbours", auc=0.95, **HEURISTIC),
        record(model="common neighbours", auc=0.95, protocol="honest", **HEURISTIC),
        record(model="node2vec", auc=0.91),
        record(model="gcn", column="mine", auc=0.8, processor_seconds=123.4),
    ]


def test_tables_have_means_and_deviations_of_the_runs(records):
    published, honest = link_tables(records)
    cell = published.cells["pgnn-best", "usair"]
    assert cell.runs == 3
    assert cell.auc.mean == pytest.approx(0.981)
    assert cell.auc.std == pytest.approx(np.std([0.98, 0.981, 0.982]))
    assert cell.top_hits is None
    assert honest.cells["pgnn-best", "usair"].top_hits.mean == 61
    assert honest.hidden_edges == {"usair": 200}
    assert (published.protocol, honest.protocol) == ("published", "honest")


def test_rows_and_columns_are_in_order(records):
    published, _ = link_tables(records)
    assert published.columns == ("usair", "mine")
    assert published.rows == ("pgnn-best", "gcn", "node2vec", "common neighbours")


def test_a_run_that_is_stored_twice_counts_once(records):
    (table, _) = link_tables([*records, records[0]])
    assert table.cells["pgnn-best", "usair"].runs == 3


def test_markdown_has_every_table_and_published_numbers(records):
    text = LinkResults(link_tables(records)).markdown
    published, honest = text.split("### Missing links, protocol `honest`")
    assert "| pgnn-best | 0.981 ± 0.001 |  |" in published
    assert "| SEAL, published | 0.966 |  |" in published
    assert "| WalkPool, published | **0.987** |  |" in published
    assert "quoted, not run here" in published
    assert "**0.800 ± 0.000**" in published  # the best of the column without published numbers
    assert "SEAL" not in honest
    assert "| pgnn-best | **0.970 ± 0.000** |" in honest
    for part in (published, honest):
        assert "| pgnn-best | 0.020 ± 0.000 (0.050) |" in part
        assert "| common neighbours | < 0.1 |" in part
    assert "| GCN |  | 123 |" in published
    assert "likeliest" not in published
    assert "| pgnn-best | 61.0 ± 0.8 |\n" in honest
    assert "| hidden edges in all | 200 |\n" in honest
    chances = published.split("**Calibration error**")[1]
    assert "common neighbours" not in chances
    for line in text.splitlines():
        assert not line.startswith("|") or line.endswith("|")


def test_published_numbers_stand_only_beside_their_graphs():
    text = LinkResults(link_tables([record(column="mine")])).markdown
    assert "SEAL" not in text
    assert "quoted" not in text


def test_published_numbers_are_those_of_the_papers():
    assert PUBLISHED["SEAL"] == {"usair": 0.966, "ns": 0.989, "yeast": 0.979, "power": 0.876}
    assert PUBLISHED["WalkPool"] == {"usair": 0.987, "ns": 0.99, "yeast": 0.984, "power": 0.926}


def test_json_has_a_cell_for_each_row_and_column_and_marks_published_ones(records):
    document = LinkResults(link_tables(records)).to_json()
    json.dumps(document, allow_nan=False)
    cells = document["cells"]
    assert {cell["table"] for cell in cells} == {"links"}
    own = [cell for cell in cells if not cell["published"]]
    assert len(own) == 6
    best = own[0]
    assert (best["column"], best["model"], best["runs"]) == ("usair", "pgnn-best", 3)
    assert best["mean"] == pytest.approx(0.981)
    assert {"std", "seconds", "processor_seconds", "calibration_error", "brier", "top_hits"} <= set(
        best
    )
    assert {c["model"]: c["mean"] for c in cells if c["published"]} == {
        "SEAL": 0.966,
        "WalkPool": 0.987,
    }


def test_nothing_stored_makes_no_table():
    assert LinkResults(link_tables([])).markdown == ""
    assert LinkResults([]).to_json() == {"cells": []}


def test_picture_of_both_protocols_is_drawn(records, tmp_path):
    draw_links(link_tables(records), tmp_path / "links.png")
    assert (tmp_path / "links.png").read_bytes().startswith(b"\x89PNG")
