# SPDX-License-Identifier: MIT
"""What the paper reports, for standing beside ours: real recordings there, simulated ones here.

Names of sequences are those of the scenarios that stand for them. None is where the paper has a
dash: failed, or an APE above 100 m. Runtimes are on a GTX 1080 Ti.
"""

APE_M: dict[str, dict[str, float | None]] = {
    "SVGD-ICP": {
        "urban": 0.562, "tunnel": 0.077, "cave": 0.764, "nuclear1": 0.141, "nuclear2": None,
        "factory": None, "ocean": 22.57, "sewerage": 20.88, "laurel_caverns": 16.79,
        "long_corridor": 1.334, "multi_floor": 14.89, "offroad": 7.06, "uneven_tunnel": 0.14,
        "waterway_short": 1.80, "waterway_long": 39.28, "stair": 10.1, "bridge": None,
    },
    "SVN-ICP": {
        "urban": 0.551, "tunnel": 0.110, "cave": 0.562, "nuclear1": 0.131, "nuclear2": None,
        "factory": None, "ocean": 21.97, "sewerage": 20.42, "laurel_caverns": 8.911,
        "long_corridor": 1.321, "multi_floor": 11.15, "offroad": 0.25, "uneven_tunnel": 0.15,
        "waterway_short": 2.97, "waterway_long": 29.86, "stair": 7.90, "bridge": 92.23,
    },
    "SVN-ICP + KF-fix": {
        "urban": 2.365, "tunnel": 0.081, "cave": 5.260, "nuclear1": 0.058, "nuclear2": 0.464,
        "factory": 4.570, "ocean": 1.173, "sewerage": 11.51, "laurel_caverns": 5.197,
        "long_corridor": 1.567, "multi_floor": 0.692, "offroad": 0.13, "uneven_tunnel": 0.22,
        "waterway_short": 1.82, "waterway_long": 36.80, "stair": 2.89, "bridge": 45.08,
    },
    "SVN-ICP + KF": {
        "urban": 0.478, "tunnel": 0.085, "cave": 0.532, "nuclear1": 0.059, "nuclear2": 0.441,
        "factory": 4.836, "ocean": 0.047, "sewerage": 2.933, "laurel_caverns": 4.089,
        "long_corridor": 0.650, "multi_floor": 0.911, "offroad": 0.12, "uneven_tunnel": 0.21,
        "waterway_short": 1.28, "waterway_long": 15.58, "stair": 2.80, "bridge": 44.27,
    },
    "Stein ICP": {"urban": 23.26},
    "kiss-icp": {
        "urban": 13.16, "tunnel": 7.739, "cave": 26.90, "nuclear1": 0.143, "nuclear2": 31.13,
        "laurel_caverns": 31.57, "long_corridor": 6.204, "multi_floor": 15.41,
    },
    "genz-icp": {
        "urban": 0.600, "tunnel": 0.101, "cave": 0.564, "nuclear1": 0.555,
        "laurel_caverns": 0.399, "long_corridor": 1.746, "multi_floor": 20.49,
        "uneven_tunnel": 0.11,
    },
}  # fmt: skip
"""APE by method and sequence [m], tables I and II; Stein ICP failed wherever it has no number."""

RUNTIME_S = {
    "Stein ICP": 0.935, "SVGD-ICP": 0.669, "SVN-ICP": 0.483, "SVN-ICP + KF-fix": 0.568,
    "SVN-ICP + KF": 0.515, "kiss-icp": 0.005, "genz-icp": 0.042,
}  # fmt: skip
"""Mean time of a scan [s], table I."""

KL_NNE: dict[tuple[str, str], tuple[float, float, float, float]] = {
    ("Censi", "none"): (126.5, 565.4, 1.2e5, 5.8e5),
    ("Censi", "upper"): (101.2, 336.6, 1.0e5, 2.8e5),
    ("COV-3D", "none"): (1.486, 2.292, 62.21, 6.3e3),
    ("COV-3D", "upper"): (1.088, 1.644, 12.68, 385.8),
    ("SVGD-ICP", "none"): (1.288, 1.284, 2.067, 272.9),
    ("SVGD-ICP", "upper"): (0.997, 0.637, 1.580, 79.10),
    ("SVN-ICP", "none"): (1.281, 1.855, 1.996, 93.36),
    ("SVN-ICP", "upper"): (0.995, 0.852, 1.532, 41.72),
    ("SVN-ICP + KF-fix", "none"): (27.56, 19.02, 1.2e3, 1.1e3),
    ("SVN-ICP + KF-fix", "upper"): (15.90, 9.004, 590.7, 465.0),
    ("SVN-ICP + KF", "none"): (1.196, 1.559, 2.181, 25.37),
    ("SVN-ICP + KF", "upper"): (0.939, 0.675, 1.713, 10.06),
}
"""NNE of translation and rotation, KL of translation and rotation, table IV; its cut is not
described, and is taken to be the upper one."""

ABLATION: dict[tuple[str, int], tuple[float, float, int]] = {
    ("SVGD-ICP", 1): (1.165, 0.486, 96), ("SVGD-ICP", 5): (1.267, 0.500, 98),
    ("SVGD-ICP", 10): (1.484, 0.667, 99), ("SVGD-ICP", 30): (1.324, 0.611, 99),
    ("SVGD-ICP", 50): (1.378, 0.771, 99), ("SVGD-ICP", 100): (1.349, 1.209, 96),
    ("SVN-ICP", 1): (1.205, 0.251, 33), ("SVN-ICP", 5): (1.256, 0.337, 56),
    ("SVN-ICP", 10): (1.270, 0.369, 65), ("SVN-ICP", 30): (1.321, 0.469, 65),
    ("SVN-ICP", 50): (1.268, 0.519, 64), ("SVN-ICP", 100): (1.383, 0.691, 62),
}  # fmt: skip
"""APE [m], runtime [s] and iterations by method and number of particles, table III."""
