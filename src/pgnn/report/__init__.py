"""Reports: one HTML file that opens offline, of a run or of the reproduced tables."""

from pgnn.report.collect import collect_run as collect_run
from pgnn.report.page import write_report as write_report
from pgnn.report.results import render_results as render_results
from pgnn.report.run import render_run as render_run
from pgnn.report.values import Row as Row
from pgnn.report.values import RunReport as RunReport
