import html as html_module
import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

import pgnn
from pgnn.errors import PGNNError
from pgnn.report import Link, Positions, Row, render_run
from pgnn.report import run as run_module
from report.samples import HOSTILE, caveman, data_in, hops_of, link_of, report_of


def without_scripts(page):
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)


def cells(page, table):
    """Text of the cells of a table, row by row."""
    body = re.search(rf'<table class="{table}">.*?</table>', page, re.S).group()
    rows = re.findall(r"<tr.*?</tr>", body, re.S)
    strip = [re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [
        [html_module.unescape(re.sub("<[^>]+>", "", c)).strip(" \n") for c in row] for row in strip
    ]


def test_data_holds_the_input_in_full_precision(small_report, small_page):
    data = data_in(small_page)
    assert data["rows"] == [
        {
            "name": "P-GNN (this run)",
            "kind": "model",
            "metrics": {"roc_auc": 0.9123456789, "average_precision": 1 / 3},
            "paper": [0.985, 0.008],
        },
        {
            "name": "ppr",
            "kind": "heuristic",
            "metrics": {"roc_auc": 0.9, "average_precision": 0.25},
            "paper": None,
        },
    ]
    assert data["history"] == small_report.history
    assert data["best_epoch"] == 2
    (link,) = data["links"]
    assert (link["source"], link["target"], link["ends"]) == (0, 24, [0, 24])
    assert (link["score"], link["spread"], link["reason"]) == (2 / 3, 0.0, "a reason")
    assert data["calibration"][0] == {"num_pairs": 30, "mean_chance": 0.2, "share": 0.1}


def test_data_holds_every_distance_and_member(small_report, small_page):
    data = data_in(small_page)
    assert data["nodes"]["ids"] == list(range(25))
    assert data["nodes"]["label"] == small_report.graph.y.tolist()
    assert len(data["sets"]) == data["num_sets"] == len(small_report.positions.sets)
    for index, one in enumerate(data["sets"]):
        column = small_report.positions.values[:, index].tolist()
        assert one["values"] == [None if hop < 0 else hop for hop in column]
        assert one["members"] == small_report.positions.sets[index].tolist()


def test_table_shows_three_digits_and_bold_for_the_best(small_page):
    page = without_scripts(small_page)
    assert cells(page, "results") == [
        ["score", "ROC AUC", "average precision", "paper’s ROC AUC"],  # noqa: RUF001
        ["P-GNN (this run)", "0.912", "0.333", "0.985 ± 0.008"],
        ["without learning"],
        ["ppr", "0.900", "0.250", "–"],  # noqa: RUF001
    ]
    best = re.findall(r'class="number best" data-value="([^"]+)"', page)
    assert [float(value) for value in best] == [0.9123456789, 1 / 3]


def test_paper_column_is_there_only_if_a_row_has_it(small_report):
    rows = [Row("gcn", {"roc_auc": 0.5, "new_metric": float("nan")})]
    page = without_scripts(render_run(replace(small_report, rows=rows)))
    assert cells(page, "results") == [
        ["score", "ROC AUC", "new metric"],
        ["gcn", "0.500", "–"],  # noqa: RUF001
    ]


def test_picker_offers_every_set_with_its_size(small_report, small_page):
    picker = re.search(r'<select id="anchor-set">.*?</select>', small_page, re.S).group()
    options = re.findall(r'<option value="(\d*)">(.*?)</option>', picker)
    sizes = small_report.positions.sets.sizes.tolist()
    plural = ["" if size == 1 else "s" for size in sizes]
    expected = [
        (str(i), f"set {i + 1}: {size} node{end}")
        for i, (size, end) in enumerate(zip(sizes, plural, strict=True))
    ]
    assert options == [("", "label"), *expected]


def test_hostile_text_is_shown_not_run(small_report):
    rates = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    page = render_run(
        replace(
            small_report,
            title=HOSTILE[0],
            verdict=HOSTILE[1],
            links_title=HOSTILE[1],
            facts=[(text, text) for text in HOSTILE],
            rows=[Row(text, {"roc_auc": 0.5}) for text in HOSTILE],
            notes=HOSTILE,
            roc=dict.fromkeys(HOSTILE, rates),
        )
    )
    data = data_in(page)  # the element that holds it ends where it should
    assert [row["name"] for row in data["rows"]] == list(data["roc"]) == HOSTILE
    bare = without_scripts(page)
    assert "window.ran" not in "".join(re.findall(r"<[^>]*>", bare))  # no tag and no attribute
    text = html_module.unescape(re.sub("<[^>]*>", "", bare))
    assert all(text.count(hostile) >= 4 for hostile in HOSTILE)


def test_hostile_ids_come_back_from_the_data_as_they_were():
    ids = HOSTILE + [f"n{i}" for i in range(25 - len(HOSTILE))]
    pairs = [list(pair) for pair in itertools.pairwise(ids)]
    graph = caveman(ids=ids)
    links = [link_of(graph, u, u + 1, reason=ids[u]) for u in range(len(ids) - 1)]
    page = render_run(report_of(graph, links=links, num_listed=99))
    data = data_in(page)
    assert data["nodes"]["ids"] == ids
    assert [[link["source"], link["target"]] for link in data["links"]] == pairs
    shown = cells(without_scripts(page), "links")[1:]
    assert [row[1:3] for row in shown] == pairs
    assert [row[-1] for row in shown] == ids[:-1]
    told = data["links"][0]["between"]
    assert [name for name, _ in told["paths"][0]][::2] == pairs[0]


def test_large_integer_ids_keep_their_digits():
    ids = np.array([2**60 + 1, 7, -3])
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)], node_ids=ids)
    assert data_in(render_run(report_of(graph)))["nodes"]["ids"] == [str(2**60 + 1), 7, -3]


