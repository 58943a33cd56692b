"""The door: names, where files are looked for, what `describe` knows without them."""

import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest

import pgnn
from pgnn import PGNNError, datasets
from pgnn.datasets import DatasetInfo, describe, load
from pgnn.datasets import places as _places


def test_load_gives_generated_data_sets():
    assert load("grid") == [datasets.grid()]
    assert load("communities", seed=4) == [datasets.communities(rng=4)]
    assert load("communities") == load("communities", seed=0)
    assert load("communities") != load("communities", seed=1)
    np.testing.assert_array_equal(load("grid", standardize="feature")[0].x, np.ones((400, 1)))


@pytest.mark.parametrize("name", ["cora", "Grid", "", None])
def test_load_lists_the_names_for_an_unknown_one(name):
    with pytest.raises(PGNNError, match="the names are grid, communities, ppi, email, protein"):
        load(name)


def test_load_refuses_an_unknown_way_to_standardize():
    with pytest.raises(PGNNError, match="standardize must be 'feature', 'node' or None"):
        load("grid", standardize="column")


@pytest.mark.parametrize("name", datasets.NAMES)
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
    assert [row.name for row in rows] == list(datasets.NAMES)
    assert [row.present for row in rows] == [True, True, False, False, False]
    assert all(isinstance(row, DatasetInfo) and row.source and row.tasks for row in rows)


def test_describe_needs_no_heavy_library():
    code = """
import sys, pgnn
pgnn.datasets.describe()
heavy = ("torch", "torch_geometric", "networkx", "numba", "polars", "urllib.request", "sklearn")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_package_offers_datasets():
    assert pgnn.datasets is datasets
    assert "datasets" in dir(pgnn)


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(folder))
    return folder


FILES = (
    _places.RemoteFile("d/one.txt", "https://example.org/one.gz", lambda data, source: None),
    _places.RemoteFile("d/two.txt", "https://example.org/two.txt", lambda data, source: None),
)
NAMES = [file.path for file in FILES]


def test_argument_comes_before_environment_before_cache(tmp_path, cache, monkeypatch):
    make(cache, *NAMES)
    assert _places.obtain(FILES, None) == [cache / name for name in NAMES]
    environment = make(tmp_path / "environment", *NAMES)
    monkeypatch.setenv("PGNN_DATA", str(environment))
    assert _places.obtain(FILES, None) == [environment / name for name in NAMES]
    argument = make(tmp_path / "argument", *NAMES)
    assert _places.obtain(FILES, argument) == [argument / name for name in NAMES]
    assert _places.obtain(FILES, str(argument)) == [argument / name for name in NAMES]


def test_files_of_two_folders_are_not_mixed(tmp_path, cache):
    make(cache, *NAMES)
    half = make(tmp_path / "half", NAMES[0])
    assert _places.obtain(FILES, half) == [cache / name for name in NAMES]


def test_absent_files_are_one_error_that_says_what_to_do(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PGNN_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(PGNNError) as caught:
        _places.obtain(FILES, tmp_path)
    message = str(caught.value)
    assert message.startswith(
        f"one.txt was not found in {tmp_path / 'd'}, {tmp_path / 'elsewhere' / 'd'}, {cache / 'd'}"
    )
    assert "from https://example.org/one.gz failed (the tests are offline)" in message
    assert f"https://example.org/one.gz (unpacked) as {cache / 'd' / 'one.txt'}" in message
    assert f"https://example.org/two.txt as {cache / 'd' / 'two.txt'}" in message
    assert message.endswith("set PGNN_DATA to a folder that has d/one.txt and d/two.txt")
    assert not cache.exists()


@pytest.mark.parametrize("name", ["ppi", "email", "protein"])
def test_real_sources_are_offered_over_https(name):
    with pytest.raises(PGNNError, match=rf"downloading it from https://.* folder that has {name}/"):
        load(name)


def test_data_dir_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(PGNNError, match="data_dir must be a folder that exists"):
        load("email", data_dir=tmp_path / "nowhere")


def test_download_cut_short_is_an_error(server, cache, monkeypatch):
    folder, address = server
    (folder / "one").write_text("x" * 1000)

    def announce_more(self, keyword, value):
        real(self, keyword, "2000" if keyword == "Content-Length" else value)

    real = BaseHTTPRequestHandler.send_header
    monkeypatch.setattr(BaseHTTPRequestHandler, "send_header", announce_more)
    file = _places.RemoteFile("d/one.txt", f"{address}/one", lambda data, source: None)
    with pytest.raises(PGNNError, match="IncompleteRead"):
        _places.obtain([file], None)
    assert not cache.exists()


def test_silent_server_is_given_up(server, monkeypatch):
    monkeypatch.setattr(_places, "TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/one"
        with pytest.raises(PGNNError, match="timed out"):
            _places.obtain(
                [_places.RemoteFile("d/one.txt", address, lambda data, source: None)], None
            )


def test_cache_that_cannot_be_made_is_an_error(server, tmp_path, monkeypatch):
    folder, address = server
    (folder / "one").write_text("x")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(PGNNError, match=r"cannot be made .* set XDG_CACHE_HOME"):
        _places.obtain(
            [_places.RemoteFile("d/one.txt", f"{address}/one", lambda data, source: None)], None
        )


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache"),
        ("darwin", {}, "home/Library/Caches"),
        ("win32", {}, "home/AppData/Local"),
        ("win32", {"LOCALAPPDATA": "local"}, "local"),
        ("darwin", {"XDG_CACHE_HOME": "xdg"}, "xdg"),
    ],
)
def test_cache_is_where_the_system_keeps_it(monkeypatch, platform, variables, expected):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _places.cache_folder() == Path(expected) / "pgnn" / "datasets"
