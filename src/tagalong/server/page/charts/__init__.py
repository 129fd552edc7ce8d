"""Charts of the page: from numbers to the positions that a template draws as SVG."""

from tagalong.server.page.charts.calibration_chart import CalibrationChart, calibration_chart
from tagalong.server.page.charts.layout import NARROW, WIDE, Size
from tagalong.server.page.charts.line_chart import LineChart, Mark, Series, line_chart

__all__ = [
    "NARROW",
    "WIDE",
    "CalibrationChart",
    "LineChart",
    "Mark",
    "Series",
    "Size",
    "calibration_chart",
    "line_chart",
]
