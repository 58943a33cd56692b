"""A small share of the fuzzer, from the same seeds each time, and files like past findings."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import calls
import pytest

import fuzz

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus").iterdir())


@pytest.mark.parametrize(("kind", "count"), [("files", 150), ("arguments", 300), ("runs", 12)])
def test_no_mutated_input_crashes_hangs_or_gives_a_traceback(kind, count):
    tally, findings = fuzz.run(kind, count)
    assert findings == {}
    assert sum(tally.values()) == count
    assert tally["refused"] > 0


def test_every_public_name_is_fuzzed(tmp_path):
    """Of docs/api and of the rooms' faces; a new name needs good arguments in calls.py."""
    fuzzed = {name for name, _, _ in calls.public_calls(tmp_path)}
    documented = set(calls.documented_names())
    assert sorted(documented - fuzzed - calls.RESULTS) == []
    assert calls.RESULTS - documented == set()


def test_fuzz_goes_on_where_it_was_stopped(monkeypatch, tmp_path):
    ranges = []

    def run(kind, count, first, told):
        ranges.append((first, count))
        told(first + count // 2, Counter(ok=count // 2), {})
        if count == 150:  # stopped in the middle
            raise KeyboardInterrupt
        return Counter(ok=count - 1, traceback=1), {first: "KeyError: x"}

    monkeypatch.setattr(fuzz, "run", run)
    with pytest.raises(KeyboardInterrupt):
        fuzz.go_on("files", 150, tmp_path / "fuzz.json")
    about = fuzz.go_on("files", 260, tmp_path / "fuzz.json")
    assert ranges == [(0, 150), (75, 185)]
    assert (about["cases"], about["ended"]) == (260, {"ok": 75 + 184, "traceback": 1})
    assert json.loads((tmp_path / "fuzz.json").read_text()) == {"files": about}


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_past_finding_is_refused_with_one_line(path, tmp_path):
    """Files like each of these once ended the process, hung, or gave a traceback."""
    command = [sys.executable, "-m", "pgnn", "train", str(path), "--out", str(tmp_path / "run")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stderr.startswith("pgnn: ")


def test_a_case_that_ends_the_process_is_one_finding(monkeypatch, tmp_path):
    """The watcher itself: a worker that dies at its second case, and one that hangs."""
    (tmp_path / "fuzz.py").write_text(
        "import json, os, sys, time\n"
        "first = int(sys.argv[4])\n"
        "for number in range(first, first + int(sys.argv[2])):\n"
        "    print(json.dumps([number, None]), flush=True)\n"
        "    if number == 1: os.abort()\n"
        "    if number == 3: time.sleep(60)\n"
        "    print(json.dumps([number, 'KeyError: x' if number == 4 else 'ok']), flush=True)\n"
    )
    monkeypatch.setattr(fuzz, "HERE", tmp_path)
    monkeypatch.setattr(fuzz, "FIRST_SECONDS", 5.0)
    tally, findings = fuzz.run("files", 6, seconds=5.0)
    assert tally == {"ok": 3, "crash": 1, "hang": 1, "traceback": 1}
    assert [(number, text.split(":")[0]) for number, text in sorted(findings.items())] == [
        (1, "crash"),
        (3, "hang"),
        (4, "KeyError"),
    ]
