# SPDX-License-Identifier: MIT
"""Other odometry beside ours: on the same scans, each in its own process, judged by the same code.

``spool`` writes a dataset once to disk; ``process`` runs one peer over it with a time limit;
``row`` compares what it gave with the truth; ``tables`` and ``picture`` show the rows. A module per
peer (``kiss_icp``, ``small_gicp``, ...) says how it is called and what time its poses are for.
"""
