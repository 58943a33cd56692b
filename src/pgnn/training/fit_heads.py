"""`fit_heads`: the loop that trains all heads of `pgnn-best` at once, round by round.

The heads learn f = log p(pair | link) / p(pair | non-edge). Member i never sees fold i of the
pairs, so each pair has a logit of a member that has not learnt from it: these out-of-fold logits
choose the best round, judge it and calibrate it, and no link has to be put aside.

Networks that have seen few links order pairs worse than a linear model of the same columns does, so
each member's logit is a mean of both, and the linear part counts less the more links there are.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from pgnn.distributed.group import LostRankError
from pgnn.errors import PGNNError
from pgnn.evaluation.metrics import roc_auc
from pgnn.names import Task
from pgnn.nn.heads import PairHeads
from pgnn.training.adam import Adam
from pgnn.training.checkpoint import keep_checkpoint, kept_checkpoint
from pgnn.training.fit import Epoch, Fit, Progress, one_thread
from pgnn.training.recipe import Recipe
from pgnn.training.seeds import Purpose, generator_of, seed_of

ROUNDS = 12
_BATCH: dict[Task, tuple[int, int]] = {  # links and negatives per member and step
    "link": (64, 320),
    "pair": (192, 192),
}
_STEPS = (150, 1200)  # least and most, in all rounds
_MANY_STEPS: dict[Task, int] = {"link": 2500, "pair": 1500}  # most of several graphs
# Heads that read features around both nodes have far more to learn.
_AROUND_BATCH = (384, 640)
_AROUND_STEPS = 2000
_STEPS_PER_GRAPH = 60  # most for task "pair" of several graphs
_PASSES = 16  # over the links
_EMA = 0.98
_WARM = 0.1  # share of steps in which the learning rate rises
_FLAT = 0.5  # share of steps after which it falls
_PATIENCE = 0.35  # share of rounds without progress after which training stops
_HELD = (500, 2500)  # most held-out links and negatives per member that rounds are judged by
LINEAR_LINKS = 500  # with so many links, half of a logit is that of the linear part
_LINEAR_ROWS = (1500, 7500)  # most links and negatives that it is fitted to
_SCORED = 1 << 15  # rows scored at once
_CHECKPOINT_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class HeadData:
    """Pairs to learn from, described.

    Attributes:
        columns: Scaled columns, float32 `[m, columns]`.
        ends: Rows of both nodes in `features`, `[m, 2]`.
        features: Features of all nodes of all graphs, as the heads read them, or None.
        positive: Which rows are links (task "pair": of the same label).
        negative: Which rows are not.
        uniform: Which of these rows were drawn uniformly: out-of-fold results are judged by them.
        log_density: Of each row, the log of how much likelier it was to be drawn than a uniform
            non-edge; 0 where negatives are given.
        log_missing: Of each row, the log of the share of non-edges of its graph that are links in
            truth; -inf where negatives are known to be none.
        graph: Which graph each row is of. Of several graphs, whole ones are left out of what a
            member learns from: it has to do well on graphs that it has not seen.
        validation: Whether each row is of a graph that is only to choose the best round by. Where
            there are such graphs, every member learns from all others.
        turned: Of each row that is a link from u to v, the row of the pair from v to u, described
            without the link as well; -1 where that is a link, too, or the row is no link. None
            where links are not ordered.
        joined: Whether both nodes of each row are neighbours, for heads that read features around
            them; None for others.
    """

    columns: NDArray[np.float32]
    ends: NDArray[np.int64]
    features: NDArray[np.float32] | None
    positive: NDArray[np.int64]
    negative: NDArray[np.int64]
    uniform: NDArray[np.int64]
    log_density: NDArray[np.float32]
    log_missing: NDArray[np.float32]
    graph: NDArray[np.int64]
    validation: NDArray[np.bool_]
    turned: NDArray[np.int64] | None = None
    joined: NDArray[np.bool_] | None = None

    def digest(self) -> str:
        """Return a fingerprint of all of it."""
        fingerprint = hashlib.sha256()
        for array in asdict(self).values():
            fingerprint.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        return fingerprint.hexdigest()


@dataclass(frozen=True, eq=False)
class HeadFit:
    """What training the heads gave.

    Attributes:
        fit: Its course; `val_auc` is that of out-of-fold logits.
        positive: Out-of-fold logits of the links.
        negative: Out-of-fold logits of the uniform negatives.
    """

    fit: Fit
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]


def fit_heads(
    heads: PairHeads,
    data: HeadData,
    recipe: Recipe,
    *,
    linear_links: int = LINEAR_LINKS,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> HeadFit:
    """Train the heads and leave them in the state that is best on out-of-fold pairs.

    Args:
        heads: The heads, with fresh weights.
        data: Pairs to learn from.
        recipe: The settings.
        linear_links: With so many links, half of a logit is that of the linear part.
        checkpoint: File to write the state to now and then.
        resume: Whether to go on from the checkpoint if there is one.
        progress: Called after each round.

    Raises:
        PGNNError: If there are not enough pairs, the loss is not finite, or the checkpoint is of
            another run.
    """
    if len(data.positive) < 2 or len(data.negative) < 2:
        raise PGNNError(
            "at least two positive and two negative pairs are needed to learn from "
            f"(got {len(data.positive)} and {len(data.negative)})"
        )
    run = _Run(heads, data, recipe, linear_links)
    if checkpoint is not None and resume:
        run.restore(checkpoint)
    with torch.random.fork_rng(devices=[]), one_thread():
        run.train(checkpoint, progress)
        return run.result()


class _Run:
    """The state of training: everything a checkpoint holds."""

    def __init__(self, heads: PairHeads, data: HeadData, recipe: Recipe, linear_links: int) -> None:
        self.heads, self.data, self.recipe = heads, data, recipe
        self.linear_links = linear_links
        self.device = next(heads.parameters()).device
        self.parameters = list(heads.parameters())
        assert recipe.lr is not None, "the recipe is not resolved"
        assert recipe.epochs is not None
        assert recipe.weight_decay is not None
        self.lr = recipe.lr
        self.optimizer = Adam(
            self.parameters,
            weight_decay=recipe.weight_decay,
            decoupled=True,
            decayed=[name.endswith("weight") for name, _ in heads.named_parameters()],
        )
        self.columns = torch.from_numpy(data.columns).to(self.device)
        self.features = None
        if data.features is not None:
            self.features = torch.from_numpy(data.features).to(self.device)
        self.ends = torch.from_numpy(data.ends).to(self.device)
        self.log_density = torch.from_numpy(data.log_density).to(self.device)
        self.log_missing = torch.from_numpy(data.log_missing).to(self.device)
        turned = np.full(len(data.columns), -1) if data.turned is None else data.turned
        self.turned = torch.from_numpy(turned).to(self.device)
        self.has_turned = bool((turned >= 0).any())
        self.joined = None
        if data.joined is not None:
            self.joined = torch.from_numpy(data.joined.astype(np.float32)).to(self.device)
        self.batch = _BATCH[recipe.task] if data.joined is None else _AROUND_BATCH
        self.folds = _Folds.of(data, heads.num_members, recipe.seed)
        wanted = _num_steps(data, recipe.task)
        self.steps_per_round = max(5, wanted // ROUNDS)
        self.num_rounds = recipe.epochs
        self.average = [p.detach().clone() for p in self.parameters]
        self.best = [p.clone() for p in self.average]
        self.best_loss = math.inf
        self.round = 0
        self.fit = Fit()

    # ------------------------------------------------------------------ training

    def train(self, checkpoint: Path | None, progress: Progress | None) -> None:
        """Run the rounds that are left."""
        began, written = time.perf_counter() - self.fit.seconds, time.monotonic()
        kept = None
        try:
            while self.round < self.num_rounds and not self.fit.stopped_early:
                self.round += 1
                record = self._one_round()
                self.fit.history.append(record)
                self.fit.seconds = time.perf_counter() - began
                if checkpoint is not None:
                    kept = self.state()
                if progress is not None:
                    progress(record)
                if checkpoint is not None and time.monotonic() - written > _CHECKPOINT_SECONDS:
                    keep_checkpoint(checkpoint, *self.state())
                    written = time.monotonic()
        except (KeyboardInterrupt, SystemExit, LostRankError):
            if checkpoint is not None and kept is not None:
                keep_checkpoint(checkpoint, *kept)
            raise
        _copy(self.parameters, self.best)
        self.fit.seconds = time.perf_counter() - began
        if checkpoint is not None:
            keep_checkpoint(checkpoint, *self.state())

    def _one_round(self) -> Epoch:
        rng = generator_of(self.recipe.seed, Purpose.HEAD, self.round)
        torch.default_generator.manual_seed(seed_of(self.recipe.seed, Purpose.DROPOUT, self.round))
        self.heads.train()
        labels = _labels(*self.batch, self.heads.num_members).to(self.device)
        batches = torch.from_numpy(self.folds.draw(rng, self.steps_per_round, self.batch)).to(
            self.device
        )
        total = 0.0
        for step, rows in enumerate(batches):
            scores = self._score(rows)
            logits = self._as_drawn(scores, rows, self.batch)
            loss = binary_cross_entropy_with_logits(logits, labels)
            loss = (loss + self._turned_loss(scores, rows, self.batch)) * self.heads.num_members
            loss.backward()  # type: ignore[no-untyped-call]
            num_steps = (self.round - 1) * self.steps_per_round + step + 1
            self.optimizer.step(self._rate(num_steps))
            total += float(loss.detach())
            share = 1 - min(_EMA, num_steps / (num_steps + 9))
            torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], share)
        loss_mean = total / self.steps_per_round / self.heads.num_members
        if not math.isfinite(loss_mean):
            raise PGNNError(
                f"the loss is {loss_mean} in round {self.round}; use a smaller learning rate than "
                f"{self.lr:g}"
            )
        return self._judge(loss_mean)

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        total = self.num_rounds * self.steps_per_round
        rate = self.lr * min(1.0, step / (_WARM * total + 1))
        part = (step - 1) / total
        if part > _FLAT:
            rate *= 0.5 * (1 + math.cos(math.pi * (part - _FLAT) / (1 - _FLAT)))
        return rate

    def _turned_loss(self, scores: Tensor, rows: Tensor, sizes: tuple[int, int]) -> Tensor:
        """Return what it costs not to know which of two directions is the link.

        Of u -> v and v -> u, one of which is a link, it is u -> v with the log-odds
        f(u -> v) - f(v -> u): both have the same chance to be a non-edge that was drawn.
        """
        if not self.has_turned:
            return scores.new_zeros(())
        links = rows[:, : sizes[0]]
        around = self.turned[links]
        known = (around >= 0).to(scores.dtype)
        gap = scores[:, : sizes[0]] - self._score(around.clamp(min=0))
        return (softplus(-gap) * known).sum() / rows.numel()

    def _as_drawn(self, f: Tensor, rows: Tensor, sizes: tuple[int, int]) -> Tensor:
        # Among non-edges a share of links is missing: p(x | non-edge) has a part of p(x | link).
        f = f - softplus(f + self.log_missing[rows])
        return f + math.log(sizes[0] / sizes[1]) - self.log_density[rows]

    def _score(self, rows: Tensor) -> Tensor:
        features = None
        if self.features is not None:
            u, v = self.ends[rows].unbind(-1)
            features = (self.features[u], self.features[v])
        joined = None if self.joined is None else self.joined[rows]
        logits: Tensor = self.heads(self.columns[rows], features, joined)
        return logits

    # ------------------------------------------------------------------ judging

    @torch.no_grad()
    def _judge(self, loss: float) -> Epoch:
        """Judge the averaged weights on each member's own fold, and keep them if they are best."""
        now = [p.detach().clone() for p in self.parameters]
        _copy(self.parameters, self.average)
        self.heads.eval()
        rows = torch.from_numpy(self.folds.held).to(self.device)
        scores = self._score(rows)
        logits = self._as_drawn(scores, rows, self.folds.held_sizes)
        labels = _labels(*self.folds.held_sizes, self.heads.num_members).to(self.device)
        held_loss = float(binary_cross_entropy_with_logits(logits, labels))
        held_loss += float(self._turned_loss(scores, rows, self.folds.held_sizes))
        _copy(self.parameters, now)
        truth = labels[0].cpu().numpy()
        auc = float(np.mean([roc_auc(truth, member) for member in scores.cpu().numpy()]))
        if held_loss < self.best_loss:
            self.best_loss, self.fit.best_epoch = held_loss, self.round
            self.best = [p.clone() for p in self.average]
        elif self.round - self.fit.best_epoch > _PATIENCE * self.num_rounds:
            self.fit.stopped_early = True
        return Epoch(self.round, loss, auc)

    @torch.no_grad()
    def result(self) -> HeadFit:
        """Give the heads their linear part and return out-of-fold logits of the best state."""
        self._lean()
        self.heads.eval()
        of_positive, of_uniform = self.folds.of_positive, self.folds.of_row[self.data.uniform]
        known, others = of_positive >= 0, of_uniform >= 0
        positive = self._out_of_fold(self.data.positive[known], of_positive[known])
        negative = self._out_of_fold(self.data.uniform[others], of_uniform[others])
        labels = np.arange(len(positive) + len(negative)) < len(positive)
        self.fit.val_auc = roc_auc(labels, np.concatenate([positive, negative]))
        return HeadFit(self.fit, positive, negative)

    def _lean(self) -> None:
        """Fit a linear part to what each member learnt from; the more links, the less it counts."""
        count = len(self.data.positive)
        solutions: list[Tensor] = []
        for sample, num_links in self.folds.samples(_LINEAR_ROWS):
            rows = torch.from_numpy(sample).to(self.device)
            around = self.turned[rows[:num_links]]
            links = rows[:num_links][around >= 0]
            solutions.append(
                fit_ridge(
                    self.columns[rows],
                    num_links,
                    gaps=self.columns[links] - self.columns[around[around >= 0]],
                    log_density=self.log_density[rows],
                    log_missing=self.log_missing[rows],
                    start=solutions[0] if solutions else None,
                )
            )
        fitted = torch.stack(solutions)
        share = self.linear_links / (count + self.linear_links)
        self.heads.lean(fitted[:, :-1], fitted[:, -1], share)

    def _out_of_fold(self, rows: NDArray[np.int64], fold: NDArray[np.int64]) -> NDArray[np.float64]:
        logits = np.empty(len(rows))
        for first in range(0, len(rows), _SCORED):
            span = slice(first, first + _SCORED)
            index = torch.from_numpy(rows[span]).to(self.device)
            expanded = index.expand(self.heads.num_members, -1)
            scores = self._score(expanded).cpu().numpy()
            logits[span] = scores[fold[span], np.arange(scores.shape[1])]
        return logits

    # ------------------------------------------------------------------ checkpoints

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return {"recipe": asdict(self.recipe), "data": self.data.digest()}

    @property
    def _groups(self) -> dict[str, list[Any]]:
        return {
            "now": self.parameters,
            "average": self.average,
            "best": self.best,
            "means": self.optimizer.means,
            "squares": self.optimizer.squares,
            "steps": [self.optimizer.num_steps],
        }

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return a copy of everything that is needed to go on."""
        tensors: dict[str, Tensor] = {}
        for name, group in self._groups.items():
            tensors |= {f"{name}.{i}": p.detach().clone() for i, p in enumerate(group)}
        return tensors, {
            "identity": self._identity,
            "round": self.round,
            "best_loss": self.best_loss,
            "fit": asdict(self.fit),
        }

    def restore(self, path: Path) -> None:
        """Take up what `state` gave, if it was kept."""
        kept = kept_checkpoint(path)
        if kept is None:
            return
        tensors, description = kept
        if description.get("identity") != self._identity:
            raise PGNNError(
                f"{path}: the checkpoint is of a run with other settings, data or seed; "
                "give another file, or do not resume"
            )
        for name, group in self._groups.items():
            _copy(group, [tensors[f"{name}.{i}"] for i in range(len(group))])
        self.round, self.best_loss = int(description["round"]), float(description["best_loss"])
        course = dict(description["fit"])
        course["history"] = [Epoch(**record) for record in course["history"]]
        self.fit = Fit(**course)


@dataclass(frozen=True, eq=False)
class _Folds:
    """Which fold each pair is in, what each member may learn from, and what it is judged by.

    Attributes:
        of_positive: Fold of each link; -1 where all members learn from it.
        of_row: Fold of each row as a negative; a pair that was drawn twice is in one fold.
        pools: For each member, links and negatives that it learns from.
        held: For each member, rows of its own fold, links first, `[members, b]`.
        held_sizes: How many links and negatives those are.
        graph: Which graph each row is of.
    """

    of_positive: NDArray[np.int64]
    of_row: NDArray[np.int64]
    pools: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    held: NDArray[np.int64]
    held_sizes: tuple[int, int]
    graph: NDArray[np.int64]

    @classmethod
    def of(cls, data: HeadData, members: int, seed: int) -> _Folds:
        rng = generator_of(seed, Purpose.FOLDS)
        num_graphs = int(data.graph.max()) + 1
        if data.validation.any():
            return cls._of_validation(data, members, rng)
        if num_graphs > 1:
            of_graph = rng.permutation(num_graphs) % members
            positive, of_row = of_graph[data.graph[data.positive]], of_graph[data.graph]
        else:
            positive = rng.permutation(len(data.positive)) % members
            of_row = rng.integers(members, size=len(data.columns))
        negative = of_row[data.negative]
        num_folds = min(members, num_graphs) if num_graphs > 1 else members
        pools, own = [], []
        for member in range(members):
            fold = member % num_folds
            links, others = data.positive[positive != fold], data.negative[negative != fold]
            pools.append((links if len(links) else data.positive, others))
            own.append((data.positive[positive == fold], data.negative[negative == fold]))
        return cls._with_held(data, rng, positive, of_row, pools, own)

    @classmethod
    def _of_validation(cls, data: HeadData, members: int, rng: np.random.Generator) -> _Folds:
        """All members learn from the same graphs and are judged by the others."""
        of_row = np.where(data.validation, rng.integers(members, size=len(data.validation)), -1)
        links, others = of_row[data.positive] < 0, of_row[data.negative] < 0
        pools = [(data.positive[links], data.negative[others])] * members
        own = [(data.positive[~links], data.negative[~others])] * members
        return cls._with_held(data, rng, of_row[data.positive], of_row, pools, own)

    @classmethod
    def _with_held(
        cls,
        data: HeadData,
        rng: np.random.Generator,
        positive: NDArray[np.int64],
        of_row: NDArray[np.int64],
        pools: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
        own: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> _Folds:
        """Draw what each member is judged by from its own fold."""
        sizes = (
            max(1, min(_HELD[0], *(len(links) for links, _ in own))),
            max(1, min(_HELD[1], *(len(others) for _, others in own))),
        )
        held = []
        for links, others in own:
            chosen = [rng.permutation(links if len(links) else data.positive)[: sizes[0]]]
            chosen.append(rng.permutation(others if len(others) else data.negative)[: sizes[1]])
            held.append(np.concatenate(chosen))
        return cls(positive, of_row, pools, np.stack(held), sizes, data.graph)

    def samples(self, most: tuple[int, int]) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Yield, for each member, rows that it learns from, links first, and how many are links."""
        for links, others in self.pools:
            chosen = [
                pool[np.linspace(0, len(pool), min(len(pool), count), endpoint=False).astype(int)]
                for pool, count in ((links, most[0]), (others, most[1]))
            ]
            yield np.concatenate(chosen), len(chosen[0])

    def draw(
        self, rng: np.random.Generator, steps: int, batch: tuple[int, int]
    ) -> NDArray[np.int64]:
        """Draw the batches of a round, `[steps, members, b]`."""
        members = []
        for pools in self.pools:
            drawn = [
                self._draw_rows(rng, pool, (steps, count))
                for pool, count in zip(pools, batch, strict=True)
            ]
            members.append(np.concatenate(drawn, axis=1))
        return np.stack(members, axis=1)

    def _draw_rows(
        self, rng: np.random.Generator, pool: NDArray[np.int64], shape: tuple[int, int]
    ) -> NDArray[np.int64]:
        """Draw from a pool; a graph with four times as many pairs is drawn twice as often."""
        graph = self.graph[pool]
        if graph[0] == graph[-1]:  # rows are in the order of graphs: there is one
            return np.asarray(pool[rng.integers(len(pool), size=shape)])
        reached = np.cumsum(1 / np.sqrt(np.bincount(graph)[graph]))
        places = np.searchsorted(reached, rng.random(shape) * reached[-1], side="right")
        return np.asarray(pool[np.minimum(places, len(pool) - 1)])


