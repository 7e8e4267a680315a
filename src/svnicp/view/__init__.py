# SPDX-License-Identifier: MIT
"""A run to look at while it goes: rerun's viewer in a window, in a browser, or from a file.

``RunViewer`` listens to a run; ``screens`` opens what it draws on. Nothing here can end a run: what
goes wrong with a viewer is said in one sentence, and the run goes on without it.
"""

from svnicp.view.run_viewer import RunViewer
from svnicp.view.screens import Screen, file_screen, web_screen, window_screen

__all__ = ["RunViewer", "Screen", "file_screen", "web_screen", "window_screen"]
