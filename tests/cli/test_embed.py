"""`pgnn embed`."""

import numpy as np
import polars as pl
import pytest


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_embeddings_have_the_ids_of_the_file(trained, command, suffix):
    import pgnn
    from pgnn.training.runs import load_run

    assert command("embed", "run", "edges.csv", "-o", f"z{suffix}").code == 0
    path = trained / f"z{suffix}"
    if suffix == ".npz":
        with np.load(path) as file:
            ids, values = file["ids"].tolist(), file["embeddings"]
    else:
        table = pl.read_parquet(path) if suffix == ".parquet" else pl.read_csv(path)
        ids, values = table["id"].to_list(), table.drop("id").to_numpy()
    graph = pgnn.read_graph(trained / "edges.csv")
    assert ids == graph.node_ids.tolist()
    wanted = load_run(trained / "run").learner.embed(graph)
    np.testing.assert_allclose(values, wanted, rtol=1e-5)
