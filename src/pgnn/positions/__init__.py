"""Where nodes are: anchor-sets, and how far every node is from each of them."""

from pgnn.positions.anchors import AnchorSets as AnchorSets
from pgnn.positions.anchors import sample_anchor_sets as sample_anchor_sets
from pgnn.positions.bourgain import Distortion as Distortion
from pgnn.positions.bourgain import bourgain_embedding as bourgain_embedding
from pgnn.positions.bourgain import distortion as distortion
from pgnn.positions.distances import AnchorDistances as AnchorDistances
from pgnn.positions.distances import MemberDistances as MemberDistances
from pgnn.positions.distances import anchor_distances as anchor_distances
from pgnn.positions.ppr import anchor_ppr as anchor_ppr