def test_page_is_the_same_for_the_same_seed(small_report, small_page):
    assert render_run(small_report) == small_page


def test_page_asks_no_host_for_anything(small_page):
    page = small_page
    markup = without_scripts(page)
    assert not re.search(r"\b(src|href|action|poster)\s*=", markup)
    assert "default-src 'none'" in page
    style = re.search(r"<style>.*?</style>", page, re.S).group()
    assert "url(" not in style
    assert "@import" not in style


def test_graph_without_labels_is_coloured_by_degree():
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)])
    page = render_run(report_of(graph))
    assert data_in(page)["nodes"]["label"] is None
    assert '<option value="">number of neighbours</option>' in page


def test_labels_have_the_names_of_their_classes():
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)], y=["b", "<i>a</i>", "b"])
    nodes = data_in(render_run(report_of(graph)))["nodes"]
    assert [nodes["classes"][code] for code in nodes["label"]] == ["b", "<i>a</i>", "b"]


def test_weighted_lengths_are_drawn_and_infinity_is_no_number():
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (3, 4)], weights=[0.25, 1.5, 1e-3])
    report = report_of(graph, sets=pgnn.AnchorSets.from_sets([[0], [3, 4]], 5))
    data = data_in(render_run(report))
    assert data["measure"]["kind"] == "lengths"
    assert data["sets"][0]["values"] == [0.0, 0.25, 1.75, None, None]
    assert data["sets"][1]["values"] == [None, None, None, 0.0, 0.0]


def test_shares_of_a_walk_below_a_millionth_are_not_reached():
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)])
    values = np.array([[1.0], [0.123456789], [9e-7]])
    sets = pgnn.AnchorSets.from_sets([[0]], 3)
    data = data_in(render_run(report_of(graph, positions=Positions(sets, values, "pagerank"))))
    assert data["sets"][0]["values"] == [1.0, 0.123, None]
    assert data["measure"]["kind"] == "pagerank"


