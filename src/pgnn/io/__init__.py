"""Files in and out: graphs, node tables and pairs to read; embeddings and scores to write."""

from pgnn.io.files import id_array as id_array
from pgnn.io.files import read_graph as read_graph
from pgnn.io.files import write_embeddings as write_embeddings
from pgnn.io.files import write_scores as write_scores
