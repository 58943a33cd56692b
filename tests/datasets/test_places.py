"""Where files are looked for, and what happens when they are nowhere."""

import socket
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from pgnn import PGNNError
from pgnn.datasets import places as _places


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
