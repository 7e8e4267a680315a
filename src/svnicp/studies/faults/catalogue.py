# SPDX-License-Identifier: MIT
"""All faults of the sensors, by name, each with what happens then."""

import math

from svnicp.data.measurements import ImuSample, Scan
from svnicp.studies.faults import clock_faults, imu_faults, point_faults, stream_faults
from svnicp.studies.faults.arrivals import Fault

WHOLE_S = 1e6
"""As long as any recording [s]."""
DAY_S = 86_400.0
GRAVITY_M_S2 = 9.80665

_SCANS = (
    Fault(
        "5 % of the scans dropped", stream_faults.lost(Scan, 0.05),
        "The next scan is predicted over the longer step, and sigma grows with the time.",
        duration_s=8.0,
    ),
    Fault(
        "50 % of the scans dropped", stream_faults.lost(Scan, 0.5),
        "With the IMU the same: steps get longer. LiDAR alone may lose its way in them, and not "
        "notice.",
        duration_s=8.0,
    ),
    Fault(
        "no scans for 2 s", stream_faults.lost(Scan),
        "There are no estimates while there are no scans. The IMU carries the pose across; LiDAR "
        "alone goes on at its last velocity, and the first scan afterwards is tried at many places "
        "around.",
        duration_s=2.0,
    ),
    Fault(
        "scans 0.3 s late", stream_faults.late(0.3),
        "Nothing: stamps count, not arrival. Readings that are already there are used up to the "
        "time of the scan, and kept for the next.",
    ),
    Fault(
        "scans doubled", stream_faults.doubled(),
        "The second of two equal stamps is left out: it would count the same points twice.",
    ),
    Fault(
        "scans out of order", stream_faults.swapped(),
        "A scan that is older than the last one used is left out; time does not run backwards.",
    ),
    Fault(
        "scans stamped 30 ms late", clock_faults.stamped_late(0.03),
        "LiDAR alone cannot notice. With an IMU, scan and prediction disagree in every turn and "
        "acceleration: scans are refused, or stand against the IMU (`against_imu`), and steps are "
        "over-confident meanwhile. Synchronise the clocks, or use --no-imu.",
    ),
)  # fmt: skip

_IMU = (
    Fault(
        "no readings for 0.1 s", stream_faults.lost(ImuSample),
        "Beyond 50 ms without a reading the body is taken to go on as it went, and sigma grows.",
        duration_s=0.1, imu_only=True,
    ),
    Fault(
        "no readings for 1 s", stream_faults.lost(ImuSample),
        "The same, for ten scans.", duration_s=1.0, imu_only=True,
    ),
    Fault(
        "no readings for 5 s", stream_faults.lost(ImuSample),
        "The same, for fifty scans.", duration_s=5.0, imu_only=True,
    ),
    Fault(
        "spikes", imu_faults.changed(imu_faults.spiked(20.0, 200.0), 0.02),
        "Single readings are off by 20 rad/s and 200 m/s². A reading that is far from both "
        "neighbours is replaced by their mean.",
        imu_only=True,
    ),
    Fault(
        "saturated", imu_faults.changed(imu_faults.clipped(0.1, 9.7)),
        "Readings stop at 0.1 rad/s and 9.7 m/s². Scans contradict them: the first is refused, "
        "then scans stand against the IMU (`against_imu`) and biases are learnt anew. Steps until "
        "then are wrong by more than is stated.",
        imu_only=True,
    ),
    Fault(
        "frozen", imu_faults.frozen(),
        "The same reading is repeated, to the last bit, as no IMU does that had noise before. It "
        "is left out, a warning says so, and the gap is bridged as above.",
        duration_s=2.0, imu_only=True,
    ),
    Fault(
        "readings not finite", imu_faults.changed(imu_faults.not_finite(), 0.02),
        "Such a reading is refused with a sentence, and the gap that it leaves is bridged.",
        imu_only=True,
    ),
    Fault(
        "biases jump", imu_faults.changed(imu_faults.shifted(0.05, 0.5)),
        "Biases change by 0.05 rad/s and 0.5 m/s² at once, which is more than the filter takes to "
        "be possible: a scan or two stand against the IMU, and the biases are learnt anew.",
        duration_s=WHOLE_S, imu_only=True,
    ),
    Fault(
        "accelerometer's bias jumps", imu_faults.changed(imu_faults.shifted(0.0, 0.5)),
        "The same without a turn that would show it. Scans are then off the prediction the same "
        "way, again and again: after five, one stands against the IMU, and velocity and biases "
        "are learnt anew. Steps until then are wrong by more than is stated.",
        duration_s=WHOLE_S, imu_only=True,
    ),
    Fault(
        "a push of 1 g for 0.1 s", imu_faults.changed(imu_faults.shifted(0.0, GRAVITY_M_S2)),
        "Readings say that the body was pushed, but it was not. A scan that knows every direction "
        "contradicts them, by a place nearby or by losing sight of a direction that the scans "
        "before it all knew, and stands against the IMU.",
        duration_s=0.1, imu_only=True,
    ),
    Fault(
        "acceleration in g", imu_faults.changed(imu_faults.scaled(1.0, 1.0 / GRAVITY_M_S2)),
        "Bags and tables are read in the right unit, which is told from the length of gravity; "
        "here the readings are handed to odometry as they are, and it refuses to start, with a "
        "sentence that names the unit.",
        begin_s=0.0, duration_s=WHOLE_S, imu_only=True,
    ),
    Fault(
        "rates in degrees", imu_faults.changed(imu_faults.scaled(math.degrees(1.0), 1.0)),
        "Nothing in a recording tells this unit apart; where the mean rate is impossible at the "
        "start, odometry refuses to start, and later a warning says so. Scans stand against the "
        "IMU (`against_imu`) where they can, and where they cannot the run is lost.",
        begin_s=0.0, duration_s=WHOLE_S, imu_only=True,
    ),
)  # fmt: skip

