"""Numbers in the README and in the pages are those of the committed results."""

import re

import claims
import pytest


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


def test_an_unknown_claim_is_an_error():
    with pytest.raises(KeyError, match="no claim is called 'nothing'"):
        claims.filled("<!-- claim:nothing -->1<!-- /claim -->")


def test_readme_has_no_measured_number_outside_of_claims():
    text = claims._PLACE.sub("", (claims.ROOT / "README.md").read_text())
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`|^ {4}.*$|\]\([^)]*\)", "", text, flags=re.MULTILINE)
    measured = r"\b\d[\d,.]*\s?(?:x|ms|s|seconds|minutes|GB|MB|%|times)\b|(?<!\d)0?\.\d{2,}"
    assert re.findall(measured, text) == []
