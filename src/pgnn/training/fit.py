"""`fit`: the only loop over epochs. Checkpoints, resuming, early stopping, evaluation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pgnn.checks import checked, integer
from pgnn.distributed.group import LostRankError
from pgnn.errors import PGNNError
from pgnn.evaluation.metrics import roc_auc, without_rounding
from pgnn.memory import use_limit_here
from pgnn.nn import PairDecoder, Positions
from pgnn.nn.threads import without_denormals
from pgnn.pairs.sets import Split
from pgnn.positions.hops import SERIAL_PAIRS
from pgnn.threads import current_team
from pgnn.training.adam import Adam
from pgnn.training.batches import Batch, Draws, Pairs, Part
from pgnn.training.checkpoint import (
    keep_checkpoint,
    kept_checkpoint,
    pack_training,
    unpack_training,
)
from pgnn.training.recipe import FitSettings
from pgnn.training.seeds import Purpose, seed_of

_CHECKPOINT_SECONDS = 10.0
_ONE_THREAD_NODES = 1 << 10
_KEPT_SECONDS = 1.0  # how old the state may be that is written when training is stopped


@dataclass(frozen=True)
class Epoch:
    """One line of the history; AUCs where it was evaluated."""

    epoch: int
    loss: float
    val_auc: float | None = None
    test_auc: float | None = None


@dataclass
class Fit:
    """The course of training: its history, the best epoch by validation AUC, and its duration.

    Attributes:
        history: One record per epoch.
        best_epoch: The epoch whose state was kept.
        val_auc: Validation AUC of that epoch.
        test_auc: Its test AUC, or None without test pairs.
        seconds: How long training took, in all sessions together.
        stopped_early: Whether patience ended it.
        test_scores: Scores of the test pairs that `test_auc` was computed from, split by split.
    """

    history: list[Epoch] = field(default_factory=list)
    best_epoch: int = 0
    val_auc: float = -math.inf
    test_auc: float | None = None
    seconds: float = 0.0
    stopped_early: bool = False
    test_scores: list[float] | None = None


Progress = Callable[[Epoch], object]
State = tuple[dict[str, Tensor], dict[str, Any]]


@checked
def fit(
    model: nn.Module,
    decoder: PairDecoder,
    splits: Sequence[Split],
    *,
    settings: FitSettings | None = None,
    draws: Draws | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """Train a model and a decoder on pairs, and leave them in the state best on validation pairs.

    Every random number is derived from the seed, the epoch and what it is for, so a run that was
    cut off and resumed gives the same result as one that was not.

    Args:
        model: `pgnn.nn.PGNN`, called with features and positions, or a baseline, called with
            features and edges.
        decoder: Scores pairs of embeddings.
        splits: What `pgnn.training.splits` made; models see the visible graphs only.
        settings: How to train.
        draws: How positions are drawn; None for a baseline.
        seed: Decides anchors, dropout, the order of graphs and sampled pairs. Initial weights are
            the caller's.
        checkpoint: File to write the state to now and then, and at the end.
        resume: Whether to go on from the checkpoint if there is one.
        progress: Called with each epoch's record.

    Raises:
        PGNNError: If there are no pairs to train or to choose by, the loss is not finite, or the
            checkpoint is of another run.
    """
    seed = integer("seed", seed, at_least=0)
    settings = settings or FitSettings()
    run = _Run(model, decoder, splits, settings, draws, seed)
    if checkpoint is not None and resume:
        run.restore(Path(checkpoint))
    with (
        torch.random.fork_rng(devices=[]),
        one_thread(run.largest_batch <= _ONE_THREAD_NODES),
        without_denormals(),
    ):
        run.train(checkpoint, progress)
    return run.fit


@contextmanager
def one_thread(when: bool = True) -> Iterator[None]:
    """Train small models on one thread: waking torch's others costs more than they save."""
    before = torch.get_num_threads()
    if when:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Step(NamedTuple):
    """A step of training: its epoch, its number within the epoch, and the number of its batch."""

    epoch: int
    number: int
    batch: int


