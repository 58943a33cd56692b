"""Numbers in the README and in the pages are those of the committed results."""

import re

import claims
import pytest

# Settings, examples, limits and what the paper says, by page; everything else is a claim.
NOT_MEASURED = {
    "gallery.md": {"80%"},
    "links.md": {"80%"},
    "migration.md": {"0.01"},
    "models.md": {"256 times", "0.15"},
    "options.md": {"95%", "0.25", "80%", "0.15"},
    "own-data.md": {"80%", "3 MB"},
    "peers.md": {"1.23"},
    "performance.md": {"8 MB", "64 MB"},
    "reproduction.md": {"20%", "10%", "0.01", "66%", "0.620", "18%", "39%"},
    "scale.md": {"4GB", "500MB", "600MB"},
    "theory.md": {"1%", "0.01"},
}


def test_pages_say_what_the_files_hold():
    for page in claims.pages():
        text = page.read_text()
        assert claims.filled(text) == text, f"{page.name} is behind; run `python docs/claims.py`"
    assert claims.INDEX.read_text() == claims.index_page(), "run `python docs/claims.py`"


def test_every_claim_stands_somewhere_and_has_its_file():
    named = [name for page in claims.pages() for name in claims.names_in(page.read_text())]
    assert set(named) == set(claims.CLAIMS)
    for claim in claims.CLAIMS.values():
        assert (claims.RESULTS / claim.file).is_file()
        assert claim.file in (claims.RESULTS / "README.md").read_text()


def test_a_changed_number_is_noticed_and_mended():
    text = (claims.ROOT / "README.md").read_text()
    digit = re.search(r"<!-- claim:distances-memory -->(\d)", text)
    wrong = text[: digit.start(1)] + str(9 - int(digit[1])) + text[digit.end(1) :]
    assert wrong != text
    assert claims.filled(wrong) == text


def test_no_line_of_a_paragraph_begins_with_a_claim():
    # There a comment would be a block of HTML, which ends the paragraph.
    for page in claims.pages():
        first = re.findall(r"^<!-- claim:.*?-->.+$", page.read_text(), flags=re.MULTILINE)
        assert not first, page.name


def test_an_unknown_claim_is_an_error():
    with pytest.raises(KeyError, match="no claim is called 'nothing'"):
        claims.filled("<!-- claim:nothing -->1<!-- /claim -->")


def test_pages_have_no_measured_number_outside_of_claims():
    measured = r"\b\d[\d,.]*(?:x|\s?(?:ms|ns|s|seconds|minutes|kB|MB|GB|times)\b|%)"
    pattern = re.compile(rf"{measured}|(?<![\d.])[01]?\.\d{{2,}}\b(?!\.\d)")
    for page in claims.pages():
        text = claims._PLACE.sub("", page.read_text())
        text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"`[^`\n]*`|^ {4}.*$|\]\([^)]*\)", "", text, flags=re.MULTILINE)
        unbound = set(pattern.findall(text)) - NOT_MEASURED.get(page.name, set())
        assert not unbound, (
            f"{page.name}: write these as claims of docs/claims.py, or leave them out; those that "
            "were not measured belong into NOT_MEASURED"
        )
