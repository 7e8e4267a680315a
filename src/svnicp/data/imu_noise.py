# SPDX-License-Identifier: MIT
"""How noisy an IMU is: white noise of its readings and the random walk of its biases.

Filters weigh an IMU by it, the simulator draws from it. Named models carry the figures of data
sheets; what is known of a real unit (an Allan plot) can be given instead, or told from its readings
at rest.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from svnicp.data.imu_rest import checked_rest, white_density
from svnicp.errors import ConfigError, InputError

_NUMBERS = (float, int, np.floating, np.integer)


@dataclass(frozen=True)
class ImuNoise:
    """Noise of an IMU, the same on all axes.

    Parameters
    ----------
    gyroscope
        Density of the white noise of angular rates [rad/s/sqrt(Hz)].
    accelerometer
        Density of the white noise of specific forces [m/s^2/sqrt(Hz)].
    gyroscope_bias_walk
        How fast the gyroscope's bias walks [rad/s^2/sqrt(Hz)]; after t seconds its standard
        deviation has grown by this times sqrt(t).
    accelerometer_bias_walk
        The same for the accelerometer [m/s^3/sqrt(Hz)]. Both default to those of "generic".
    """

    gyroscope: float
    accelerometer: float
    gyroscope_bias_walk: float = 2e-5
    accelerometer_bias_walk: float = 1e-4

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            number = isinstance(value, _NUMBERS) and not isinstance(value, bool)
            if not number or not 0.0 <= value < math.inf:
                raise ConfigError(
                    f"{name} of an IMU's noise must be one finite number that is not negative, "
                    f"got {value!r}."
                )

    def scaled(self, factor: float) -> "ImuNoise":
        """Return the same IMU with all densities times a factor."""
        return ImuNoise(
            self.gyroscope * factor,
            self.accelerometer * factor,
            self.gyroscope_bias_walk * factor,
            self.accelerometer_bias_walk * factor,
        )

    @classmethod
    def model(cls, name: str) -> "ImuNoise":
        """Return the noise of a known IMU; ``IMU_NOISES`` has the names, in any spelling."""
        known = known_imu(name)
        if known is None:
            raise ConfigError(
                f"There is no IMU model {name!r}; choose one of {', '.join(IMU_NOISES)}, or give "
                "the densities."
            )
        return IMU_NOISES[known]

    @classmethod
    def from_rest(
        cls,
        stamps_ns: npt.ArrayLike,
        angular_velocity: npt.ArrayLike,
        linear_acceleration: npt.ArrayLike,
    ) -> "ImuNoise":
        """Return the noise that an IMU shows at rest.

        From 2 s of readings the densities are known to about 10 %, from 10 s to 5 %. What shakes
        the sensor counts as its noise; bias and slow sway do not. How biases walk takes hours to
        see: that stays as "generic" has it.

        Parameters
        ----------
        stamps_ns
            (n,) times of the readings [ns].
        angular_velocity, linear_acceleration
            (n, 3) readings [rad/s], [m/s^2].

        Raises
        ------
        InputError
            If the readings are too few, uneven, or of a body that moves.
        """
        try:
            stamps = np.asarray(stamps_ns)
            rates = np.asarray(angular_velocity, dtype=np.float64)
            forces = np.asarray(linear_acceleration, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "The noise of an IMU needs arrays of numbers: stamps (n,), rates (n, 3) and "
                "accelerations (n, 3)."
            ) from None
        period_s = checked_rest(stamps, rates, forces)
        return cls(white_density(rates, period_s), white_density(forces, period_s))


IMU_NOISES: dict[str, ImuNoise] = {
    "epson_m_g365": ImuNoise(2.4e-5, 5.5e-4, 6e-7, 1.6e-5),
    "xsens_mti30": ImuNoise(5.2e-4, 5.9e-4, 9e-6, 1.5e-5),
    "realsense": ImuNoise(2.4e-4, 1.5e-3, 2e-5, 2e-4),
    "generic": ImuNoise(3e-4, 2e-3, 2e-5, 1e-4),
}
"""Known IMUs by name.

White noise is what the data sheets say: Epson M-G365 (angle random walk 0.08 deg/sqrt(h), velocity
random walk 0.033 m/s/sqrt(h)), Xsens MTi-30 (0.03 deg/s/sqrt(Hz), 60 ug/sqrt(Hz)), and the Bosch
BMI055 in RealSense cameras (0.014 deg/s/sqrt(Hz), 150 ug/sqrt(Hz)). Data sheets give no bias walk:
for the first two it is the in-run bias stability (1.2 and 18 deg/h, 16 and 15 ug) reached after
100 s; for the third, a common choice in visual-inertial odometry.
``generic`` stands for a MEMS IMU of which nothing is known, a little worse than most.
"""


def known_imu(name: str) -> str | None:
    """Name in ``IMU_NOISES`` of an IMU that may be spelt as on its box; None if it is not there."""
    spelt = {_letters(known): known for known in IMU_NOISES}
    return spelt.get(_letters(str(name)))


def _letters(name: str) -> str:
    """Letters and digits of a name, in small letters."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
