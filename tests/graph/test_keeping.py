"""Values are computed once per graph and name, and go when the graph goes."""

import gc
from functools import partial

import pytest

from pgnn import Graph
from pgnn.graph import keeping
from pgnn.graph.keeping import keep


@pytest.fixture
def path():
    return Graph.from_edges([(0, 1), (1, 2)])


def test_value_is_made_once_per_graph_and_name(path):
    other, calls = Graph.from_edges([(0, 1), (1, 2)]), []

    def note(name):
        calls.append(name)
        return name

    for graph in (path, path, other):
        for name in ("a", "b"):
            assert keep(graph, name, partial(note, name)) == name
    assert calls == ["a", "b", "a", "b"]


def test_value_goes_with_its_graph():
    graph = Graph.from_edges([(0, 1)])
    keep(graph, "a", lambda: 1)
    key = id(graph)
    assert key in keeping._kept
    del graph
    gc.collect()
    assert key not in keeping._kept


def test_nothing_is_kept_of_a_huge_graph(path, monkeypatch):
    monkeypatch.setattr(keeping, "MAX_NODES", 2)
    assert [keep(path, "a", lambda value=value: value) for value in (1, 2)] == [1, 2]
    assert id(path) not in keeping._kept


def test_value_that_could_not_be_made_is_made_again(path):
    with pytest.raises(ZeroDivisionError):
        keep(path, "a", lambda: 1 / 0)
    assert keep(path, "a", lambda: 1) == 1


def test_value_of_another_dependence_replaces_the_first(path):
    made = [keep(path, "a", lambda key=key: key, besides=key) for key in (1, 1, 2)]
    assert made == [1, 1, 2]
    assert keep(path, "a", lambda: "again", besides=2) == 2
    assert keep(path, "a", lambda: "again", besides=1) == "again"
