"""Reports: one HTML file that opens offline, of a run or of the reproduced tables."""

from pgnn.report._collect import collect_run as collect_run
from pgnn.report._page import write_report as write_report
from pgnn.report._results import render_results as render_results
from pgnn.report._run import render_run as render_run
from pgnn.report._values import Row as Row
from pgnn.report._values import RunReport as RunReport
