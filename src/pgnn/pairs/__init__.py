"""Pairs of nodes: how close two nodes are, described without their own edge."""

from pgnn.pairs.proximities import PairProximities as PairProximities
from pgnn.pairs.proximities import pair_proximities as pair_proximities
from pgnn.pairs.proximities import proximity_columns as proximity_columns
