"""The version is one string, which the package and its metadata share."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import pgnn
from pgnn import version

ROOT = Path(__file__).parents[1]


def test_version_is_of_the_package_and_well_formed():
    assert pgnn.__version__ == version.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|(a|b|rc)\d+)?", version.__version__)


def test_build_reads_the_version_from_its_file():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    path = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{version.__version__}"' in path.read_text(encoding="utf-8")


def test_installed_metadata_has_the_version():
    try:
        installed = metadata.version("position-gnn")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert installed == version.__version__


def test_citation_and_changelog_name_the_version():
    assert f"version: {version.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{version.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
