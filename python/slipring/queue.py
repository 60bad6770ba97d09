"""The host-to-device command queue: a simulated board as a host program meets it.

    machine = Machine("p150")
    memory = machine.pin(4096)                  # or machine.pin(array): memory that the host already has
    with machine.open(1, 2, addr=0) as window:  # 2 MiB of the tile's addresses
        window.write32(0x100, 7)
        assert window.read32(0x100) == 7
    machine.wait(1000)                          # nanoseconds of the board

The device works inside of these calls only, and `machine.time` is its clock: a host that uses it in place of its own `time`, and windows
in place of its own `mmap`, runs as on a board.
"""

import struct

from ._slipring import Board, QueueError

SMALL = 2 << 20
LARGE = 4 << 30


class Memory:
    """Bytes that are read and written by calls, also in brackets: `memory[4:8]`."""

    def __len__(self):
        return self.size

    def _range(self, at):
        if isinstance(at, slice):
            first, last, step = at.indices(self.size)
            if step != 1:
                raise ValueError("memory is read and written without a step")
            return first, max(last - first, 0)
        at = at + self.size if at < 0 else at
        if not 0 <= at < self.size:
            raise IndexError(f"byte {at} of {self.size}")
        return at, 1

    def __getitem__(self, at):
        first, size = self._range(at)
        data = self.read(first, size)
        return data if isinstance(at, slice) else data[0]

    def __setitem__(self, at, value):
        first, size = self._range(at)
        data = bytes(value) if isinstance(at, slice) else bytes([value])
        if len(data) != size:
            raise ValueError(f"{len(data)} bytes do not fit {size}")
        self.write(first, data)


class Pinned(Memory):
    """Host memory that the device sees at `address`."""

    def __init__(self, machine, number, address, size, array=None):
        self.machine, self.number, self.address, self.size, self.array = machine, number, address, size, array

    def read(self, offset, size):
        return self.machine._board.host_read(self.number, offset, size)

    def write(self, offset, data):
        self.machine._board.host_write(self.number, offset, bytes(data))

    def unpin(self):
        self.machine._board.unpin(self.number)


class Window(Memory):
    """Addresses of a tile, or of a rectangle of tiles, as memory. It can be used like an `mmap`."""

    def __init__(self, machine, number, size):
        self.machine, self.number, self.size = machine, number, size
        self.closed = False

    def read(self, offset, size):
        return self.machine._board.read(self.number, offset, size)

    def write(self, offset, data):
        self.machine._board.write(self.number, offset, bytes(data))

    def read32(self, offset):
        return int.from_bytes(self.read(offset, 4), "little")

    def write32(self, offset, value):
        self.write(offset, struct.pack("<I", value))

    def read16(self, offset):
        return int.from_bytes(self.read(offset, 2), "little")

    def write16(self, offset, value):
        """Stores two bytes at once: a slot."""
        self.write(offset, struct.pack("<H", value))

    def retarget(self, x0, y0, x1=None, y1=None, *, addr=0, multicast=None, noc=0, ordering="strict"):
        """Points the window elsewhere."""
        self.machine._board.retarget(self.number, _target(x0, y0, x1, y1, addr, multicast, noc, ordering))

    def close(self):
        if not self.closed:
            self.closed = True
            self.machine._board.close(self.number)

    def flush(self, *_):
        """Nothing: stores are strictly ordered unless the window says otherwise."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _target(x0, y0, x1, y1, addr, multicast, noc, ordering):
    far = (x0 if x1 is None else x1, y0 if y1 is None else y1)
    return (x0, y0, *far, addr, (far != (x0, y0)) if multicast is None else multicast, noc, ordering)


class Time:
    """The clock of a machine with the names of the module `time`: sleeping lets the device work."""

    def __init__(self, machine):
        self._machine = machine

    def sleep(self, seconds):
        self._machine.wait(int(seconds * 1e9))

    def time_ns(self):
        return self._machine.now()

    def time(self):
        return self._machine.now() / 1e9

    monotonic = perf_counter = time
    monotonic_ns = perf_counter_ns = time_ns


class Machine:
    """A board, p100 or p150, with its queue. `mode` is strict (it stops at the first error) or silicon; `seed` chooses delays."""

    def __init__(self, board="p150", mode="strict", seed=None):
        self._board = Board(board, mode, seed)
        self.time = Time(self)

    def pin(self, memory):
        """Pins so many bytes, zeroed, or memory that the host has: anything with a writable buffer, which the device then reads and
        writes where it is, during calls of the machine. What the host stores there by itself takes no time and is not checked."""
        if isinstance(memory, int):
            number, address = self._board.pin(memory)
            return Pinned(self, number, address, memory)
        import numpy as np

        array = np.frombuffer(memory, dtype=np.uint8)
        if not array.flags.writeable:
            raise TypeError("the device writes pinned memory, and this is read-only")
        number, address = self._board.pin_array(array)
        return Pinned(self, number, address, array.size, array)

    def open(self, x0, y0, x1=None, y1=None, *, addr=0, size=SMALL, multicast=None, noc=0, ordering="strict"):
        """A window of 2 MiB or 4 GiB onto a tile, or onto a rectangle of tiles that writes reach all of."""
        number = self._board.open(size, _target(x0, y0, x1, y1, addr, multicast, noc, ordering))
        return Window(self, number, size)

    def register(self, offset):
        """A register of the management core."""
        return self._board.arc_read(offset)

    def wait(self, ns):
        """Lets time pass, in nanoseconds."""
        self._board.wait(ns)

    def now(self):
        """Nanoseconds since the machine was made."""
        return self._board.now()

    def peek(self, x, y, addr, size):
        """Memory of a tile as it is, without taking time."""
        return self._board.peek(x, y, addr, size)

    @property
    def findings(self):
        """What was found: (code, text) each."""
        return self._board.findings()

    @property
    def last_error(self):
        """The last error, or `None`."""
        return self._board.last_error()


__all__ = ["LARGE", "SMALL", "Machine", "Pinned", "QueueError", "Time", "Window"]
