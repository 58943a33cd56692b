"""The one training pipeline: data set or file, estimator or command, all go through `train`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.distributed.group import writes_files
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.judging import (
    MODEL,
    Judgement,
    ModelJudgement,
    Verdict,
    judge_model,
    judge_more,
    score_heuristics,
    share_of_links,
)
from pgnn.graph import Graph
from pgnn.io.events import Events
from pgnn.io.write import locked_folder, make_folder
from pgnn.names import BEST
from pgnn.pairs.sets import Split
from pgnn.threads import step
from pgnn.training.fit import Fit, Progress
from pgnn.training.learners import AnyLearner, make_any_learner
from pgnn.training.outcome import Experiment, GraphFacts, Outcome, versions
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, claim_folder, release_folder, save_run
from pgnn.training.seeds import Purpose, generator_of
from pgnn.training.splits import (
    MOST_HELD_OUT,
    TimeFacts,
    split_by_time,
    split_links,
    split_pairs,
)


@checked
@dataclass(frozen=True, eq=False)
class Problem:
    """What to train on.

    Attributes:
        graphs: The whole graphs.
        splits: What may be seen of each, and pairs to learn from, choose by and judge by.
        standardise: Whether features still have to be standardised.
        experiment: The cell of the paper's tables, for a data set of the paper.
        command: The command that does this again, for a data set of the paper.
        time: How events were split by time; None without times.
    """

    graphs: Sequence[Graph]
    splits: Sequence[Split]
    standardise: bool = True
    experiment: Experiment | None = None
    command: str | None = None
    time: TimeFacts | None = None

    @classmethod
    @checked
    def of_graph(cls, graph: Graph, recipe: Recipe) -> Problem:
        """Split one graph as the recipe says; the same graph is split the same way each time."""
        with step("splitting edges"):
            return cls([graph], [split_graph(graph, recipe)])

    @classmethod
    @checked
    def of_events(cls, events: Events, recipe: Recipe, *, test_from: float | None) -> Problem:
        """Split events by time: learn from the past, be judged by what is linked later.

        Args:
            events: The events.
            recipe: The settings.
            test_from: The first moment of the future; None: as the recipe's share `test` says.
        """
        if recipe.task != "link":
            raise PGNNError(Parameter("time"), " is for task 'link'; leave it out")
        parts = split_by_time(
            events,
            rng=generator_of(recipe.seed, Purpose.SPLIT),
            test_from=test_from,
            val=recipe.resolved(num_nodes=1).val or 0.0,
            test=recipe.test,
            negatives=recipe.negatives,
        )
        return cls([parts.graph], [parts.split], time=parts.facts)


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained learner, the course of its training, and what it came to."""

    learner: AnyLearner
    fit: Fit
    outcome: Outcome


@checked
def split_graph(graph: Graph, recipe: Recipe) -> Split:
    """Split a graph into what training sees, and pairs to learn from, choose by and judge by."""
    rng = generator_of(recipe.seed, Purpose.SPLIT)
    val = recipe.resolved(graph.num_nodes).val or 0.0  # pgnn-best holds out nothing to choose by
    if recipe.task == "pair":
        return split_pairs(graph, rng=rng, val=val, test=recipe.test)
    is_large = max(val, recipe.test) * graph.num_edges > MOST_HELD_OUT
    return split_links(
        graph,
        rng=rng,
        val=val,
        test=recipe.test,
        negatives=recipe.negatives,
        ordered=recipe.model == BEST,
        most=MOST_HELD_OUT,
        # pgnn-best draws its own. Of smaller graphs they are drawn and not read, so that test pairs
        # are the same for all models.
        train_negatives=recipe.model != BEST or not is_large,
    )


@checked
def train(
    problem: Problem,
    recipe: Recipe,
    *,
    out: Path | None = None,
    config: Mapping[str, Any] | None = None,
    device: str = "cpu",
    resume: bool = False,
    heuristics: bool = True,
    progress: Progress | None = None,
) -> Trained:
    """Train, judge the result, and leave a run directory if one is named.

    Args:
        problem: What to train on.
        recipe: The settings.
        out: The run directory; made if it is not there. None for none.
        config: The options of the command, kept beside the run.
        device: Where the model computes.
        resume: Whether to go on from the directory's checkpoint.
        heuristics: Whether scores that need no learning are judged on the same pairs.
        progress: Called with each epoch's record.

    Raises:
        PGNNError: If the directory holds a run already, or training is not possible.
    """
    if out is not None and writes_files():
        make_folder(out)
        with locked_folder(out):
            return _train(problem, recipe, out, config, device, resume, heuristics, progress)
    return _train(problem, recipe, out, config, device, resume, heuristics, progress)


