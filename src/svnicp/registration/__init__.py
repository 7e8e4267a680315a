# SPDX-License-Identifier: MIT
"""Registration of a cloud in a map, with the posterior of its pose."""

from svnicp.registration.register import register as register
from svnicp.registration.register import register_in_map as register_in_map
from svnicp.registration.result import RegistrationResult as RegistrationResult
from svnicp.registration.status import Status as Status
