import numpy as np
import pytest
import torch

from pgnn import PGNNError
from pgnn.nn.heads import PairHeads
from pgnn.training import fit_heads as module
from pgnn.training.fit_heads import HeadData, fit_heads
from pgnn.training.recipe import Recipe

RECIPE = Recipe(epochs=3, hidden_channels=8).resolved(10)


def data(count=400, graphs=1, seed=0, **changes):
    """Links have a larger first column."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(count, 3)).astype(np.float32)
    positive = np.flatnonzero(columns[:, 0] + 0.3 * rng.normal(size=count) > 0.8)
    negative = np.setdiff1d(np.arange(count), positive)
    none = np.zeros(count, dtype=np.float32)
    parts = {
        "columns": columns,
        "ends": np.zeros((count, 2), dtype=np.int64),
        "features": None,
        "positive": positive,
        "negative": negative,
        "uniform": negative,
        "log_density": none,
        "log_missing": np.full_like(none, -np.inf),
        "graph": np.sort(np.arange(count) % graphs),
        "validation": np.zeros(count, dtype=bool),
    }
    return HeadData(**{**parts, **changes})


def heads(members=4):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        return PairHeads(3, num_members=members, width=8)


def test_what_tells_links_apart_is_learnt():
    result = fit_heads(heads(), data(), Recipe(epochs=12, hidden_channels=8).resolved(10))
    assert result.fit.val_auc > 0.93
    assert len(result.positive) == len(data().positive)
    assert result.positive.mean() > result.negative.mean() + 1


@pytest.mark.parametrize("graphs", [1, 3, 20])
def test_members_never_see_their_own_fold(graphs):
    made = data(graphs=graphs)
    folds = module._Folds.of(made, 4, seed=0)
    num_folds = min(4, graphs) if graphs > 1 else 4
    for member, (links, others) in enumerate(folds.pools):
        fold = member % num_folds
        own_links = made.positive[folds.of_positive == fold]
        assert not np.isin(links, own_links).any()
        assert not (folds.of_row[others] == fold).any()
        held = folds.held[member]
        assert np.isin(held[: folds.held_sizes[0]], own_links).all()
        assert (folds.of_row[held[folds.held_sizes[0] :]] == fold).all()
        if graphs > 1:
            assert not np.isin(made.graph[links], made.graph[own_links]).any()


def test_out_of_fold_logits_are_of_the_member_that_did_not_learn():
    made, model = data(), heads()
    result = fit_heads(model, made, RECIPE)
    folds = module._Folds.of(made, 4, RECIPE.seed)
    with torch.no_grad():
        logits = model(torch.from_numpy(made.columns)).numpy()
    wanted = logits[folds.of_positive, made.positive]
    np.testing.assert_allclose(result.positive, wanted, atol=1e-5)


def test_densities_of_proposals_are_undone():
    """Negatives drawn three times as often must not look less like links."""
    rng = np.random.default_rng(0)
    columns = rng.integers(2, size=(6000, 3)).astype(np.float32)
    positive = np.arange(2000)
    often = columns[2000:, 1] == 1
    keep = np.concatenate([np.ones(2000, bool), often | (rng.random(4000) < 1 / 3)])
    rows = np.flatnonzero(keep)
    columns = columns[rows]
    density = np.where(columns[:, 1] == 1, np.log(1.5), np.log(0.5)).astype(np.float32)
    made = data(
        count=len(rows),
        columns=columns,
        positive=positive,
        negative=np.arange(2000, len(rows)),
        uniform=np.arange(2000, len(rows)),
        log_density=density,
    )
    recipe = Recipe(epochs=12, hidden_channels=8).resolved(10)
    model = heads()
    fit_heads(model, made, recipe)
    probe = torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    with torch.no_grad():
        low, high = model(probe).mean(dim=0).tolist()
    assert abs(high - low) < 0.25  # without the correction about log 3


def test_missing_links_among_negatives_lower_their_weight():
    recipe = Recipe(epochs=12, hidden_channels=8).resolved(10)
    known = fit_heads(heads(), data(), recipe)
    unsure = data(log_missing=np.full(400, np.log(0.3), dtype=np.float32))
    sure = fit_heads(heads(), unsure, recipe)
    assert sure.positive.mean() > known.positive.mean()


def test_too_few_pairs_are_refused():
    with pytest.raises(PGNNError, match="at least two positive and two negative pairs"):
        fit_heads(heads(), data(positive=np.array([0])), RECIPE)


def test_a_loss_that_is_not_finite_is_refused():
    broken = data()
    broken.columns[0] = np.nan
    with pytest.raises(PGNNError, match="use a smaller learning rate"):
        fit_heads(heads(), broken, RECIPE)
