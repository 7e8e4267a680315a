# SPDX-License-Identifier: MIT
"""A run as one HTML page that needs nothing else: what it did, how sure it was, whether rightly.

``run_page`` takes the folder of a run and returns the page; plots are drawn by plotly in the
reader's browser, from data and a script that are part of the page.
"""

from svnicp.report.page import run_page

__all__ = ["run_page"]
