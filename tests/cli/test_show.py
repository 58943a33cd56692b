"""Tables and remarks."""

import re

from rich.console import Console

from cli_helpers import FEW, community_edges, run_command, write_table
from pgnn.cli.show import METRICS, link_table, metric_table, result_table, say_how_sure


def test_tables_fit_in_80_columns(trained, command, monkeypatch):
    from pgnn.evaluation.heuristics import HEURISTICS

    monkeypatch.setenv("COLUMNS", "80")
    trained_table = command("train", "edges.csv", "--out", "new", *FEW).stdout
    for name in ("pgnn-best", *HEURISTICS):
        row = re.compile(rf"│ {re.escape(name)} +│")
        (line,) = filter(row.search, trained_table.splitlines())
        assert line.count("│") == 5  # of a few negatives there are no hits@K
    for heading in ("AUC", "AP", "MRR"):
        assert f" {heading} " in trained_table
    judged = command("evaluate", "run", "edges.csv").stdout
    links = command("predict", "run", "edges.csv").stdout
    for text in (trained_table, judged, links):
        assert_fits(text)


def assert_fits(text):
    lines = [line for line in text.splitlines() if "│" in line or "┃" in line]
    assert lines
    assert max(map(len, lines)) <= 80
    assert "…" not in text


def printed(table):
    console = Console(width=80)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_table_of_all_metrics_fits_and_marks_those_a_row_does_not_have():
    from pgnn.evaluation.heuristics import HEURISTICS

    metrics = dict.fromkeys(METRICS, 0.5)
    few = {"roc_auc": 0.5, "mrr": 1.0, "brier": 0.1}
    text = printed(metric_table({"gcn": metrics, **dict.fromkeys(HEURISTICS, few)}, "on 9 pairs"))
    assert_fits(text)
    assert all(f" {heading} " in text for heading in METRICS.values())
    (line,) = (line for line in text.splitlines() if "│ katz " in line)
    assert [field.strip() for field in line.split("│")[2:-1]] == ["0.5000", "-", "-", "-", "1.0000"]


def test_lines_say_how_sure_the_numbers_are():
    metrics = {"roc_auc": 0.9, "auc_low": 0.85, "auc_high": 0.94}
    assert list(say_how_sure(metrics, 0.5, 0, None)) == [
        "AUC 0.9000, with 95% confidence between 0.8500 and 0.9400"
    ]
    metrics |= {"brier": 0.125, "calibration_error": 0.0312}
    _, chances, lone = say_how_sure(metrics, 0.25, 3, {"roc_auc": 0.8})
    assert chances == (
        "chances for a base rate of 0.25: Brier score 0.1250, calibration error 0.0312"
    )
    assert lone == "3 pairs have a node that no visible edge joins; without them AUC 0.8000"
    *_, lone = say_how_sure(metrics, 0.25, 1, None)
    assert lone == ("1 pair has a node that no visible edge joins; the others are all of one kind")
    assert list(say_how_sure({"roc_auc": 0.9}, None, 0, None)) == []  # of an older run


def test_result_table_marks_heuristics_that_were_judged_by_a_sample():
    metrics = dict.fromkeys(METRICS, 0.5)
    table = result_table("mlp", metrics, 100, {"degree": (metrics, 100), "walks": (metrics, 10)})
    text = printed(table)
    assert "│ walks * " in text
    assert "│ degree " in text
    assert "* on a sample of 10 of the pairs" in text


def test_link_table_shows_escapes_and_does_not_send_them():
    row = {"source": "a\x1b[2J", "target": "b\u202e", "score": 0.5, "spread": 0.1}
    console = Console(width=100, force_terminal=True, no_color=True, record=True)
    with console.capture() as shown:
        console.print(link_table([row], "links"))
    assert "\x1b[2J" not in shown.get()
    assert "a\\x1b[2J" in shown.get()
    assert "b\\u202e" in shown.get()


def test_no_command_prints_what_a_terminal_would_obey(tmp_path, monkeypatch):
    """Ids, names of columns and names of files are what their makers want them to be."""
    monkeypatch.chdir(tmp_path)
    orders = "\x1b]0;title\x07\x1b[2J\x9b31m"
    edges = [(f"{orders}{u}", f"{orders}{v}") for u, v in community_edges()]
    write_table(f"{orders}.csv", edges, (f"source{orders}", f"target{orders}"))
    ends = (f"{orders}0", f"{orders}3")
    for words in (
        ("train", f"{orders}.csv", *FEW, "--out", f"run{orders}"),
        ("predict", f"run{orders}", f"{orders}.csv", "--top", 3, "--why"),
        ("explain", f"run{orders}", f"{orders}.csv", *ends),
        ("evaluate", f"run{orders}", f"{orders}.csv"),
        ("embed", f"run{orders}", f"{orders}.csv", "-o", f"{orders}z.csv"),
        ("distances", f"{orders}.csv", "--sets", 4, "-o", f"{orders}d"),
        ("report", f"run{orders}", "-o", f"{orders}r.html"),
    ):
        done = run_command(*words)
        assert done.code == 0, done.stderr
        assert [c for c in done.stdout + done.stderr if c != "\n" and not c.isprintable()] == []
