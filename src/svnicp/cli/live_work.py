# SPDX-License-Identifier: MIT
"""The work of ``svnicp live``: connect, listen or replay, publish, and sum up at the end.

The exit code is 0 when it ends by itself, by Ctrl-C or by SIGTERM: that is how one ends it.
"""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import fields

from rich.console import Console

from svnicp.cli import show
from svnicp.cli.data_flags import DataFlags
from svnicp.cli.live import LiveCommand
from svnicp.cli.parameters import preset_or_file, with_changes
from svnicp.cli.progress import patience
from svnicp.cli.run_inputs import no_such_data
from svnicp.cli.run_loop import Stop, stop_on_interrupt
from svnicp.config import Config
from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.imu_noise_of_dataset import GENERIC
from svnicp.data.open_options import OpenOptions, changed
from svnicp.data.ros.topics import NO_TOPIC
from svnicp.live import InboxConfig, LiveOdometry
from svnicp.live.connection import Connection
from svnicp.live.decoder import LiveDecoder
from svnicp.live.live_odometry import LiveEstimate
from svnicp.live.outgoing import MessageMaker, OutputConfig
from svnicp.live.replay import Replay
from svnicp.live.warm_up import warm_up
from svnicp.odometry import Odometry
from svnicp.odometry.run import odometry_for
from svnicp.recording.odometry_messages import Frames
from svnicp.simulation.scenarios import SCENARIOS
from svnicp.simulation.simulate import simulate

LOOK_EVERY_S = 0.1
TELL_EVERY_S = 10.0
"""Time between two lines about how it is going [s]."""


def run(command: LiveCommand) -> int:
    """Run odometry live; returns the exit code."""
    told = show.console(sys.stderr, quiet=command.quiet)
    config = with_changes(preset_or_file(command.preset, command.config), command.set)
    dataset = _dataset(command)
    odometry, noise = _odometry(command, config, dataset)
    version = 1 if command.interface == "ros1" else 2
    maker = MessageMaker(version, _output(command), odometry.T_body_lidar)
    bounds = InboxConfig(max_scans=command.queue, imu_wait_s=command.imu_wait)
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(command, maker)))
        with patience(told, "getting ready"):
            warm_up(config, noise, maker.messages)
        stop = stack.enter_context(stop_on_interrupt())
        live = LiveOdometry(odometry, [_publisher(maker, connection)], bounds)
        with live:
            if dataset is None:
                _listen(command, connection, live, stop, told)
            else:
                _replay(command, dataset, connection, live, stop, told)
        show.console(sys.stdout, quiet=command.quiet).print(live.statistics().in_words())
    return 0


def _dataset(command: LiveCommand) -> Dataset | None:
    """What is played, if anything is."""
    if not command.data:
        return None
    path, *others = command.data
    if not others and not path.exists():
        if str(path) not in SCENARIOS:
            raise no_such_data(str(path))
        return simulate(str(path))
    return command.open()


def _odometry(
    command: LiveCommand, config: Config, dataset: Dataset | None
) -> tuple[Odometry, ImuNoise | None]:
    """Odometry of the options, and the noise of the IMU that it uses, None without one."""
    noise = ImuNoise.model(command.imu_model or GENERIC)
    without = command.no_imu or command.imu_topic == NO_TOPIC
    if dataset is None:
        if without:
            return Odometry(config), None
        return Odometry(config, noise, _reading_options(command).T_body_lidar), noise
    if without or dataset.info().imu_period_s is None:
        return odometry_for(dataset, config, imu=False), None
    told = noise if command.imu_model is not None else None
    return odometry_for(dataset, config, imu=told), noise


def _reading_options(command: LiveCommand) -> OpenOptions:
    """What is known about the messages that come in."""
    given = {field.name: getattr(command, field.name) for field in fields(DataFlags)}
    del given["data"]
    return changed(OpenOptions(), given)


def _output(command: LiveCommand) -> OutputConfig:
    """What is published."""
    frames = Frames(command.odom_frame, command.body_frame)
    return OutputConfig(frames=frames, prefix=command.prefix, tf=command.tf, cloud=command.cloud)


def _connect(command: LiveCommand, maker: MessageMaker) -> Connection:
    """Open the way to the outside."""
    if command.interface == "foxglove":
        from svnicp.live.foxglove_server import FoxgloveServer  # noqa: PLC0415

        return FoxgloveServer(maker, command.host or "127.0.0.1", command.port)
    options = _reading_options(command)
    if command.interface == "ros1":
        from svnicp.live.ros1_node import Ros1Node  # noqa: PLC0415

        return Ros1Node(maker, options, command.host)
    from svnicp.live.ros2_node import Ros2Node  # noqa: PLC0415

    return Ros2Node(maker, options, command.router, command.domain)


def _publisher(maker: MessageMaker, connection: Connection) -> Callable[[LiveEstimate], None]:
    """Listener that publishes every estimate."""

    def publish(live: LiveEstimate) -> None:
        for message in maker.messages(live):
            connection.publish(message)

    return publish


def _listen(
    command: LiveCommand, connection: Connection, live: LiveOdometry, stop: Stop, told: Console
) -> None:
    """Take measurements from the connection until told to stop."""
    options = _reading_options(command)
    encoding = "ros1" if command.interface == "ros1" else "cdr"
    connection.listen(LiveDecoder(live, options, encoding))
    told.print(f"listening at {connection.address}; Ctrl-C ends it")
    _wait(live, stop, told, lambda: _enough(command, live))


def _replay(
    command: LiveCommand, dataset: Dataset, connection: Connection, live: LiveOdometry,
    stop: Stop, told: Console,
) -> None:  # fmt: skip
    """Play a dataset until its end, or until told to stop."""
    told.print(f"playing {dataset.name}, publishing at {connection.address}; Ctrl-C ends it")
    replay = Replay(dataset, live, command.rate, command.max_scans)
    replay.start()
    _wait(live, stop, told, lambda: replay.ended)
    replay.stop()
    if replay.lag_s > LOOK_EVERY_S:
        told.print(
            f"measurements came up to {replay.lag_s:.1f} s late, as they could not be read faster; "
            "a slower --rate is smoother",
            style="yellow",
        )


def _enough(command: LiveCommand, live: LiveOdometry) -> bool:
    """Whether as many scans came as were asked for."""
    return command.max_scans is not None and live.statistics().num_scans >= command.max_scans


def _wait(live: LiveOdometry, stop: Stop, told: Console, ended: Callable[[], bool]) -> None:
    """Wait for the end, and tell from time to time how it is going."""
    tell_s = time.monotonic() + TELL_EVERY_S
    while not (stop.asked or ended()):
        live.check()
        time.sleep(LOOK_EVERY_S)
        if time.monotonic() > tell_s:
            told.print(live.statistics().in_words())
            tell_s += TELL_EVERY_S