def _num_steps(data: HeadData, task: Task) -> int:
    """Return how many steps to take: with more pairs more, with few graphs few.

    Links go with the same columns in all graphs. What goes with the same label is another matter:
    there, a graph is one example, and few examples are soon learnt by heart.
    """
    learnt = ~data.validation
    num_graphs = len(np.unique(data.graph[learnt]))
    most = _STEPS[1]
    if num_graphs > 1:
        most = _MANY_STEPS[task]
        if task == "pair":
            most = min(most, _STEPS_PER_GRAPH * num_graphs)
    batch = _BATCH["link"][0]
    if data.joined is not None:
        most, batch = _AROUND_STEPS, _AROUND_BATCH[0]
    num_links = np.count_nonzero(learnt[data.positive])
    return int(np.clip(_PASSES * num_links / batch, _STEPS[0], max(most, _STEPS[0])))


def _labels(num_positive: int, num_negative: int, members: int) -> Tensor:
    labels = torch.cat([torch.ones(num_positive), torch.zeros(num_negative)])
    return labels.expand(members, -1)


@torch.no_grad()
def _copy(targets: list[Any], sources: list[Tensor]) -> None:
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


_PENALTY = 30.0  # on squared weights, where a link that is got wrong costs about 1
_MAX_STEPS = 30
_ENOUGH = 1e-5  # gain per link below which the search ends


