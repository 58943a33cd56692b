"""One run of the benchmark of links: hide a tenth of a graph's edges, ask who finds them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.evaluation.calibration import brier_score, calibration_error
from pgnn.evaluation.heuristics import HEURISTICS, all_heuristics, heuristic_scores
from pgnn.evaluation.metrics import roc_auc
from pgnn.experiments import node2vec
from pgnn.graph import Graph
from pgnn.io import read_graph
from pgnn.names import LINK_PROTOCOLS, NODE2VEC, LinkProtocol
from pgnn.pairs.codes import is_among, low_high, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_non_edges
from pgnn.pairs.sets import PairSet
from pgnn.prediction.candidates import Candidates, candidate_pairs, top_pairs
from pgnn.prediction.ranking import predict
from pgnn.training.outcome import versions
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

TOP = 100  # likeliest missing links that are looked at
_HIDDEN = 10  # one edge of so many is hidden
_CANDIDATES = 300_000  # pairs that the likeliest are chosen from, as `predict` does
_FIRST_SEED = 1000  # of what is hidden: another stream than those of training
_FEWEST_EDGES = 10


@dataclass(frozen=True)
class LinkGraph:
    """A graph of the benchmark: a column of its tables.

    Attributes:
        name: What the column is called.
        path: The file.
    """

    name: str
    path: Path

    def read(self) -> Graph:
        """Read the graph as undirected, without weights: the benchmark is about structure alone.

        Raises:
            PGNNError: If the file cannot be read, or has too few edges to hide some.
        """
        graph = read_graph(self.path)
        if graph.num_edges < _FEWEST_EDGES:
            raise PGNNError(
                f"{self.path}: the graph has {graph.num_edges} edges, too few to hide some of "
                f"them; at least {_FEWEST_EDGES} are needed"
            )
        return Graph.from_edges(graph.edges(), graph.num_nodes)


@dataclass(frozen=True)
class LinkJob:
    """Rows of one column, protocol and seed that are run together.

    Attributes:
        graph: The column.
        protocol: Which pairs are asked about; see `hide_links`.
        seed: Decides what is hidden, and all that is random in training.
        rows: Names of models, of heuristics, or "node2vec".
        folder: The folder of graphs that the user named; None for the benchmark's own.
    """

    graph: LinkGraph
    protocol: LinkProtocol
    seed: int
    rows: tuple[str, ...]
    folder: str | None = None


@dataclass(frozen=True)
class LinkRecord:
    """What one row came to, in one run. A line of the store.

    Attributes:
        column: Name of the graph.
        model: Name of the row: a model, a heuristic, or "node2vec".
        protocol: Which pairs were asked about.
        seed: The seed.
        test_auc: ROC AUC of the test pairs.
        calibration_error: How far chances are from shares, on average; None without chances.
        brier: Mean squared difference of chance and truth; None without chances.
        top_hits: How many of the 100 likeliest missing links are hidden edges; None where it was
            not asked.
        test_pairs: How many pairs were asked about, half of them hidden edges.
        nodes: Nodes of the visible graph.
        edges: Edges of the visible graph.
        seconds: To learn from the visible graph and to score the test pairs.
        processor_seconds: The same in time of the processor, which a busy machine does not change.
        settings: The recipe as it was used; None where nothing of this library was trained.
        command: The command that does this run again.
        versions: Of the libraries that results depend on.
    """

    column: str
    model: str
    protocol: str
    seed: int
    test_auc: float
    calibration_error: float | None
    brier: float | None
    top_hits: int | None
    test_pairs: int
    nodes: int
    edges: int
    seconds: float
    processor_seconds: float
    settings: dict[str, Any] | None
    command: str
    versions: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of the store holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> LinkRecord:
        """Read what `to_json` gave.

        Raises:
            PGNNError: If something is missing.
        """
        names = [field.name for field in fields(cls)]
        missing = [name for name in names if name not in document]
        if missing:
            raise PGNNError(
                f"a stored run has no {missing[0]!r}, so it is none of the benchmark of links; "
                "move the file away"
            )
        return cls(**{name: document[name] for name in names})


# ---------------------------------------------------------------------- what is hidden


def hide_links(graph: Graph, protocol: LinkProtocol, *, seed: int) -> tuple[Graph, PairSet]:
    """Hide a tenth of the edges; return what is left, and pairs to ask about.

    For one seed both protocols hide the same edges. There are as many negatives as hidden edges,
    drawn uniformly, each once, from the pairs that no edge joins, hidden or not.

    - "published": as the literature has it. All nodes stay, and all hidden edges are asked about:
      also those of nodes that are left without an edge. Such a node is almost always the end of
      a hidden edge, so that a model that reads degrees is flattered.
    - "honest": only nodes that still have an edge, as a file of the visible edges would name
      them. Hidden edges of other nodes are not asked about, nor are negatives with them.

    Args:
        graph: The whole graph, undirected and without weights.
        protocol: Which pairs are asked about.
        seed: Decides what is hidden.

    Raises:
        PGNNError: If no hidden edge is left to ask about, or there are not enough non-edges.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 20) for v in range(20)])
        >>> hide_links(ring, "published", seed=0)
        (Graph(num_nodes=20, num_edges=18), PairSet(positives=2, negatives=2))
    """
    checks.one_of("protocol", protocol, LINK_PROTOCOLS)
    edges = low_high(graph.edges())
    generator = np.random.default_rng(_FIRST_SEED + seed)
    is_hidden = np.zeros(len(edges), dtype=bool)
    is_hidden[generator.permutation(len(edges))[: max(1, len(edges) // _HIDDEN)]] = True
    num_nodes = graph.num_nodes
    if protocol == "honest":
        named = np.unique(edges[~is_hidden])
        place = np.full(num_nodes, -1)
        place[named] = np.arange(len(named))
        num_nodes = len(named)
        edges = place[edges]
        kept = (edges >= 0).all(axis=1)
        edges, is_hidden = edges[kept], is_hidden[kept]
    positives = edges[is_hidden]
    if not len(positives):
        raise PGNNError(
            "every hidden edge is the only one of a node, so protocol 'honest' has nothing to ask "
            "about; use a graph with more edges, or another seed"
        )
    joined = sorted_distinct(unordered_codes(edges))
    negatives = draw_non_edges(generator, joined, num_nodes, len(positives))
    return Graph.from_edges(edges[~is_hidden], num_nodes), PairSet.join(positives, negatives)


# ---------------------------------------------------------------------- who finds it


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of every row of a job."""

    graph: Graph
    test: PairSet
    seed: int
    with_top: bool

    @cached_property
    def candidates(self) -> Candidates:
        """Pairs that may be missing links, in random order: of equal scores none is preferred."""
        listed = candidate_pairs(self.graph, limit=_CANDIDATES)
        order = np.random.default_rng(self.seed).permutation(len(listed.pairs))
        return Candidates(listed.pairs[order], listed.exact, listed.how)

    @cached_property
    def scored_candidates(self) -> dict[str, NDArray[np.float64]]:
        """Scores of the candidates by heuristics, all at once: one costs little less."""
        return all_heuristics(self.graph, self.candidates.pairs)

    def top(
        self, score: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    ) -> NDArray[np.int64] | None:
        """Return the likeliest missing links by a score, if they are asked for."""
        return top_pairs(self.candidates, score, TOP)[0] if self.with_top else None