class _Run:
    """The state of a training run: everything a checkpoint holds."""

    def __init__(
        self,
        model: nn.Module,
        decoder: PairDecoder,
        splits: Sequence[Split],
        settings: FitSettings,
        draws: Draws | None,
        seed: int,
    ) -> None:
        self.modules = nn.ModuleDict({"model": model, "decoder": decoder})
        self.decoder = decoder
        self.settings, self.draws, self.seed = settings, draws, seed
        self.eval_every = settings.eval_every
        self.device = device = next(model.parameters()).device
        self.train_batches = _batches(splits, ("train",), settings.batch_graphs, device)
        # What training keeps of graphs that are judged too is not found again.
        shared = {_graphs(batch): batch for batch in self.train_batches}
        judged = _batches(splits, ("val", "test"), settings.batch_graphs, device)
        self.eval_batches = [shared.get(_graphs(batch), batch) for batch in judged]
        if not self.train_batches:
            raise PGNNError("the splits have no training pairs")
        if all(batch.pairs("val") is None for batch in self.eval_batches):
            raise PGNNError("the splits have no validation pairs to choose the best epoch by")
        self.train_pairs = [_required(batch.pairs("train")) for batch in self.train_batches]
        self.eval_pairs: dict[Part, list[Pairs | None]] = {
            "val": [batch.pairs("val") for batch in self.eval_batches],
            "test": [batch.pairs("test") for batch in self.eval_batches],
        }
        batches = [*self.train_batches, *self.eval_batches]
        self.largest_batch = max(batch.graph.num_nodes for batch in batches)
        self.optimizer = Adam(list(self.modules.parameters()), weight_decay=settings.weight_decay)
        self.fit = Fit()
        self.best: dict[str, Tensor] = {}
        self.epoch = 0
        self.last_draw: dict[tuple[int, ...], Any] = {}

    # ------------------------------------------------------------------ training

    def train(self, checkpoint: str | Path | None, progress: Progress | None) -> None:
        """Run the epochs that are left, then load the best state."""
        settings = self.settings
        began, written = time.perf_counter() - self.fit.seconds, time.monotonic()
        kept: State | None = None
        kept_at = -math.inf
        self.modules.train()
        try:
            with self._drawn_ahead() as inputs:
                while self.epoch < settings.epochs and not self.fit.stopped_early:
                    self.epoch += 1
                    record = self._one_epoch(inputs)
                    self.fit.history.append(record)
                    self.fit.seconds = time.perf_counter() - began
                    now = time.monotonic()
                    if checkpoint is not None and now - kept_at > _KEPT_SECONDS:
                        kept, kept_at = self.state(), now
                    if progress is not None:
                        progress(record)
                    if checkpoint is not None and now - written > _CHECKPOINT_SECONDS:
                        kept, kept_at = self.state(), now  # never older than what is written
                        keep_checkpoint(checkpoint, *kept)
                        written = time.monotonic()
        except (KeyboardInterrupt, SystemExit, LostRankError):
            # In the middle of an epoch: what is written is the state after a whole one.
            if checkpoint is not None and kept is not None:
                keep_checkpoint(checkpoint, *kept)
            raise
        self.modules.load_state_dict(self.best)
        if settings.eval_draws > 1 and self._has("test"):
            self.fit.test_auc, scores = self._auc("test", settings.eval_draws)
            self.fit.test_scores = scores.tolist()
        self.fit.seconds = time.perf_counter() - began
        if checkpoint is not None:
            keep_checkpoint(checkpoint, *self.state())

    def _one_epoch(self, inputs: Iterator[Any]) -> Epoch:
        settings = self.settings
        if not self.modules.training:  # telling all modules takes as long as a layer of 400 nodes
            self.modules.train()
        losses = []
        for step, index in enumerate(self._order(self.epoch)):
            read = next(inputs)
            if settings.reuse_draw:
                self.last_draw[_graphs(self.train_batches[index])] = read
            self._seed_dropout(step)
            losses.append(self._step(index, read, step))
        loss = float(losses[0] if len(losses) == 1 else torch.stack(losses).mean())
        if not math.isfinite(loss):
            raise PGNNError(
                f"the loss is {loss} in epoch {self.epoch}; use a smaller learning rate than "
                f"{settings.lr:g}, or scale the features"
            )
        if self.epoch % self.eval_every and self.epoch != settings.epochs:
            return Epoch(self.epoch, loss)
        return self._evaluate(loss)

    def _seed_dropout(self, step: int) -> None:
        # torch.manual_seed would format a stack trace each time, for devices not yet in use.
        seed = self._seed(Purpose.DROPOUT, self.epoch, step)
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def _step(self, index: int, read: Any, step: int) -> Tensor:
        pairs = self.train_pairs[index]
        if self.settings.max_pairs is not None:
            rng = np.random.default_rng(self._seed(Purpose.SAMPLED_PAIRS, self.epoch, step))
            pairs = pairs.sample(self.settings.max_pairs, rng)
        batch = self.train_batches[index]
        z = self.modules["model"](batch.x, read)
        loss: Tensor = self.decoder.loss(z, pairs.nodes, pairs.labels, pairs.weights)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step(self._rate)
        return loss.detach()

    @property
    def _rate(self) -> float:
        """The learning rate of this epoch."""
        lr, drop = self.settings.lr, self.settings.lr_drop
        return lr / 10 if drop is not None and self.epoch > drop else lr

    def _order(self, epoch: int) -> list[int]:
        """Return the order of the batches in an epoch."""
        if len(self.train_batches) == 1:
            return [0]
        rng = np.random.default_rng(self._seed(Purpose.BATCH_ORDER, epoch))
        return [int(index) for index in rng.permutation(len(self.train_batches))]

    @contextmanager
    def _drawn_ahead(self) -> Iterator[Iterator[Any]]:
        """Give what the model reads besides features, step by step.

        With more than one thread it is drawn ahead on another; on one thread they would only hand
        the interpreter to and fro.
        """
        steps = self._steps(self.epoch + 1)
        if self.draws is None:
            yield (self.train_batches[index].edge_index for _, _, index in steps)
            return
        blocks = self._blocks(steps)
        if torch.get_num_threads() == 1 or current_team() is not None:
            yield (read for block in blocks for read in self._draw(block))
            return
        with ThreadPoolExecutor(1, initializer=use_limit_here) as thread:

            def ahead() -> Iterator[Any]:
                waiting: Future[list[Positions]] | None = None
                for block in blocks:
                    drawn, waiting = waiting, thread.submit(self._draw, block)
                    if drawn is not None:
                        yield from drawn.result()
                if waiting is not None:
                    yield from waiting.result()

            yield ahead()

    def _steps(self, first_epoch: int) -> Iterator[_Step]:
        """Yield all steps that are left."""
        for epoch in range(first_epoch, self.settings.epochs + 1):
            for step, index in enumerate(self._order(epoch)):
                yield _Step(epoch, step, index)

    def _blocks(self, steps: Iterator[_Step]) -> Iterator[list[_Step]]:
        """Cut steps into blocks whose positions are drawn at once: long ones, of small graphs."""
        assert self.draws is not None
        block: list[_Step] = []
        size = 0
        for step in steps:
            more = self.train_batches[step.batch].num_positions(self.draws)
            if block and size + more >= SERIAL_PAIRS:
                yield block
                block, size = [], 0
            block.append(step)
            size += more
        if block:
            yield block

    def _draw(self, block: list[_Step]) -> list[Positions]:
        """Return the positions of some steps, drawn batch by batch."""
        assert self.draws is not None
        drawn: dict[_Step, Positions] = {}
        for index in {step.batch for step in block}:
            steps = [step for step in block if step.batch == index]
            seeds = [self._seed(Purpose.TRAINING_ANCHORS, s.epoch, s.number) for s in steps]
            positions = self.train_batches[index].draw_each(self.draws, seeds)
            drawn |= zip(steps, positions, strict=True)
        return [drawn[step] for step in block]

    def _read(self, batch: Batch, purpose: Purpose, *numbers: int) -> Any:
        """Return what the model reads of a batch besides features: positions, or edges."""
        if self.draws is None:
            return batch.edge_index
        return batch.draw(self.draws, np.random.default_rng(self._seed(purpose, *numbers)))

    def _seed(self, purpose: Purpose, *numbers: int) -> int:
        return seed_of(self.seed, purpose, *numbers)

    # ------------------------------------------------------------------ evaluation

    def _has(self, part: Part) -> bool:
        return any(pairs is not None for pairs in self.eval_pairs[part])

    def _evaluate(self, loss: float) -> Epoch:
        val, _ = self._auc("val", 1)
        test = None
        if val > self.fit.val_auc:
            if self._has("test"):
                test, scores = self._auc("test", 1)
                self.fit.test_scores = scores.tolist()
            self.fit.val_auc, self.fit.test_auc, self.fit.best_epoch = val, test, self.epoch
            self.best = {k: v.clone() for k, v in self.modules.state_dict().items()}
        elif self.settings.patience is not None:
            waited = (self.epoch - self.fit.best_epoch) // self.eval_every
            self.fit.stopped_early = waited >= self.settings.patience
        return Epoch(self.epoch, loss, val, test)

    @torch.no_grad()
    def _auc(self, part: Part, num_draws: int) -> tuple[float, NDArray[np.floating]]:
        """Return the mean over graphs of the AUC of scores averaged over draws, and the scores."""
        self.modules.eval()
        labels, scores, groups, graphs = [], [], [], 0
        for number, (batch, pairs) in enumerate(
            zip(self.eval_batches, self.eval_pairs[part], strict=True)
        ):
            if pairs is None:
                continue
            total = torch.zeros_like(pairs.labels)
            for draw in range(num_draws):
                read = self.last_draw.get(_graphs(batch))
                if read is None or num_draws > 1:
                    read = self._read(batch, Purpose.EVALUATION_ANCHORS, self.epoch, number, draw)
                total += self.modules["decoder"](self.modules["model"](batch.x, read), pairs.nodes)
            if not bool(torch.isfinite(total).all()):
                raise PGNNError(f"scores are not finite in epoch {self.epoch}")
            labels.append(pairs.labels.cpu().numpy() > 0)
            scores.append(total.cpu().numpy())
            groups.append(pairs.graph + graphs)
            graphs += len(batch.sizes)
        group = np.concatenate(groups)
        judged = without_rounding(np.concatenate(scores), group)
        return roc_auc(np.concatenate(labels), judged, groups=group), judged

    # ------------------------------------------------------------------ checkpoints

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be of this run."""
        draws = None if self.draws is None else asdict(self.draws)
        return {
            "settings": asdict(self.settings),
            "draws": draws,
            "seed": self.seed,
            "modules": repr(self.modules),
            "shapes": {k: list(v.shape) for k, v in self.modules.state_dict().items()},
            "data": [
                [batch.digest(("train",)) for batch in self.train_batches],
                [batch.digest(("val", "test")) for batch in self.eval_batches],
            ],
        }

    def state(self) -> State:
        """Return a copy of everything that is needed to go on."""
        tensors = pack_training(self.modules, self.best, self.optimizer)
        description = {"identity": self._identity, "epoch": self.epoch, "fit": asdict(self.fit)}
        return {name: tensor.clone() for name, tensor in tensors.items()}, description

    def restore(self, path: Path) -> None:
        """Take up what was kept, if anything was."""
        kept = kept_checkpoint(path)
        if kept is None:
            return
        tensors, description = kept
        if description.get("identity") != self._identity:
            raise PGNNError(
                f"{path}: the checkpoint is of a run with other settings, data or seed; "
                "give another file, or do not resume"
            )
        self.best = unpack_training(tensors, self.modules, self.optimizer)
        self.epoch = description["epoch"]
        course = dict(description["fit"])
        course["history"] = [Epoch(**record) for record in course["history"]]
        self.fit = Fit(**course)


def _batches(
    splits: Sequence[Split], parts: tuple[Part, ...], size: int, device: torch.device
) -> list[Batch]:
    """Join the splits that have pairs of some part, a few graphs a batch."""
    having = [split for split in splits if any(len(getattr(split, part)) for part in parts)]
    return [Batch(having[i : i + size], device) for i in range(0, len(having), size)]


def _graphs(batch: Batch) -> tuple[int, ...]:
    """Which splits a batch joins."""
    return tuple(id(split) for split in batch.splits)


def _required(pairs: Pairs | None) -> Pairs:
    assert pairs is not None
    return pairs