_POINTS = (
    Fault(
        "20 % of the points NaN", point_faults.changed(point_faults.not_finite(0.2, math.nan)),
        "They are left out, together with their times.",
    ),
    Fault(
        "20 % of the points infinite",
        point_faults.changed(point_faults.not_finite(0.2, math.inf)), "They are left out.",
    ),
    Fault(
        "all points NaN", point_faults.changed(point_faults.not_finite(2.0, math.nan)),
        "The status is `empty`: the pose is predicted, its sigma grows, the map stays as it is.",
        duration_s=1.0,
    ),
    Fault(
        "all points equal", point_faults.changed(point_faults.all_equal()),
        "One place tells nothing: the status is `empty`, and the pose is predicted.",
        duration_s=1.0,
    ),
    Fault(
        "10 points", point_faults.changed(point_faults.few(10)),
        "Too few for a pose: the status is `empty`, and the pose is predicted; afterwards as "
        "without scans.",
        duration_s=2.0,
    ),
    Fault(
        "2 million points", point_faults.changed(point_faults.many(2_000_000), 3),
        "The scan is thinned before it is matched and mapped, and takes longer.",
    ),
    Fault(
        "half the view blocked", point_faults.changed(point_faults.half_blocked()),
        "The other half is matched; directions that only the blocked half showed get weaker.",
        begin_s=6.0, duration_s=10.0,
    ),
)  # fmt: skip

_CLOCKS = (
    Fault(
        "carried off", clock_faults.carried_off(),
        "The body is somewhere else from one scan to the next. Scans that do not fit are refused "
        "until a new map begins, but they may also match a wrong place nearby. How far it was "
        "carried is in no sigma.",
        duration_s=4.0,
    ),
    Fault(
        "clock set back 5 s", clock_faults.set_clock(-5.0),
        "Two scans are left out. With the third in a row that is more than a second too early a "
        "warning says that the clock was set, and time goes on from there.",
        duration_s=0.0,
    ),
    Fault(
        "clock set back 0.9 s", clock_faults.set_clock(-0.9),
        "Four scans are left out. With the fifth in a row that is too early, each later than the "
        "one before, a warning says that the clock was set, and time goes on from there.",
        duration_s=0.0,
    ),
    Fault(
        "clock set forward 1 h", clock_faults.set_clock(3600.0),
        "More than 30 s without scans are a pause, or a clock that was set: a warning says so, and "
        "the body is looked for where it was. If it was moved meanwhile, scans do not fit, and a "
        "new map begins.",
        duration_s=0.0,
    ),
    Fault(
        "stamps of the next day", clock_faults.set_clock(DAY_S),
        "Nothing: stamps are whole nanoseconds, 64 bits wide, up to the year 2262.",
        begin_s=0.0, duration_s=WHOLE_S,
    ),
)  # fmt: skip

NONE = Fault("none", stream_faults.nothing(), "What the others are compared with.")

FAULTS: dict[str, Fault] = {
    fault.name: fault for fault in (NONE, *_SCANS, *_IMU, *_POINTS, *_CLOCKS)
}
"""Every fault by name."""
