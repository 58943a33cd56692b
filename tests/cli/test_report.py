"""`pgnn report`."""

import json

from cli_helpers import document


def test_report_of_results_has_their_tables(command, tmp_path):
    record = {"column": "grid", "model": "gcn", "protocol": "paper", "seed": 0, "test_auc": 0.5}
    results = tmp_path / "results"
    results.mkdir()
    (results / "reproduction.jsonl").write_text(json.dumps({**record, "seconds": 1.0}) + "\n")
    written = document(command("report", "results", "-o", "tables.html", "--json"))
    page = (tmp_path / "tables.html").read_bytes()
    assert written == {"file": "tables.html", "bytes": len(page)}
    assert b"GCN" in page


def test_report_says_where_it_is(trained, command):
    assert command("report", "run").stdout == "the report is in report.html\n"


def test_report_of_links_alone_has_their_tables(command, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    (results / "links.jsonl").write_text("")
    refused = command("report", "results")
    assert refused.code == 2
    assert "there are no records to report" in refused.stderr
