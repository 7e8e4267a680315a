# SPDX-License-Identifier: MIT
"""Faults on purpose: what odometry does when sensors, clocks, disks and the power fail.

``arrivals`` says what reaches odometry and when; the modules beside it each spoil one thing about
it; ``catalogue`` lists all faults with what happens then; ``faulty_drive`` and ``program_faults``
are the jobs, ``study`` the tables, ``page`` the page about reliability.
"""