def test_words_follow_what_was_measured():
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2)])
    hops = hops_of(graph, pgnn.AnchorSets.from_sets([[0]], 3))
    words = {
        "hops": hops.words,
        "cut": replace(hops, cutoff=2).words,
        "lengths": replace(hops, kind="lengths").words,
        "pagerank": replace(hops, kind="pagerank").words,
    }
    assert words["hops"]["colour"] == words["cut"]["colour"] == "its number of hops to"
    assert words["hops"]["unreached"] == "Grey nodes have no path to the set."
    assert "farther away than 2 hops" in words["cut"]["unreached"]
    assert "length of its shortest path" in words["lengths"]["colour"]
    assert "edge of mean weight" in words["lengths"]["unit"]
    assert "random walk" in words["pagerank"]["colour"]
    assert not any("hop" in text for text in words["pagerank"].values())


@pytest.mark.parametrize("num_nodes", [1, 2, 3])
def test_tiny_graphs_have_a_page(num_nodes):
    graph = pgnn.Graph.from_edges(np.empty((0, 2), dtype=int), num_nodes)
    data = data_in(render_run(report_of(graph)))
    assert data["graph"]["num_drawn"] == num_nodes
    assert data["map"]["method"] == "PCA"
    assert all(np.isfinite(data[part][axis]).all() for part in ("map", "graph") for axis in "xy")


def test_parts_without_data_say_so(small_report):
    page = without_scripts(render_run(replace(small_report, links=[], history=[], roc={}, rows=[])))
    for text in ("There are none", "no training history", "no curves", "no results"):
        assert text in page
    assert "<table" not in page


def test_numbers_that_json_has_no_place_for_are_left_out(small_report):
    history = [{"epoch": 1, "loss": float("nan"), "val_auc": float("inf")}]
    data = data_in(render_run(replace(small_report, history=history)))
    assert data["history"] == [{"epoch": 1.0, "loss": None, "val_auc": None}]


def test_spread_is_shown_only_if_a_link_has_one(small_report, small_page):
    assert "spread" in without_scripts(small_page)
    report = replace(small_report, links=[Link(0, 1, 0.1)], links_text="")
    assert "spread" not in without_scripts(render_run(report))


def test_large_graph_is_sampled_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(run_module, "_MAP_NODES", 40)
    nodes = np.arange(50_000)
    graph = pgnn.Graph.from_edges(np.stack([nodes[:-1], nodes[1:]], axis=1))
    report = report_of(graph, sets=pgnn.AnchorSets.from_sets([[0], [1, 49_999]], 50_000))
    page = render_run(report, max_nodes=60)
    data = data_in(page)
    assert "60 of 50,000 nodes are drawn" in page
    assert "40 of 50,000 nodes are shown" in page
    assert len(data["graph"]["x"]) == len(data["nodes"]["ids"]) == 60
    assert len(data["map"]["x"]) == 40
    # A node of a path is as far from the first node as its id says: hops of the whole graph.
    assert data["sets"][0]["values"] == data["nodes"]["ids"]


def test_ends_paths_and_small_anchor_sets_are_drawn_whatever_else_is():
    nodes = np.arange(20_000)
    graph = pgnn.Graph.from_edges(np.stack([nodes[:-1], nodes[1:]], axis=1))
    members = [[7], [15_000, 15_500], nodes[::3].tolist()]
    report = report_of(
        graph,
        sets=pgnn.AnchorSets.from_sets(members, 20_000),
        links=[link_of(graph, 12_000, 12_003)],
    )
    data = data_in(render_run(report, max_nodes=80))
    drawn = data["nodes"]["ids"]
    assert {7, 15_000, 15_500, 12_000, 12_001, 12_002, 12_003} <= set(drawn)
    # Only sets that are drawn whole can be picked.
    assert [one["number"] for one in data["sets"]] == [1, 2]
    for one in data["sets"]:
        assert [drawn[place] for place in one["members"]] == members[one["number"] - 1]


def test_held_out_edges_are_drawn_as_such(small_report):
    hidden = np.array([[0, 9], [3, 20]])
    page = render_run(replace(small_report, held_out=hidden))
    graph = data_in(page)["graph"]
    assert graph["held_out"] == hidden.tolist()
    assert not {(0, 9), (3, 20)} & {tuple(edge) for edge in graph["edges"]}
    assert "held-out edges (2)" in page
    assert "held-out edges" not in render_run(small_report)


