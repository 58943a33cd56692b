"""Training edges hidden in folds, so that they are learnt as missing links are asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgnn.errors import PGNNError
from pgnn.pairs.codes import as_pairs, unordered_codes
from pgnn.pairs.sets import PairSet, Split


def hide_in_folds(split: Split, num_folds: int, *, rng: int | np.random.Generator) -> list[Split]:
    """Cut the training pairs of a split for links into folds, each hidden from its own graph.

    A model that sees an edge can tell it by its two ends being neighbours, and held-out edges never
    are. So the edges of a fold are learnt from the graph of the other folds' edges.

    Args:
        split: What `split_links` made.
        num_folds: Number of folds, at least 2.
        rng: Seed or generator.

    Returns:
        First the split without its training pairs, to choose and judge by; then a split a fold,
        with training pairs alone.

    Raises:
        PGNNError: If there are fewer joined pairs of nodes than folds.

    Example:
        >>> from pgnn import Graph
        >>> from pgnn.training.splits import split_links
        >>> ring = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
        >>> parts = hide_in_folds(split_links(ring, rng=0), 4, rng=0)
        >>> [part.graph.num_edges for part in parts], parts[1].train
        ([8, 6, 6, 6, 6], PairSet(positives=2, negatives=2))
    """
    generator = np.random.default_rng(rng)
    edges = as_pairs(split.graph.edges())
    joined, which = np.unique(unordered_codes(edges), return_inverse=True)
    if num_folds < 2 or len(joined) < num_folds:
        raise PGNNError(
            f"the number of folds must be at least 2 and at most the number of training edges, "
            f"{len(joined)} (got {num_folds})"
        )
    # Both directions of a pair of nodes go to the same fold.
    fold = generator.permutation(np.arange(len(joined)) % num_folds)[which]
    negatives = split.train.negatives
    negative_fold = generator.permutation(np.arange(len(negatives)) % num_folds)
    none = PairSet(edges[:0], np.empty(0, dtype=bool))
    parts = [replace(split, train=none)]
    for number in range(num_folds):
        pairs = PairSet.join(edges[fold == number], negatives[negative_fold == number])
        parts.append(Split(split.graph.with_edges(fold != number), pairs, none, none))
    return parts