def fit_ridge(
    columns: Tensor,
    num_links: int,
    *,
    log_density: Tensor,
    log_missing: Tensor,
    gaps: Tensor | None = None,
    start: Tensor | None = None,
) -> Tensor:
    r"""Fit f(c) = w . c + b to the loss of the heads, plus a penalty \|w\|^2.

    Links and negatives have the same total weight. Gauss-Newton steps, halved until they help.

    Args:
        columns: Scaled columns, links first, `[m, columns]`.
        num_links: How many rows are links.
        log_density: Of each row, as in `HeadData`.
        log_missing: Of each row, as in `HeadData`.
        gaps: Columns of links less those of the pairs turned round, `[g, columns]`; each link is
            to score higher.
        start: Where to begin; by default at 0.

    Returns:
        The weights and, last, b: float64 `[columns + 1]`.
    """
    count = len(columns)
    x = torch.cat([columns, columns.new_ones(count, 1)], dim=1).double()
    labels = (torch.arange(count, device=x.device) < num_links).double()
    weights = labels + (1 - labels) * num_links / (count - num_links)
    if gaps is not None and len(gaps):
        x = torch.cat([x, torch.cat([gaps, gaps.new_zeros(len(gaps), 1)], dim=1).double()])
        labels, weights = (torch.cat([each, x.new_ones(len(gaps))]) for each in (labels, weights))
        log_density = torch.cat([log_density, log_density.new_zeros(len(gaps))])
        log_missing = torch.cat([log_missing, log_missing.new_full((len(gaps),), -math.inf)])
    penalty = x.new_full((x.shape[1],), _PENALTY)
    penalty[-1] = 1e-6

    def logits_of(solution: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits that training compares with labels, and their slope in f."""
        f = x @ solution
        return f - softplus(f + log_missing) - log_density, torch.sigmoid(-f - log_missing)

    def cost_of(solution: Tensor) -> float:
        logits, _ = logits_of(solution)
        return float(weights @ (softplus(logits) - labels * logits) + 0.5 * penalty @ solution**2)

    solution = torch.zeros_like(penalty) if start is None else start
    cost = cost_of(solution)
    for _ in range(_MAX_STEPS):
        logits, slope = logits_of(solution)
        chance = torch.sigmoid(logits)
        gradient = x.T @ (weights * (chance - labels) * slope) + penalty * solution
        bend = weights * chance * (1 - chance) * slope**2
        step = torch.linalg.solve((x * bend[:, None]).T @ x + penalty.diag(), gradient)
        length = 1.0
        while (reached := cost_of(solution - length * step)) > cost and length > 1e-4:
            length /= 2
        if reached > cost:
            break
        solution, gain, cost = solution - length * step, cost - reached, reached
        if gain < _ENOUGH * num_links:
            break
    return solution
