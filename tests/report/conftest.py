"""A small report and its page, made once."""

import pytest

from pgnn.report import render_run
from report.samples import caveman, report_of


@pytest.fixture(scope="session")
def small_report():
    return report_of(caveman())


@pytest.fixture(scope="session")
def small_page(small_report):
    return render_run(small_report)