def _train(
    problem: Problem,
    recipe: Recipe,
    out: Path | None,
    config: Mapping[str, Any] | None,
    device: str,
    resume: bool,
    heuristics: bool,
    progress: Progress | None,
) -> Trained:
    """Do what `train` does; nobody else writes to `out`."""
    splits = problem.splits
    learner = make_any_learner(
        recipe,
        [split.graph for split in splits],
        device=device,
        standardise=problem.standardise,
    )
    with _claimed(out, config or {}, resume):
        fit = learner.train(
            splits,
            checkpoint=None if out is None else out / CHECKPOINT,
            resume=resume,
            progress=progress,
        )
    judged = _judge(learner, fit, problem, heuristics=heuristics)
    if len(problem.graphs) == 1:
        learner = learner.with_anchors(problem.graphs[0])
    model = judged.model
    outcome = Outcome(
        task=recipe.task,
        model=recipe.model,
        test_auc=None if model is None else model.test.metrics["roc_auc"],
        val_auc=fit.val_auc,
        seconds=round(fit.seconds, 2),
        best_epoch=fit.best_epoch,
        epochs=len(fit.history),
        seed=recipe.seed,
        num_sets=learner.num_sets,
        graph=GraphFacts.of(*problem.graphs),
        test_pairs=sum(len(split.test) for split in splits),
        test=None if model is None else model.test,
        heuristics=judged.heuristics,
        recipe=learner.recipe,
        versions=versions(),
        experiment=problem.experiment,
        command=problem.command,
        base_rate=None if model is None else model.base_rate,
        lone_pairs=0 if model is None else model.lone_pairs,
        test_without_lone=None if model is None else model.without_lone,
        verdict=None if judged.verdict is None else judged.verdict.sentence,
        as_good=None if judged.verdict is None else judged.verdict.as_good,
        time=problem.time,
    )
    if out is not None and writes_files():
        shown = next((i for i, split in enumerate(splits) if len(split.test)), 0)
        with step("saving"):
            save_run(
                out,
                learner=learner,
                graph=problem.graphs[shown],
                seen=splits[shown].graph,
                pairs=splits[shown].test,
                outcome=outcome,
                history=fit.history,
            )
    return Trained(learner, fit, outcome)


@contextmanager
def _claimed(out: Path | None, config: Mapping[str, Any], resume: bool) -> Iterator[None]:
    """Keep the options of a run in its folder while it trains; a failed run leaves nothing."""
    if not writes_files():
        yield
        return
    is_new = out is not None and claim_folder(out, config, resume=resume)
    try:
        yield
    except BaseException:
        if out is not None and is_new:
            release_folder(out)
        raise


@dataclass(frozen=True)
class _Judged:
    """What test pairs say: of the model, of heuristics, and which is best."""

    model: ModelJudgement | None
    heuristics: dict[str, Judgement]
    verdict: Verdict | None


def _judge(learner: AnyLearner, fit: Fit, problem: Problem, *, heuristics: bool) -> _Judged:
    """Judge the scores of the test pairs, beside scores that need no learning."""
    tested = [(split.graph, split.test) for split in problem.splits if len(split.test)]
    if not tested:
        return _Judged(None, {}, None)
    share = share_of_links([pairs for _, pairs in tested])
    rate: float | None = share
    if learner.recipe.judged == "epoch" and fit.test_scores is not None:
        bounds = np.cumsum([len(pairs) for _, pairs in tested])[:-1]
        scores: list[NDArray[np.floating]] = np.split(np.array(fit.test_scores), bounds)
        rate = None  # these are no chances
    else:
        scores = [
            learner.scorer(graph).with_spread(pairs.pairs, base_rate=share)[0]
            for graph, pairs in tested
        ]
    hidden = learner.recipe.task == "link"
    model = judge_model(tested, scores, base_rate=rate, hidden=hidden)
    more: dict[str, dict[str, float]] = {}
    if len(problem.graphs) == 1 and hidden and rate is not None:
        seen, pairs = tested[0]
        more = judge_more(seen, pairs, learner.scorer(seen).logits, heuristics=heuristics)
        model = replace(model, test=model.test.with_metrics(more.get(MODEL, {})))
    if not heuristics:
        return _Judged(model, {}, None)
    with step("heuristics"):
        peers = score_heuristics(tested)
    verdict = peers.verdict(learner.recipe.model, scores)
    judged = peers.judged().items()
    return _Judged(model, {k: each.with_metrics(more.get(k, {})) for k, each in judged}, verdict)
