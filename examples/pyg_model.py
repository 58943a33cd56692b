"""A P-GNN layer inside an ordinary PyTorch Geometric model.

Message passing sees what a node's neighbourhood looks like, not where it is: with the same features
on all nodes, two corners of a grid get the same embedding, and a link between them looks as likely
as a link within one. This script predicts the missing links of a ring of cliques and of a grid,
with two GraphSAGE convolutions, and with the same convolutions and one `PGNNLayer` beside them.

Three things make the difference:

1. `AddAnchorDistances` draws anchor-sets and stores how far each node is from them. It is applied
   after the split, whose `edge_index` has no held-out link, so no answer leaks into the distances.
   Applied once an epoch, it draws new sets, which the model cannot learn by heart.
2. `positions_of(data)` reads them, of one graph or of a batch.
3. `PGNNLayer` returns z, one number a node and anchor-set, which says where a node is, and h, which
   would be the input of a next layer. Here z stands beside what the convolutions found.

Run it with `python examples/pyg_model.py`.
"""

from __future__ import annotations

import networkx as nx
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch_geometric import seed_everything
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import from_networkx, negative_sampling

from pgnn.nn import PGNNLayer
from pgnn.transforms import AddAnchorDistances, positions_of


class Encoder(nn.Module):
    """Two convolutions; then, if asked for, the position of each node beside its embedding."""

    def __init__(self, in_channels: int, hidden_channels: int, *, with_positions: bool) -> None:
        super().__init__()
        self.first = SAGEConv(in_channels, hidden_channels)
        self.second = SAGEConv(hidden_channels, hidden_channels)
        self.position = None
        if with_positions:
            self.position = PGNNLayer(hidden_channels, hidden_channels, message="released")

    def forward(self, data: Data) -> Tensor:
        """Return embeddings `[n, hidden]`, or `[n, hidden + k]` with positions."""
        hidden = self.first(data.x, data.edge_index).relu()
        structure: Tensor = self.second(hidden, data.edge_index)
        if self.position is None:
            return structure
        z, _ = self.position(hidden, positions_of(data))
        # What z has in common adds the same to every pair's score: differences say where a node is.
        return torch.cat([structure, z - z.mean(0)], dim=1)


def scores(embedding: Tensor, pairs: Tensor) -> Tensor:
    """Return the dot product of each pair of nodes `[2, m]`."""
    source, target = pairs
    return (embedding[source] * embedding[target]).sum(1)


@torch.no_grad()
def auc(model: nn.Module, data: Data) -> float:
    """Return the area under the ROC curve of the split's own pairs, positive and negative."""
    model.eval()
    found = scores(model(data), data.edge_label_index)
    return float(roc_auc_score(data.edge_label.numpy(), found.numpy()))


def fit(model: nn.Module, train: Data, *, draw: AddAnchorDistances, epochs: int) -> None:
    """Train on the split's links against as many random pairs that are none."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    links = train.edge_label_index
    for _ in range(epochs):
        model.train()
        data = draw(train)  # new anchor-sets
        others = negative_sampling(data.edge_index, data.num_nodes, links.shape[1])
        logits = scores(model(data), torch.cat([links, others], dim=1))
        labels = torch.cat([torch.ones(links.shape[1]), torch.zeros(others.shape[1])])
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def compare(graph: nx.Graph, *, epochs: int, seed: int) -> dict[str, float]:
    """Return the test AUC of both models on one graph, before and after training."""
    data = from_networkx(nx.convert_node_labels_to_integers(graph))
    data.x = torch.ones(data.num_nodes, 1)  # nothing to tell nodes apart by
    split = RandomLinkSplit(
        num_val=0.0,
        num_test=0.2,
        is_undirected=True,
        add_negative_train_samples=False,
    )
    train, _, test = split(data)
    draw = AddAnchorDistances(num_sets=64, rng=seed)
    test = draw(test)  # its edge_index holds the training links only
    result = {}
    for name, with_positions in (("SAGE", False), ("SAGE + PGNNLayer", True)):
        model = Encoder(1, 32, with_positions=with_positions)
        result[f"{name}, before"] = auc(model, test)
        fit(model, train, draw=draw, epochs=epochs)
        result[f"{name}, after"] = auc(model, test)
    return result


def main(epochs: int = 80, seed: int = 0) -> dict[str, float]:
    """Print and return the test AUC of each model on each graph."""
    graphs = {
        "20 cliques of 8": nx.connected_caveman_graph(20, 8),
        "grid 16 x 16": nx.grid_2d_graph(16, 16),
    }
    found = {}
    for name, graph in graphs.items():
        print(f"{name}: test AUC of links")
        # PyG draws pairs by Python's global generator, and torch weights by its own.
        seed_everything(seed)
        for model, value in compare(graph, epochs=epochs, seed=seed).items():
            print(f"  {model:<26} {value:.3f}")
            found[f"{name}: {model}"] = value
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)  # graphs this small only lose time by sharing
    main()
