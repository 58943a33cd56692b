"""Files in and out: graphs, node tables and pairs to read; embeddings and scores to write."""

from pgnn.io.atomic import check_place as check_place
from pgnn.io.files import id_array as id_array
from pgnn.io.files import read_graph as read_graph
from pgnn.io.files import write_embeddings as write_embeddings
from pgnn.io.files import write_scores as write_scores
from pgnn.io.pair_files import find_nodes as find_nodes
from pgnn.io.pair_files import read_pairs as read_pairs
from pgnn.io.tables import format_suffix as format_suffix
from pgnn.io.write import check_writable as check_writable
