"""Learn from the past, be judged by the future; no future edge is visible to anything."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.io import Events, read_events
from pgnn.training.outcome import Outcome
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe
from pgnn.training.splits import split_by_time

CUT = 10


def ring(size=12):
    """A ring of edges at the times 0, 1, ..., all before `CUT`."""
    return [(v, (v + 1) % size, v % CUT) for v in range(size)]


def events_of(rows, **options):
    return Events.of(*zip(*rows, strict=True), **options)


def named(graph, pairs):
    return {frozenset(graph.node_ids[pair].tolist()) for pair in pairs}


def same(first, second):
    return np.array_equal(first.pairs, second.pairs) and np.array_equal(first.labels, second.labels)


def slow_future(rows, cut):
    """The slow and obvious twin: what the future links, event by event."""
    past = {frozenset(row[:2]) for row in rows if row[2] < cut and row[0] != row[1]}
    nodes = {node for pair in past for node in pair}
    new, repeated, unknown_nodes, unknown_links = set(), 0, set(), set()
    for u, v, time in rows:
        if time < cut or u == v:
            continue
        if u not in nodes or v not in nodes:
            unknown_nodes |= {u, v} - nodes
            unknown_links.add(frozenset((u, v)))
        elif frozenset((u, v)) in past:
            repeated += 1
        else:
            new.add(frozenset((u, v)))
    return past, new, repeated, unknown_nodes, unknown_links


nodes = st.integers(0, 15)
future_rows = st.lists(st.tuples(nodes, nodes, st.integers(CUT, 14)), max_size=12)


@given(future_rows, st.lists(st.tuples(nodes, nodes, st.integers(0, CUT - 1)), max_size=3))
def test_the_future_is_what_the_slow_twin_finds(future, more):
    rows = [*ring(), *more, *future]
    past, new, repeated, unknown_nodes, unknown_links = slow_future(rows, CUT)
    assume(new)
    parts = split_by_time(events_of(rows), rng=0, test_from=CUT)
    test, facts = parts.split.test, parts.facts
    assert named(parts.graph, parts.graph.edges()) == past
    assert named(parts.graph, test.positives) == new
    assert len(test.positives) == len(test.negatives) == len(new) == facts.new_links
    never = named(parts.graph, test.negatives)
    assert len(never) == len(new)
    assert not never & (past | new)
    assert {node for pair in never for node in pair} <= {node for pair in past for node in pair}
    assert (facts.repeated_events, facts.unknown_nodes, facts.unknown_links) == (
        repeated,
        len(unknown_nodes),
        len(unknown_links),
    )


@given(future_rows, future_rows, st.sampled_from([0.0, 0.2]), st.booleans())
def test_planted_future_events_change_nothing_that_is_learnt_from(future, planted, val, directed):
    rows = [*ring(), *future]
    assume(slow_future(rows, CUT)[1])
    before, after = (
        split_by_time(events_of(each, directed=directed), rng=3, test_from=CUT, val=val)
        for each in (rows, [*planted, *rows])
    )
    assert before.graph == after.graph
    assert before.split.graph == after.split.graph
    assert same(before.split.train, after.split.train)
    assert same(before.split.val, after.split.val)


def test_validation_links_are_the_last_of_the_past_and_hidden():
    rows = [(v, (v + 1) % 20, v) for v in range(20)]
    rows += [(v, (v + 2) % 20, 20 + v) for v in range(5)] + [(0, 7, 30), (1, 9, 31)]
    parts = split_by_time(events_of(rows), rng=0, test_from=30, val=0.2)
    assert named(parts.graph, parts.split.val.positives) == {
        frozenset(row[:2]) for row in rows[20:25]
    }
    hidden = named(parts.graph, parts.graph.edges()) - named(
        parts.split.graph, parts.split.graph.edges()
    )
    assert hidden == named(parts.graph, parts.split.val.positives)


def test_validation_leaves_no_node_without_edges():
    rows = [*ring(), *((v, v + 20, 9) for v in range(8)), (0, 5, 9), (1, 6, 9), (0, 7, 10)]
    for seed in range(10):
        parts = split_by_time(events_of(rows), rng=seed, test_from=10, val=0.4)
        assert len(parts.split.val.positives)
        assert (parts.split.graph.degrees > 0).all()


@pytest.mark.parametrize(("share", "cut"), [(0.1, "2036"), (0.25, "2030"), (0.5, "2020")])
def test_by_default_the_last_share_of_new_links_is_judged_by(share, cut):
    rows = [(v, (v + 1) % 20, 2000) for v in range(20)]
    rows += [(v, (v + 3) % 20, 2020 + v) for v in range(20)]
    rows += [(0, 1, 2040), (2, 1, 2041)]  # no new links
    facts = split_by_time(events_of(rows), rng=0, test=share).facts
    assert facts.test_from == cut
    assert facts.new_links == round(40 * share)


def test_equal_times_stay_together():
    rows = [(v, (v + 1) % 20, "2024-01-01") for v in range(19)] + [(19, 0, "2024-01-02")]
    parts = split_by_time(events_of(rows), rng=0)
    assert parts.facts.test_from == "2024-01-02"
    with pytest.raises(PGNNError, match="all links are first seen at the same time"):
        split_by_time(events_of(rows[:-1]), rng=0)


def test_without_a_share_all_events_are_seen():
    parts = split_by_time(events_of(ring()), rng=0, test=0.0)
    assert (parts.facts.test_from, len(parts.split.test)) == (None, 0)
    assert parts.split.graph.num_edges == 12


def test_a_cut_without_past_or_future_is_refused():
    with pytest.raises(PGNNError, match=r"no events before test_from \(-5\)"):
        split_by_time(events_of(ring()), rng=0, test_from=-5)
    with pytest.raises(PGNNError, match=r"known before test_from \(99\) are first linked"):
        split_by_time(events_of(ring()), rng=0, test_from=99)
    with pytest.raises(PGNNError, match="test_from must be a finite number"):
        split_by_time(events_of(ring()), rng=0, test_from=float("nan"))


def test_nodes_of_the_table_without_a_past_are_not_asked_about(tmp_path):
    rows = "".join(f"{u},{v},{t}\n" for u, v, t in [*ring(), (0, 5, 10), (1, 20, 10)])
    (tmp_path / "e.csv").write_text("a,b,t\n" + rows)
    (tmp_path / "n.csv").write_text("id,f\n" + "".join(f"{v},1\n" for v in range(40)))
    events = read_events(tmp_path / "e.csv", "t", features=tmp_path / "n.csv", repeats="sum")
    for seed in range(20):
        parts = split_by_time(events, rng=seed, test_from=10)
        assert parts.graph.num_nodes == 40
        assert parts.graph.node_ids[parts.split.test.pairs].max() < 12
    assert (parts.facts.unknown_nodes, parts.facts.unknown_links) == (1, 1)


def community_rows(groups=3, size=8, seed=0):
    chance = np.random.default_rng(seed)
    rows = [(group * size, (group + 1) % groups * size, 0) for group in range(groups)]
    for group in range(groups):
        members = range(group * size, (group + 1) * size)
        pairs = [(u, v) for u in members for v in members if u < v and chance.random() < 0.7]
        rows += [(u, v, int(chance.integers(100))) for u, v in pairs]
    return rows


@pytest.mark.parametrize("model", ["pgnn-best", "pgnn-e-1l"])
def test_planted_future_events_change_no_number_of_a_trained_model(model):
    rows = community_rows()
    planted = [(0, 9, 95), (1, 10, 96), (99, 0, 97), (0, 1, 98), (98, 99, 99)]
    recipe = Recipe(model=model, epochs=2, num_sets=6, weights="strength")
    scores = []
    for each in (rows, [*planted, *rows]):
        problem = Problem.of_events(events_of(each), recipe, test_from=80)
        trained = train(problem, recipe, heuristics=False)
        seen = problem.splits[0].graph
        pairs = [(u, v) for u in range(seen.num_nodes) for v in range(u)]
        scores.append((trained.outcome.val_auc, trained.learner.scorer(seen)(pairs)))
    assert scores[0][0] == scores[1][0]
    assert np.array_equal(scores[0][1], scores[1][1])


def test_the_outcome_keeps_how_time_was_split():
    recipe = Recipe(epochs=1, num_sets=4, weights="strength")
    problem = Problem.of_events(events_of(community_rows()), recipe, test_from=80)
    outcome = train(problem, recipe, heuristics=False).outcome
    assert outcome.time == problem.time
    document = outcome.to_json()
    assert document["time"] == asdict(problem.time)
    assert Outcome.from_json(document).time == problem.time
    document["time"] = {**document["time"], "new_links": "many"}
    with pytest.raises(PGNNError, match="its events are no counts"):
        Outcome.from_json(document)


def test_time_is_of_task_link():
    with pytest.raises(PGNNError, match="time is for task 'link'"):
        Problem.of_events(events_of(ring()), Recipe(task="pair"), test_from=5)
