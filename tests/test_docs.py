"""The documentation builds without warnings or network, and what it shows is there."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer

from pgnn.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDED = ("mkdocs", "material", "mkdocstrings")
OFFLINE_BUILD = """
import socket, sys

def refuse(*args):
    raise OSError("the documentation must build without a network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(["build", "--strict", "--site-dir", sys.argv[1]])
"""


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-c", OFFLINE_BUILD, str(target)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    return target, built


# ---------------------------------------------------------------------- the site


def test_site_builds_without_warnings_or_network(site):
    target, built = site
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr + built.stdout
    assert (target / "index.html").exists()
    assert not list(target.rglob("*.py")), "scripts are not part of the site"


def test_site_fetches_nothing_from_other_hosts(site):
    target, _ = site
    pages = sorted(target.rglob("*.html"))
    assert len(pages) > 10
    loads = re.compile(
        r"<(script|link|img|iframe|source|video)\b[^>]*?\b(src|href)=[\"']?([^\"'\s>]+)"
    )
    for page in pages:
        text = page.read_text()
        found = [address for _, _, address in loads.findall(text)]
        assert found, page.name
        assert [a for a in found if re.match(r"(https?:)?//", a)] == [], page.name
        # The theme's script would load a library for diagrams, and for these alone.
        assert 'class="mermaid"' not in text, page.name
    for style in target.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text()), style.name


def test_site_has_every_file_its_pages_name(site):
    target, _ = site
    for page in target.rglob("*.html"):
        if page.name == "404.html":  # has absolute addresses, since it is shown anywhere
            continue
        for address in re.findall(r"\b(?:src|href)=\"([^\"#?]+)", page.read_text()):
            if not re.match(r"\w+:", address):
                assert (page.parent / address).resolve().exists(), (page.name, address)


# ---------------------------------------------------------------------- the pages


def links_of(text):
    """Find the targets of links and pictures, in Markdown and in HTML."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = re.findall(r"\]\(\s*<?([^)\s>]+)", text)
    return found + re.findall(r"\b(?:src|href)=\"([^\"]+)\"", text)


def test_links_of_finds_links_and_pictures():
    text = '[a\nb](x.md#y) ![c](d.png) <img src="e.png"> `[f](g.md)` [h][i]\n```\n[j](k.md)\n```\n'
    assert links_of(text) == ["x.md#y", "d.png", "e.png"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_local_links_and_pictures_exist(page):
    for link in links_of(page.read_text()):
        if re.match(r"\w+:", link) or link.startswith("#"):
            continue
        target = page.parent / link.split("#")[0]
        assert target.exists(), f"{name_of(page)} names {link}"


def python_blocks(text):
    """Give the line and the source of every fenced block of Python."""
    for match in re.finditer(r"^( *)```python[^\n]*\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 2, textwrap.dedent(match[2])


def test_python_blocks_are_found():
    assert list(python_blocks("a\n```python\nx = 1\n```\n")) == [(3, "x = 1\n")]
    assert sum(len(list(python_blocks(page.read_text()))) for page in PAGES) >= 5


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_compile(page):
    for line, source in python_blocks(page.read_text()):
        try:
            compile(source, name_of(page), "exec")
        except SyntaxError as error:
            pytest.fail(f"{name_of(page)}:{line + (error.lineno or 1) - 1}: {error.msg}")


EDGES = "source,target\n" + "".join(
    f"{node},{(node + step) % 30}\n" for node in range(30) for step in (1, 3)
)


@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=name_of)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """One block after the other, as a reader would type them in a folder with a file edges.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    names = {"__name__": "page"}
    for line, source in python_blocks(page.read_text()):
        code = compile("\n" * (line - 1) + source, str(page), "exec")  # errors name the page's line
        exec(code, names)


# ---------------------------------------------------------------------- commands


def commands_of(text):
    """Find command lines of pgnn: in spans of code, and as lines of their own in blocks."""
    joined = re.sub(r" *\\\n\s*", " ", text)
    spans = re.findall(r"`(pgnn [^`]+)`", joined)
    fences = re.findall(r"^ *```(?!python)[^\n]*\n(.*?)^ *```", joined, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"^ {4,}\S.*$", joined, flags=re.MULTILINE)
    blocks = "\n".join(fences + indented)
    lines = re.findall(r"^\s*(?:\$ )?(pgnn [a-z-].*)$", blocks, flags=re.MULTILINE)
    # What follows two blanks or a # explains the line.
    return [re.split(r"\s{2,}|\s#", line)[0] for line in spans + lines]


def complaint(line):
    """Say what is wrong with a command line; None if its command and options exist."""
    command, words = typer.main.get_command(app), shlex.split(line)[1:]
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return f"no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    options = {
        name: option
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    }
    while words:
        name, _, value = words.pop(0).partition("=")
        if not name.startswith("-") or name == "--help":
            continue
        if name not in options:
            return f"no option {name!r}"
        if not value and words and not getattr(options[name], "is_flag", False):
            words.pop(0)
    return None


def test_commands_are_found_and_wrong_ones_named():
    text = (
        "Run `pgnn train grid --seed=1`:\n\n    pgnn bench layer --json  # slow\n\npgnn is nice\n"
        "```sh\n$ pgnn train grid \\\n  --model gcn\n```\n"
    )
    assert sorted(commands_of(text)) == [
        "pgnn bench layer --json",
        "pgnn train grid --model gcn",
        "pgnn train grid --seed=1",
    ]
    assert complaint("pgnn train grid --model gin --resume --seed=1") is None
    assert complaint("pgnn train grid --modle gin") == "no option '--modle'"
    assert complaint("pgnn bench speed") == "no command 'speed'"
    assert sum(len(commands_of(page.read_text())) for page in PAGES) >= 15


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_exist_with_their_options(page):
    wrong = {line: complaint(line) for line in commands_of(page.read_text()) if complaint(line)}
    assert wrong == {}, name_of(page)


# ---------------------------------------------------------------------- the reference


def exported(module):
    """Read the names that a package exports as `X as X`."""
    tree = ast.parse((ROOT / "src" / module.replace(".", "/") / "__init__.py").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {name.asname for node in imports for name in node.names if name.asname == name.name}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", ["pgnn", "pgnn.nn"])
def test_every_public_name_is_in_the_reference(module):
    text = "\n".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    documented = set(re.findall(rf"^::: {re.escape(module)}\.(\w+)$", text, flags=re.MULTILINE))
    names = exported(module)
    assert len(names) > 10
    assert names - documented == set(), f"add a line '::: {module}.NAME' to a page of docs/api"
