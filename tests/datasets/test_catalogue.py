"""The door: names, where files are looked for, what `describe` knows without them."""

import subprocess
import sys

import numpy as np
import pytest

import pgnn
from pgnn import PGNNError, datasets
from pgnn.datasets import DatasetInfo, catalogue, describe, load
from pgnn.names import DATASETS


def test_load_gives_generated_data_sets():
    assert load("grid") == [datasets.grid()]
    assert load("communities", seed=4) == [datasets.communities(rng=4)]
    assert load("communities") == load("communities", seed=0)
    assert load("communities") != load("communities", seed=1)
    np.testing.assert_array_equal(load("grid", standardize="feature")[0].x, np.ones((400, 1)))


@pytest.mark.parametrize("name", ["cora", "Grid", ""])
def test_load_lists_the_names_for_an_unknown_one(name):
    with pytest.raises(PGNNError, match="the names are grid, communities, ppi, email, protein"):
        load(name)


def test_load_refuses_an_unknown_way_to_standardize():
    with pytest.raises(PGNNError, match="standardize must be one of feature, node or None"):
        load("grid", standardize="column")


@pytest.mark.parametrize("name", DATASETS)
def test_load_agrees_with_describe(real_data, name):
    graphs = load(name, data_dir=real_data)
    row = next(row for row in describe(real_data) if row.name == name)
    assert row.present
    assert (row.graphs, row.nodes) == (len(graphs), sum(g.num_nodes for g in graphs))
    assert row.edges == sum(g.num_edges for g in graphs)
    assert {row.features} == {g.x.shape[1] for g in graphs}
    assert ("pair" in row.tasks) == all(g.y is not None for g in graphs)
    assert all(np.isfinite(g.x).all() for g in graphs)


def test_describe_without_data_knows_what_is_absent():
    rows = describe()
    assert [row.name for row in rows] == list(DATASETS)
    assert [row.present for row in rows] == [True, True, False, False, False]
    assert all(isinstance(row, DatasetInfo) and row.source and row.tasks for row in rows)


def test_describe_needs_no_heavy_library():
    code = """
import sys, pgnn
pgnn.datasets.describe()
heavy = ("torch", "torch_geometric", "networkx", "numba", "polars", "urllib.request", "sklearn")
print([name for name in heavy if name in sys.modules])
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"


def test_package_offers_datasets():
    assert pgnn.datasets is datasets
    assert "datasets" in dir(pgnn)


def test_data_dir_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(PGNNError, match="data_dir must be a folder that exists"):
        load("email", data_dir=tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["ppi", "email", "protein"])
def test_real_sources_are_offered_over_https(name):
    with pytest.raises(PGNNError, match=rf"downloading it from https://.* folder that has {name}/"):
        load(name)


def test_data_dir_is_named_as_the_parameter_that_it_is(tmp_path):
    with pytest.raises(PGNNError) as caught:
        describe(tmp_path / "nowhere")
    assert caught.value.worded({"data_dir": "--data-dir"}.get).startswith("--data-dir must be")


def test_the_catalogue_has_exactly_the_names_of_the_one_list():
    assert tuple(catalogue._CATALOGUE) == DATASETS
