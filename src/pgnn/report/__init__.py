"""Reports: one HTML file that opens offline, about a run or about the reproduced tables."""

from pgnn.report.collect import collect_run as collect_run
from pgnn.report.page import write_report as write_report
from pgnn.report.results import render_results as render_results
from pgnn.report.run import Link as Link
from pgnn.report.run import Positions as Positions
from pgnn.report.run import Row as Row
from pgnn.report.run import RunReport as RunReport
from pgnn.report.run import render_run as render_run
