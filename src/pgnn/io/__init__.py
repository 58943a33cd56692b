"""Files in and out: graphs, node tables and pairs to read; embeddings and scores to write."""

from pgnn.io.events import Events as Events
from pgnn.io.events import read_events as read_events
from pgnn.io.graph_files import HowToRead as HowToRead
from pgnn.io.graph_files import read_graph as read_graph
from pgnn.io.graph_files import read_graph_with_notes as read_graph_with_notes
from pgnn.io.limits import read_file as read_file
from pgnn.io.node_tables import FeatureEncoding as FeatureEncoding
from pgnn.io.node_tables import sha256_of as sha256_of
from pgnn.io.notes import ReadNotes as ReadNotes
from pgnn.io.pair_files import PairTable as PairTable
from pgnn.io.pair_files import find_nodes as find_nodes
from pgnn.io.pair_files import read_pair_table as read_pair_table
from pgnn.io.pair_files import read_pairs as read_pairs
from pgnn.io.tables import Header as Header
from pgnn.io.tables import format_suffix as format_suffix
from pgnn.io.tables import has_column as has_column
from pgnn.io.write import BusyError as BusyError
from pgnn.io.write import check_place as check_place
from pgnn.io.write import check_writable as check_writable
from pgnn.io.write import id_array as id_array
from pgnn.io.write import make_folder as make_folder
from pgnn.io.write import open_atomic as open_atomic
from pgnn.io.write import write_columns as write_columns
from pgnn.io.write import write_embeddings as write_embeddings
from pgnn.io.write import write_scores as write_scores