class _Watch:
    """Measures the time from its making to `stop`, on the wall and of the processor."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()
        self.seconds = self.processor_seconds = 0.0

    def stop(self) -> None:
        """Take the time."""
        self.seconds = round(time.perf_counter() - self._start[0], 3)
        self.processor_seconds = round(time.process_time() - self._start[1], 3)


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a row says: scores of the test pairs, whether they are chances, the likeliest links."""

    scores: NDArray[np.float64]
    are_chances: bool
    top: NDArray[np.int64] | None
    watch: _Watch
    settings: dict[str, Any] | None = None


def run_link_job(job: LinkJob) -> list[LinkRecord]:
    """Run one job in this process: one record for each of its rows.

    Raises:
        PGNNError: If the graph cannot be read or split, or a row cannot be run.
    """
    graph = job.graph.read()
    try:
        visible, test = hide_links(graph, job.protocol, seed=job.seed)
    except PGNNError as error:
        raise PGNNError(f"{job.graph.path}: ", *error.args) from error
    question = _Question(visible, test, job.seed, with_top=job.protocol == "honest")
    return [_record(job, row, question, _answer(row, question)) for row in job.rows]


def _answer(row: str, question: _Question) -> _Answer:
    if row == NODE2VEC:
        return _ask_node2vec(question)
    return _ask_heuristic(row, question) if row in HEURISTICS else _ask_model(row, question)


