"""What rounding alone is worth: the AUC of networks to which all nodes look the same.

`python benchmarks/rounding.py` trains GraphSAGE and GAT on the Communities links of the paper,
whose nodes have no features, and scores the same test pairs three times: by the embeddings as they
are, in double precision, and with differences that are rounding counted as ties, as
`pgnn.training.fit.fit` does. It writes results/rounding.json.
"""

from __future__ import annotations

import numpy as np
import torch
from result_files import write_rows

from pgnn.evaluation.metrics import roc_auc, without_rounding
from pgnn.experiments.config import setup_of
from pgnn.experiments.run import Job, load_problem, recipe_of
from pgnn.training.batches import Batch
from pgnn.training.learner import Learner
from pgnn.training.pipeline import train


def main() -> None:
    """Print and write one row per network."""
    rows = []
    for name in ("sage", "gat"):
        job, setup = Job("communities", name, "paper", 0), setup_of("communities", "paper", name)
        problem = load_problem(job, setup)
        learner = train(problem, recipe_of(job, setup, 100), heuristics=False).learner
        assert isinstance(learner, Learner)
        (split,) = problem.splits
        batch, labels = Batch([split]), split.test.labels
        pairs = torch.from_numpy(np.array(split.test.pairs))
        model, decoder = learner.model.eval(), learner.decoder
        with torch.no_grad():
            single = model(batch.x, batch.edge_index)
            scores = decoder(single, pairs).numpy()
            double = model.double()(batch.x.double(), batch.edge_index)
            precise = decoder.double()(double, pairs).numpy()
        ties = without_rounding(scores, np.zeros(len(scores), dtype=np.int64))
        row = {
            "model": name,
            "embeddings_differ_by": float(single.std(0).max()),
            "in_double_by": float(double.std(0).max()),
            "auc": roc_auc(labels, scores),
            "auc_in_double": roc_auc(labels, precise),
            "auc_without_rounding": roc_auc(labels, ties),
        }
        print(*row.values(), flush=True)
        rows.append(row)
    write_rows("rounding", rows)


if __name__ == "__main__":
    main()
