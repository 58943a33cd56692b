"""Seeds by purpose: every stream of random numbers of a run comes from one seed and its purpose."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream of random numbers is for. The numbers are fixed: results depend on them."""

    TRAINING_ANCHORS = 0
    EVALUATION_ANCHORS = 1
    DROPOUT = 2
    BATCH_ORDER = 3
    SAMPLED_PAIRS = 4
    SPLIT = 11
    FOLDS = 12
    ASKED_ANCHORS = 13
    NEGATIVES = 14
    HEAD = 15


def seed_of(seed: int, purpose: Purpose, *numbers: int) -> int:
    """Return a seed of its own for each purpose, and within it for each epoch, step or draw.

    Example:
        >>> seed_of(0, Purpose.DROPOUT, 1) == seed_of(0, Purpose.DROPOUT, 1)
        True
        >>> seed_of(0, Purpose.DROPOUT, 1) == seed_of(0, Purpose.DROPOUT, 2)
        False
    """
    return int(np.random.SeedSequence([seed, purpose, *numbers]).generate_state(1, np.uint64)[0])


def generator_of(seed: int, purpose: Purpose, *numbers: int) -> np.random.Generator:
    """Return a generator of its own for each purpose."""
    return np.random.default_rng(seed_of(seed, purpose, *numbers))
