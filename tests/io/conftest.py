"""Files of a test's own folder."""

import gzip

import polars as pl
import pytest


@pytest.fixture
def write(tmp_path):
    """Write a file of the test's folder: text, bytes, or a dict of columns for parquet."""

    def write_file(name, content):
        path = tmp_path / name
        if isinstance(content, dict):
            pl.DataFrame(content).write_parquet(path)
            return path
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file
