"""Training: the seed decides every number, the best state stays, held-out pairs are unseen."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from pgnn import PGNNError
from pgnn.datasets.synthetic import communities
from pgnn.evaluation.metrics import roc_auc
from pgnn.nn import PRESETS, DistanceDecoder, DotDecoder, make_baseline, make_pgnn
from pgnn.training.batches import Draws
from pgnn.training.fit import _Run, fit
from pgnn.training.recipe import FitSettings
from pgnn.training.seeds import Purpose
from pgnn.training.splits import PairSet, Split, make_splits, split_links, split_pairs

NONE = PairSet(np.zeros((0, 2)), np.zeros(0))
SPLIT = split_links(communities(4, 5, rng=0), rng=0)
SETTINGS = FitSettings(epochs=8, eval_every=2)
NAMES = ["pgnn-e-2l", "pgnn-f-1l", "pgnn-p-2l", "gcn"]


def made(name, init=0):
    """A small model of this name, a decoder and how its positions are drawn."""
    torch.manual_seed(init)
    if name not in PRESETS:
        return make_baseline(name, 1), DistanceDecoder(), None
    preset = PRESETS[name]
    draws = Draws(preset.proximity, preset.cutoff, num_sets=8)
    return make_pgnn(name, 1, hidden_channels=8), DistanceDecoder(), draws


def start(name="pgnn-e-2l", *, splits=(SPLIT,), init=0, **options):
    """Train a small model; return it and what was found."""
    model, decoder, draws = made(name, init)
    options = {"settings": SETTINGS, "draws": draws, **options}
    return model, fit(model, decoder, splits, **options)


def start_by_hand(name="pgnn-e-2l", *, splits=(SPLIT,), settings=SETTINGS, seed=0):
    """The same, with the run open to look into."""
    model, decoder, draws = made(name)
    return _Run(model, decoder, splits, settings, draws, seed)


def numbers(found):
    return asdict(replace(found, seconds=0.0))


def same_state(one, other):
    states = one.state_dict(), other.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture
def num_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


# ---------------------------------------------------------------------- batches


def test_graphs_that_are_trained_on_and_judged_are_one_batch():
    """So PageRank between all their nodes, which a batch keeps, is found once."""
    both = start_by_hand("pgnn-p-2l")
    assert both.eval_batches[0] is both.train_batches[0]
    apart = [replace(SPLIT, val=NONE, test=NONE), replace(SPLIT, train=NONE)]
    run = start_by_hand("pgnn-p-2l", splits=apart)
    assert [len(run.train_batches), len(run.eval_batches)] == [1, 1]
    assert run.eval_batches[0] is not run.train_batches[0]
    assert run.eval_batches[0].splits[0] is apart[1]


# ---------------------------------------------------------------------- random numbers


@pytest.mark.parametrize("name", NAMES)
def test_fit_same_seed_gives_the_same_numbers_to_the_bit(name):
    (one, found_one), (two, found_two) = start(name, seed=5), start(name, seed=5)
    assert numbers(found_one) == numbers(found_two)
    assert same_state(one, two)
    other, found_other = start(name, seed=6)
    assert numbers(found_one) != numbers(found_other)
    assert not same_state(one, other)


@pytest.mark.parametrize("name", ["pgnn-e-2l", "gcn"])
def test_fit_begins_with_the_weights_of_the_caller(name):
    model, decoder, draws = made(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    seen = []
    model.register_forward_pre_hook(
        lambda module, _: seen.append({k: v.clone() for k, v in module.state_dict().items()})
    )
    fit(model, decoder, [SPLIT], settings=SETTINGS, draws=draws)
    assert all(torch.equal(seen[0][key], before[key]) for key in before)
    assert not same_state(start(name, init=1)[0], start(name, init=2)[0])


@pytest.mark.parametrize("lr", [0.01, 1e30], ids=["trained", "diverged"])
def test_fit_leaves_the_global_random_state_alone(lr):
    model, decoder, draws = made("pgnn-e-2l")
    torch.manual_seed(99)
    before = torch.get_rng_state()
    try:
        fit(model, decoder, [SPLIT], settings=replace(SETTINGS, lr=lr), draws=draws)
        diverged = False
    except PGNNError:
        diverged = True
    assert diverged == (lr > 1)
    assert torch.equal(torch.get_rng_state(), before)


def test_fit_does_not_read_the_global_random_state():
    model, decoder, draws = made("pgnn-e-2l")
    torch.manual_seed(99)
    found = fit(model, decoder, [SPLIT], settings=SETTINGS, draws=draws)
    assert numbers(found) == numbers(start("pgnn-e-2l")[1])


@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l"])
def test_fit_drawn_ahead_gives_the_same_numbers(name, num_threads):
    num_threads(1)
    one, found_one = start(name)
    num_threads(2)
    two, found_two = start(name)
    assert numbers(found_one) == numbers(found_two)
    assert same_state(one, two)


@pytest.mark.parametrize("name", NAMES[:3])
def test_positions_drawn_at_once_give_the_same_numbers_as_step_by_step(name, monkeypatch):
    splits = [split_links(communities(3, 4, rng=seed), rng=seed) for seed in range(3)]
    options = {"splits": splits, "settings": replace(SETTINGS, batch_graphs=2)}
    blocks = []
    draw = _Run._draw
    monkeypatch.setattr(
        _Run, "_draw", lambda self, block: blocks.append(len(block)) or draw(self, block)
    )
    at_once, fitted = start(name, **options)
    assert max(blocks) > 1
    monkeypatch.setattr("pgnn.training.fit.SERIAL_PAIRS", 1)
    blocks.clear()
    stepwise, expected = start(name, **options)
    assert max(blocks) == 1
    assert numbers(fitted) == numbers(expected)
    assert same_state(at_once, stepwise)


# ---------------------------------------------------------------------- which state, and when


@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
def test_fit_leaves_the_state_that_was_best_on_validation_pairs(name):
    chosen = replace(SETTINGS, epochs=20, lr=0.05)
    run = start_by_hand(name, settings=chosen)
    states = []
    run.train(None, lambda _: states.append([p.detach().clone() for p in run.modules.parameters()]))
    judged = {e.epoch: e.val_auc for e in run.fit.history if e.val_auc is not None}
    best = max(judged, key=judged.get)  # the first of equals
    assert (run.fit.best_epoch, run.fit.val_auc) == (best, judged[best])
    assert best < 20
    held = list(run.modules.parameters())
    assert all(map(torch.equal, held, states[best - 1]))
    assert not all(map(torch.equal, held, states[-1]))
    run.epoch = best  # the anchors that it was judged by
    assert run._auc("val", 1)[0] == run.fit.val_auc
    auc, scores = run._auc("test", 1)
    assert (auc, scores.tolist()) == (run.fit.test_auc, run.fit.test_scores)


@pytest.mark.parametrize(("epochs", "every"), [(9, 4), (8, 4), (3, 1), (2, 5)])
def test_fit_judges_every_few_epochs_and_the_last(epochs, every):
    _, found = start(settings=FitSettings(epochs=epochs, eval_every=every))
    judged = [e.epoch for e in found.history if e.val_auc is not None]
    assert judged == sorted({*range(every, epochs + 1, every), epochs})
    assert [e.epoch for e in found.history] == list(range(1, epochs + 1))
    assert all(math.isfinite(e.loss) for e in found.history)


def test_fit_calls_progress_with_each_record():
    seen = []
    _, found = start(progress=seen.append)
    assert seen == found.history


def test_fit_stops_when_patience_ends():
    # With a rate of next to nothing the first evaluation stays the best.
    chosen = FitSettings(epochs=50, eval_every=2, patience=3, lr=1e-12, weight_decay=0)
    _, found = start("gcn", settings=chosen)
    assert (found.best_epoch, len(found.history), found.stopped_early) == (2, 8, True)
    _, patient = start("gcn", settings=replace(chosen, patience=None))
    assert (len(patient.history), patient.stopped_early) == (50, False)


def test_fit_takes_a_tenth_of_the_rate_after_the_drop():
    run = start_by_hand(settings=replace(SETTINGS, epochs=6, lr=0.02, lr_drop=4))
    rates = []
    step = run.optimizer.step
    run.optimizer.step = lambda rate: (rates.append(rate), step(rate))
    run.train(None, None)
    assert rates == [0.02] * 4 + [0.002] * 2


def test_fit_scores_max_pairs_drawn_anew_each_step():
    model, decoder, draws = made("pgnn-e-2l")
    scored = []
    loss = decoder.loss
    decoder.loss = lambda z, pairs, *rest: (scored.append(pairs.tolist()), loss(z, pairs, *rest))[1]
    fit(model, decoder, [SPLIT], settings=replace(SETTINGS, max_pairs=11), draws=draws)
    assert [len(pairs) for pairs in scored] == [11] * 8
    assert len({str(pairs) for pairs in scored}) == 8
    known = set(map(tuple, SPLIT.train.pairs.tolist()))
    assert all(tuple(pair) in known for pairs in scored for pair in pairs)


def test_fit_max_pairs_beyond_all_is_all():
    many = start(settings=replace(SETTINGS, max_pairs=10**6))
    assert numbers(many[1]) == numbers(start()[1])


def test_fit_averages_scores_over_eval_draws():
    run = start_by_hand(settings=replace(SETTINGS, eval_draws=3))
    run.train(None, None)
    batch, pairs = run.eval_batches[0], run.eval_pairs["test"][0]
    model, decoder = run.modules["model"].eval(), run.modules["decoder"].eval()
    seeds = [run._seed(Purpose.EVALUATION_ANCHORS, run.epoch, 0, draw) for draw in range(3)]
    rngs = [np.random.default_rng(seed) for seed in seeds]
    with torch.no_grad():
        scores = [decoder(model(batch.x, batch.draw(run.draws, r)), pairs.nodes) for r in rngs]
    assert not torch.equal(scores[0], scores[1])
    mean = torch.stack(scores).mean(0).numpy()
    assert run.fit.test_auc == pytest.approx(roc_auc(SPLIT.test.labels, mean))
    assert np.allclose(run.fit.test_scores, 3 * mean)  # sums rank alike


def test_fit_reuse_draw_judges_by_the_anchors_of_the_last_training_pass():
    model, decoder, draws = made("pgnn-e-2l")
    read = {True: [], False: []}
    model.register_forward_pre_hook(lambda m, given: read[m.training].append(given[1]))
    fit(model, decoder, [SPLIT], settings=replace(SETTINGS, reuse_draw=True), draws=draws)
    assert read[False]
    assert all(any(seen is drawn for drawn in read[True]) for seen in read[False])


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize("seed", range(3))
def test_fit_learns_communities_from_positions_and_not_from_structure(seed):
    splits = [split_pairs(communities(8, 8, rng=seed), rng=seed)]
    torch.manual_seed(seed)
    chosen = FitSettings(epochs=60, eval_every=10)
    position = fit(make_pgnn("pgnn-e-2l", 1), DistanceDecoder(), splits, settings=chosen,
                   draws=Draws(), seed=seed)  # fmt: skip
    structure = fit(make_baseline("gcn", 1), DistanceDecoder(), splits, settings=chosen, seed=seed)
    assert position.val_auc > 0.9
    assert structure.val_auc < 0.75
    assert position.history[-1].loss < 0.8 * position.history[0].loss


@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
def test_fit_trains_several_graphs_in_batches(name):
    graphs = [communities(3, n, rng=n) for n in (4, 5, 6, 7, 8, 9)]
    splits = make_splits(graphs, "pair", rng=0)
    run = start_by_hand(name, splits=splits, settings=replace(SETTINGS, batch_graphs=2))
    run.train(None, None)
    training = [split for split in splits if len(split.train)]
    assert [len(batch.sizes) for batch in run.train_batches] == [2, 2][: -(-len(training) // 2)]
    assert sum(len(batch.sizes) for batch in run.train_batches) == len(training)
    assert 0 <= run.fit.val_auc <= 1
    assert 0 <= run.fit.test_auc <= 1
    labels = [split.test.labels for split in splits if len(split.test)]
    groups = np.repeat(np.arange(len(labels)), [len(part) for part in labels])
    auc = roc_auc(np.concatenate(labels), np.array(run.fit.test_scores), groups=groups)
    assert auc == run.fit.test_auc  # scores are in the order of the splits
    orders = {tuple(run._order(epoch)) for epoch in range(20)}
    assert orders == {(0, 1), (1, 0)}


def test_fit_computes_without_denormals_and_gives_them_back():
    """Weights that only decay end there, and would slow training down from epoch to epoch."""

    def product() -> float:
        return float(torch.full((), 1e-20) * 1e-20)

    meanwhile: list[float] = []
    start("gcn", progress=lambda _: meanwhile.append(product()))
    assert meanwhile == [0.0] * SETTINGS.epochs
    assert product() > 0


# ---------------------------------------------------------------------- leaks


@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
def test_fit_learns_nothing_from_held_out_pairs(name):
    """Judged once, at the end, so that held-out pairs choose nothing: weights do not know them."""
    swapped = Split(SPLIT.graph, SPLIT.train, SPLIT.test, SPLIT.val)
    turned = Split(
        SPLIT.graph, SPLIT.train, PairSet(SPLIT.val.pairs, ~SPLIT.val.labels), SPLIT.test
    )
    once = replace(SETTINGS, eval_every=8)
    first, found = start(name, settings=once)
    for split in (swapped, turned):
        other, found_other = start(name, splits=[split], settings=once)
        assert same_state(first, other)
        assert [e.loss for e in found.history] == [e.loss for e in found_other.history]
    assert found_other.val_auc == pytest.approx(1 - found.val_auc)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("x", "settings"),
    [(1e38, SETTINGS), (1.0, replace(SETTINGS, lr=1e30))],
    ids=["features", "rate"],
)
def test_fit_loss_that_is_not_finite_names_epoch_and_remedy(x, settings):
    graph = replace(SPLIT.graph, x=np.full((20, 1), x, dtype=np.float32))
    model, _, draws = made("pgnn-e-2l")
    with pytest.raises(PGNNError, match=r"(nan|inf) in epoch \d; use a smaller .* scale the feat"):
        fit(model, DotDecoder(), [replace(SPLIT, graph=graph)], settings=settings, draws=draws)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (replace(SPLIT, train=NONE), "no training pairs"),
        (replace(SPLIT, val=NONE), "no validation pairs"),
    ],
)
def test_fit_without_pairs_says_which_are_missing(split, message):
    with pytest.raises(PGNNError, match=message):
        start(splits=[split])


def test_fit_refuses_a_seed_that_is_none():
    with pytest.raises(PGNNError, match="seed must be an integer of at least 0"):
        start(seed=-1)


def test_fit_without_test_pairs_has_no_test_auc():
    _, found = start(splits=[replace(SPLIT, test=NONE)], settings=replace(SETTINGS, eval_draws=2))
    assert found.test_auc is None
    assert found.test_scores is None
    assert all(record.test_auc is None for record in found.history)


@pytest.mark.parametrize("name", ["sage", "gat"])
def test_fit_does_not_rank_by_the_rounding_of_equal_embeddings(name):
    # Nodes without features and with neighbours all look the same to these networks.
    split = split_links(communities(6, 8, rng=0), rng=0)
    assert split.graph.degrees.min() > 0
    _, found = start(name, splits=(split,))
    assert (found.val_auc, found.test_auc) == (0.5, 0.5)
