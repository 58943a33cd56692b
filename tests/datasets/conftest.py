"""No test here touches the network, the user's cache or the user's PGNN_DATA unless it asks to."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pgnn.datasets import places as _places

REAL_FETCH = _places._fetch
REAL_DATA = Path(__file__).parents[3] / "shared" / "data"


def _offline(url):
    raise OSError("the tests are offline")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder that downloads would go to; it does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("PGNN_DATA", raising=False)
    monkeypatch.setattr(_places, "_fetch", _offline)
    return tmp_path / "xdg" / "pgnn" / "datasets"


@pytest.fixture
def real_data():
    """The folder with the real files, which only some machines have."""
    if not REAL_DATA.is_dir():
        pytest.skip("needs the real data sets in ../shared/data, next to the project")
    return REAL_DATA


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder, and the address at which a local server offers its files; fetching works."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setattr(_places, "_fetch", REAL_FETCH)
    monkeypatch.setenv("no_proxy", "*")
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield folder, f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()
