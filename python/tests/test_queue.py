"""The command queue from Python."""

import numpy as np
import pytest

import slipring
from slipring.queue import Machine, QueueError


def test_windows():
    machine = Machine("p150")
    with machine.open(1, 2) as window:
        window.write32(0x1000, 0x01020304)
        assert window.read32(0x1000) == 0x01020304 and window.read16(0x1000) == 0x0304
        window[0x2000:0x2004] = b"abcd"
        assert window[0x2000:0x2004] == b"abcd" and window[0x2001] == ord("b")
        assert machine.peek(1, 2, 0x2000, 4) == b"abcd"
        assert len(window) == 2 << 20
    with pytest.raises(QueueError, match="not open"):
        window.read32(0)


def test_a_rectangle():
    machine = Machine()
    with machine.open(1, 2, 2, 3) as window:
        window.write32(0x3000, 5)
    assert [machine.peek(x, y, 0x3000, 4)[0] for x in (1, 2) for y in (2, 3)] == [5, 5, 5, 5]


def test_places_that_no_chip_has():
    machine = Machine()
    for x, y in [(99, 99), (64, 0), (0, 255)]:
        with pytest.raises(QueueError, match="cannot look at"):
            machine.open(x, y)
        with pytest.raises(QueueError, match="has no 4 bytes"):
            machine.peek(x, y, 0, 4)
    with pytest.raises(ValueError, match="no coordinate"):
        machine.open(256, 0)


def test_pinned_memory():
    machine = Machine()
    memory = machine.pin(4096)
    assert memory.address >> 60 & 1
    memory.write(16, b"host")
    assert memory.read(16, 4) == b"host" and memory[:4] == bytes(4)
    memory.unpin()
    with pytest.raises(QueueError):
        memory.read(0, 1)


def test_memory_of_the_host():
    machine = Machine()
    own = np.zeros(4096, np.uint8)
    memory = machine.pin(own)
    own[8] = 42
    assert memory.read(8, 1) == b"\x2a"
    memory.write(9, b"\x07")
    assert own[9] == 7
    with pytest.raises(TypeError, match="read-only"):
        machine.pin(bytes(16))


def test_time_is_the_boards():
    machine = Machine(seed=3)
    before = machine.time.monotonic_ns()
    machine.time.sleep(0.001)
    assert machine.time.monotonic_ns() - before >= 1_000_000
    assert machine.register(0x30430) != 0


def test_errors_say_what_is_wrong():
    machine = Machine()
    with pytest.raises(ValueError, match="no board `p99`"):
        Machine("p99")
    with pytest.raises(QueueError):
        machine.open(1, 2, size=4096)
    assert machine.last_error and not machine.findings
    assert slipring.queue.SMALL == 2 << 20