def test_page_opens_with_verdict_and_answer_then_quality_graph_and_positions(small_page):
    page = without_scripts(small_page)
    order = ['class="verdict"', 'id="links"', 'id="results"', 'id="graph"', 'id="positions"']
    places = [page.index(text) for text in order]
    assert places == sorted(places)


def test_every_metric_is_explained_in_words(small_report):
    names = ["roc_auc", "average_precision", "hits@10", "hits@50", "mrr"]
    rows = [Row("model", dict.fromkeys(names, 0.5))]
    page = without_scripts(render_run(replace(small_report, rows=rows)))
    meanings = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.split('id="facts"')[0])
    titles = [title for title, _ in meanings]
    assert titles == ["ROC AUC", "average precision", "hits@10, hits@50", "MRR"]
    assert all(len(text) > 40 for _, text in meanings)
    assert "The calibration error is 0.1." in page


def test_links_beyond_those_listed_are_there_to_be_searched(small_report):
    links = [Link(0, node, 0.5) for node in range(1, 9)]
    page = without_scripts(render_run(replace(small_report, links=links, num_listed=3)))
    rows = re.findall(r'<tr tabindex="0"( hidden)?>', page)
    assert [bool(hidden) for hidden in rows] == [False] * 3 + [True] * 5
    assert "Show all 8" in page


def test_pages_stay_small_enough_to_send():
    rng = np.random.default_rng(0)
    graph = pgnn.Graph.from_edges(rng.integers(0, 4600, (46_000, 2)), 4600)
    sets = pgnn.sample_anchor_sets(4600, rng=0)
    values = rng.random((4600, len(sets))) ** 8
    positions = Positions(sets, values, "pagerank")
    report = report_of(graph, positions=positions, embedding=values[:, :2], sets=sets)
    assert len(render_run(report).encode()) < 3e6


def test_many_edges_are_thinned_and_the_page_says_so(monkeypatch, small_report):
    monkeypatch.setattr(run_module, "_MAX_EDGES", 20)
    page = render_run(small_report)
    total = small_report.graph.num_edges
    assert f"20 of the {total} edges between them are drawn" in page
    assert len(data_in(page)["graph"]["edges"]) == 20


def test_many_sets_are_thinned_and_the_page_says_so(monkeypatch, small_report):
    monkeypatch.setattr(run_module, "_MAX_SETS", 5)
    page = render_run(replace(small_report, num_sets=400))
    numbers = [one["number"] for one in data_in(page)["sets"]]
    assert numbers[0] == 1
    assert numbers[-1] == len(small_report.positions.sets)
    assert len(numbers) == 5
    assert "5 of 400 sets can be picked" in page


def test_long_roc_curves_are_thinned_but_keep_their_ends(small_report):
    rates = np.linspace(0, 1, 20_001)
    report = replace(small_report, roc={"model": (rates, np.sqrt(rates))})
    curve = data_in(render_run(report))["roc"]["model"]
    assert len(curve["fpr"]) == len(curve["tpr"]) <= 501
    assert (curve["fpr"][0], curve["fpr"][-1]) == (0, 1)
    np.testing.assert_allclose(np.sqrt(curve["fpr"]), curve["tpr"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embedding": np.zeros((24, 3))}, "one row for each of 25 nodes"),
        ({"embedding": np.full((25, 3), np.nan)}, "embedding must be finite"),
        (
            {"positions": Positions(pgnn.AnchorSets.from_sets([[0]], 3), np.zeros((3, 1)))},
            "belong to a graph of 3 nodes",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(small_report, changes, message):
    with pytest.raises(PGNNError, match=message):
        replace(small_report, **changes)


def test_positions_have_one_number_per_node_and_set():
    sets = pgnn.AnchorSets.from_sets([[0], [1]], 3)
    with pytest.raises(PGNNError, match=r"positions must be of shape \[3, 2\]"):
        Positions(sets, np.zeros((3, 3)))


def test_max_nodes_must_be_positive(small_report):
    with pytest.raises(PGNNError, match=r"max_nodes must be a positive integer \(got 0\)"):
        render_run(small_report, max_nodes=0)
