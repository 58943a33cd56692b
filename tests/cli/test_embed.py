"""`pgnn embed`."""

import sys

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


def rows_by_id(path):
    table = pl.read_parquet(path)
    return dict(zip(table["id"].to_list(), table.drop("id").to_numpy(), strict=True))


@pytest.mark.parametrize("run", ["run", "teams"])
def test_nodes_stay_put_when_the_file_grows(trained, command, run):
    edges = (trained / "edges.csv").read_text()
    first = edges.splitlines()[1].split(",")[0]
    (trained / "grown.csv").write_text(edges.rstrip("\n") + f"\nnewcomer,{first}\n")
    table = ["--features", "nodes.csv"] if run == "teams" else []
    assert command("embed", run, "edges.csv", *table, "-o", "before.parquet").code == 0
    if table:
        nodes = (trained / "nodes.csv").read_text().splitlines()
        newcomer = ",".join(["newcomer", *nodes[1].split(",")[1:]])
        (trained / "nodes.csv").write_text("\n".join([*nodes, newcomer]) + "\n")
    done = command("embed", run, "grown.csv", *table, "-o", "after.parquet")
    assert done.code == 0, done.stderr
    assert "those of the run's graph; 1 node of" in done.stderr
    before, after = rows_by_id("before.parquet"), rows_by_id("after.parquet")
    assert set(after) - set(before) == {"newcomer"}
    kept = np.array([after[name] for name in before])
    assert np.corrcoef(np.array(list(before.values())).ravel(), kept.ravel())[0, 1] > 0.99


def test_json_says_which_anchors_were_used(trained, command):
    import json

    for flags, used in (([], "run"), (["--anchors", "fresh"], "fresh"), (["--draw", 3], "fresh")):
        done = command("embed", "run", "edges.csv", "-o", "z.csv", "--json", *flags)
        assert json.loads(done.stdout)["anchors"] == used


def test_anchors_of_the_run_need_its_nodes(trained, command):
    (trained / "other.csv").write_text("source,target\nx,y\ny,z\n")
    done = command("embed", "run", "other.csv", "-o", "z.csv", "--anchors", "run")
    assert done.code == 2
    assert "none of the nodes that the run was trained on; use --anchors fresh" in done.stderr
    done = command("embed", "run", "other.csv", "-o", "z.csv")
    assert done.code == 0
    assert "drawn for this graph" in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_a_limit_of_memory_changes_no_number(trained, command):
    assert command("embed", "run", "edges.csv", "-o", "free.npz").code == 0
    done = command("embed", "run", "edges.csv", "-o", "limited.npz", "--memory", "4GB")
    assert done.code == 0, done.stderr
    assert (trained / "limited.npz").read_bytes() == (trained / "free.npz").read_bytes()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("lots", "pgnn: --memory must be a size such as 4GB, 500MB or 2GiB (got 'lots')"),
        ("10MB", "pgnn: --memory is too small: Python alone needs "),
    ],
)
def test_a_limit_that_cannot_be_is_one_line(trained, command, size, message):
    done = command("embed", "run", "edges.csv", "-o", "z.npz", "--memory", size)
    assert done.code == 2
    assert " ".join(done.stderr.split()).startswith(message)
    assert len(done.stderr.strip().splitlines()) == 1
