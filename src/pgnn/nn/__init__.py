"""Layers, models, baselines and decoders on torch tensors; nothing here knows graph code."""

from pgnn.nn.baselines import GAT as GAT
from pgnn.nn.baselines import GCN as GCN
from pgnn.nn.baselines import GIN as GIN
from pgnn.nn.baselines import MLP as MLP
from pgnn.nn.baselines import GraphSAGE as GraphSAGE
from pgnn.nn.baselines import make_baseline as make_baseline
from pgnn.nn.decoder import DistanceDecoder as DistanceDecoder
from pgnn.nn.decoder import DotDecoder as DotDecoder
from pgnn.nn.decoder import PairDecoder as PairDecoder
from pgnn.nn.decoder import PairMLPDecoder as PairMLPDecoder
from pgnn.nn.decoder import ScaledDotDecoder as ScaledDotDecoder
