# SPDX-License-Identifier: MIT
"""The experiments: many small jobs, kept one by one on disk, and the tables made of them.

A study says which jobs it needs; ``engine`` runs those that are not in the ``store`` yet, on this
machine or on a dask cluster; the study makes tables and figures of what they gave, and ``report`` a
page of all studies in a folder. ``svnicp study`` is the command.
"""
