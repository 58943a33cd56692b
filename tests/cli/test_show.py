"""Tables and remarks."""

from cli_helpers import FEW


def test_tables_fit_in_80_columns(trained, command, monkeypatch):
    from pgnn.evaluation.heuristics import HEURISTICS

    monkeypatch.setenv("COLUMNS", "80")
    trained_table = command("train", "edges.csv", "--out", "new", *FEW).stdout
    for name in ("pgnn-best", *HEURISTICS):
        (line,) = (line for line in trained_table.splitlines() if f"│ {name} " in line)
        assert line.count("│") == 7
    for heading in ("AUC", "AP", "hits@10", "hits@100", "MRR"):
        assert f" {heading} " in trained_table
    judged = command("evaluate", "run", "edges.csv").stdout
    links = command("predict", "run", "edges.csv").stdout
    for text in (trained_table, judged, links):
        lines = [line for line in text.splitlines() if "│" in line or "┃" in line]
        assert lines
        assert max(map(len, lines)) <= 80
        assert "…" not in text


def test_result_table_marks_heuristics_that_were_judged_by_a_sample():
    from rich.console import Console

    from pgnn.cli.show import METRICS, result_table

    metrics = dict.fromkeys(METRICS, 0.5)
    table = result_table("mlp", metrics, 100, {"degree": (metrics, 100), "walks": (metrics, 10)})
    console = Console(width=80)
    with console.capture() as capture:
        console.print(table)
    assert "│ walks * " in capture.get()
    assert "│ degree " in capture.get()
    assert "* on a sample of 10 of the pairs" in capture.get()
