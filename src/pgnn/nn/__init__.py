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
from pgnn.nn.gate import Gate as Gate
from pgnn.nn.layer import PGNNLayer as PGNNLayer
from pgnn.nn.model import PGNN as PGNN
from pgnn.nn.positions import Positions as Positions
from pgnn.nn.presets import PRESETS as PRESETS
from pgnn.nn.presets import Preset as Preset
from pgnn.nn.presets import make_pgnn as make_pgnn