def _ask_model(model: str, question: _Question) -> _Answer:
    """Train by the one pipeline on the visible graph alone, as `pgnn train FILE --test 0` does."""
    recipe = Recipe(model=model, test=0.0, seed=question.seed)
    watch = _Watch()
    problem = Problem.of_graph(question.graph, recipe)
    trained = train(problem, recipe, heuristics=False)
    chances = trained.learner.scorer(question.graph)(question.test.pairs)
    watch.stop()
    top = predict(trained.learner, question.graph, top=TOP).pairs if question.with_top else None
    return _Answer(chances, True, top, watch, asdict(trained.outcome.recipe))


def _ask_node2vec(question: _Question) -> _Answer:
    watch = _Watch()
    peer = node2vec.Node2vec.fit(question.graph, seed=question.seed)
    chances = peer(question.test.pairs)
    watch.stop()
    return _Answer(chances, True, question.top(peer.logits), watch)


def _ask_heuristic(name: str, question: _Question) -> _Answer:
    watch = _Watch()
    scores = heuristic_scores(question.graph, question.test.pairs, name)
    watch.stop()
    top = None
    if question.with_top:
        listed = question.candidates
        values = question.scored_candidates.get(name)
        if values is None:  # left out where it takes long
            values = heuristic_scores(question.graph, listed.pairs, name)
        top, _ = top_pairs(listed, lambda _: values, TOP, chunk=max(1, len(listed.pairs)))
    return _Answer(scores, False, top, watch)


def _record(job: LinkJob, row: str, question: _Question, answer: _Answer) -> LinkRecord:
    labels = question.test.labels
    chances = answer.scores if answer.are_chances else None
    return LinkRecord(
        column=job.graph.name,
        model=row,
        protocol=job.protocol,
        seed=job.seed,
        test_auc=roc_auc(labels, answer.scores),
        calibration_error=None if chances is None else calibration_error(labels, chances),
        brier=None if chances is None else brier_score(labels, chances),
        top_hits=None if answer.top is None else _hits(answer.top, question.test),
        test_pairs=len(labels),
        nodes=question.graph.num_nodes,
        edges=question.graph.num_edges,
        seconds=answer.watch.seconds,
        processor_seconds=answer.watch.processor_seconds,
        settings=answer.settings,
        command=_command(job, row),
        versions=versions() | (node2vec.versions() if row == NODE2VEC else {}),
    )


def _hits(pairs: NDArray[np.int64], test: PairSet) -> int:
    hidden = sorted_distinct(unordered_codes(test.positives))
    return int(np.count_nonzero(is_among(unordered_codes(pairs), hidden)))


def _command(job: LinkJob, row: str) -> str:
    """Return the command that does this run again, and those of the seeds before it."""
    model = f'"{row}"' if " " in row else row
    folder = "" if job.folder is None else f" --graphs {job.folder}"
    return (
        f"pgnn reproduce {job.graph.name}{folder} --protocol {job.protocol} --model {model} "
        f"--runs {job.seed + 1}"
    )
